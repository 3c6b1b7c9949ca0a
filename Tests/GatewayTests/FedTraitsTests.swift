import Foundation
import HomeFakes
import HomeTypes
import PushAvStreamTransport
import Testing
import Transport

@testable import Gateway
@testable import HomeHub
@testable import MQTTDevices

/// The vocabulary marks traits that nothing in the gateway feeds. The marks say what the backends really have.
@Suite struct FedTraitsTests {
    /// What the files of the vocabulary say.
    private static func marks() throws -> (fed: Set<String>, declared: Set<String>) {
        struct File: Decodable {
            var name: String
            var namespace: String
            var isFed: Bool?
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Wire/HomeTypes/Traits")
        var (fed, declared): (Set<String>, Set<String>) = ([], [])
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "json" {
            let trait = try JSONDecoder().decode(File.self, from: try Data(contentsOf: file))
            // Two namespaces have a trait of this name, and the file's name says which is the one with the prefix.
            let name = file.deletingPathExtension().lastPathComponent
            if trait.isFed == false { declared.insert(name) } else { fed.insert(name) }
        }
        return (fed, declared)
    }

    /// The traits of virtual devices of every type that the config can name.
    private static func ofVirtualDevices() throws -> Set<String> {
        var traits: Set<String> = []
        for type in Vocabulary.deviceTypes where DeviceKind(rawValue: type.name) == nil && !type.isUtilityType {
            let device = try VirtualDevice(id: "d", name: "d", types: [type], store: MemorySharedStore())
            traits.formUnion(device.description().endpoints.flatMap { $0.traits.names })
        }
        return traits
    }

    /// The traits that devices of a broker get, by every kind of entity and every class that they may have.
    private static func ofMQTTDevices() -> Set<String> {
        let classes = [
            "sensor": [
                "temperature", "humidity", "battery", "aqi", "carbon_dioxide", "carbon_monoxide", "nitrogen_dioxide",
                "ozone",
                "pm1", "pm25", "pm10", "volatile_organic_compounds", "volatile_organic_compounds_parts", "radon",
                "formaldehyde", "illuminance",
            ],
            "binary_sensor": ["door", "motion", "occupancy", "smoke", "carbon_monoxide", "battery"],
            "event": ["doorbell", "button"],
        ]
        var traits: Set<String> = []
        for component in ["light", "switch", "cover", "lock", "fan", "climate", "sensor", "binary_sensor", "event"] {
            for name in classes[component] ?? [""] {
                var home = MQTTHome()
                _ = home.connectionChanged(isConnected: true)
                let config = """
                    {"dev":{"ids":["x"]},"dev_cla":"\(name)","stat_t":"s","cmd_t":"c","uniq_id":"u","evt_typ":["press"],"bri_cmd_t":"b",
                     "bri_stat_t":"bs","clr_temp_cmd_t":"t","temp_cmd_t":"tc","mode_cmd_t":"m","pct_cmd_t":"p"}
                    """
                _ = home.handle(
                    MQTTMessage(topic: "homeassistant/\(component)/x/config", payload: Data(config.utf8)), at: .zero)
                // What only adds to another part needs one.
                let other = #"{"dev":{"ids":["x"]},"dev_cla":"door","stat_t":"o","uniq_id":"o"}"#
                _ = home.handle(
                    MQTTMessage(topic: "homeassistant/binary_sensor/o/config", payload: Data(other.utf8)), at: .zero)
                for report in home.handleDeadline(at: .zero + .seconds(60)).reports {
                    guard case .described(let device) = report else { continue }
                    traits.formUnion(device.endpoints.flatMap { $0.values.traits.keys })
                }
            }
        }
        return traits
    }

    /// The traits of a camera, and those whose events it sends.
    private static func ofCameras() async throws -> Set<String> {
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services,
            transports: HomeTransports(service: try TransportService()))
        await hub.setDevices(
            [.init(id: "door", name: "Door", kind: .doorbell)], drivers: [FakeCamera("door", hasSpeaker: true)])
        let camera = try await hub.device("door")
        return Set(camera.endpoints.flatMap(\.traits.names)).union(DetectionKind.allCases.map(\.traitName))
    }

    @Test func `the marks of the vocabulary are what the backends feed`() async throws {
        let (fed, declared) = try Self.marks()
        #expect(fed.count > 40 && declared.count > 20)
        let structure = Set(PresenceRecord().traits.names).union([Google.TimeTrait.name])
        // Automations send its command; no device has it.
        let ofAutomations: Set<String> = [Google.NotificationTrait.name]
        let produced = try Self.ofVirtualDevices().union(Self.ofMQTTDevices())
            .union(try await Self.ofCameras()).union(structure).union(ofAutomations)
        #expect(fed.subtracting(produced).isEmpty, "nothing feeds \(fed.subtracting(produced).sorted())")
        #expect(
            declared.intersection(produced).isEmpty,
            "these are fed and marked otherwise: \(declared.intersection(produced).sorted())")
    }
}
