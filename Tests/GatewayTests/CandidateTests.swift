import Automation
import AutomationGraph
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

@Suite struct CandidateTests {
    /// What the tests read of a candidate.
    struct Shown: Decodable {
        struct Reason: Decodable { var type: String }
        var kind: String
        var entity: [String: String]
        var roles: [String]
        var deviceTypes: [String]
        var trait: String
        var command: String?
        var event: String?
        var fields: [JSONObject]
        var unsupportedReasons: [Reason]

        func field(_ name: String) -> [String: JSONObject.Value]? {
            fields.first { $0.members["name"] == .text(name) }?.members
        }
    }

    private static let part = SourceConnectivity(connectivityState: .online, dataSourceLocality: .unspecified)

    static func light(_ id: String) -> DeviceSnapshot {
        DeviceSnapshot(
            id: id, name: "Lamp", structureID: "s1",
            endpoints: [
                EndpointSnapshot(
                    id: 1, types: [DimmableLightDeviceType.name],
                    traits: TraitCollection([
                        Matter.OnOffTrait(attributes: .init(onOff: true)),
                        Matter.LevelControlTrait(attributes: .init(currentLevel: 3)),
                    ]), connectivity: part)
            ])
    }

    static func lock(_ id: String) -> DeviceSnapshot {
        DeviceSnapshot(
            id: id, name: "Lock", structureID: "s1",
            endpoints: [
                EndpointSnapshot(
                    id: 1, types: [DoorLockDeviceType.name],
                    traits: TraitCollection([Matter.DoorLockTrait(attributes: .init(lockState: .locked))]),
                    connectivity: part)
            ])
    }

    static func read(_ texts: [String]) throws -> [Shown] {
        try JSONDecoder().decode([Shown].self, from: Data("[\(texts.joined(separator: ","))]".utf8))
    }

    private func candidates(_ access: Access = .everything, latitude: Double? = nil) -> Candidates {
        let structure = StructureSnapshot(
            id: "s1", name: "Home", latitude: latitude, longitude: latitude, timeZone: "UTC")
        return Candidates(
            home: AutomationHomes(structures: [structure], devices: []), structure: "s1", access: access)
    }

    @Test func `a lamp offers its commands and attributes with their constraints`() throws {
        let found = try Self.read(candidates().of(Self.light("d1")))
        let move = try #require(found.first { $0.command == "moveToLevel" })
        #expect(move.kind == "command" && move.roles == ["action"] && move.entity == ["device": "d1"])
        #expect(move.deviceTypes == [DimmableLightDeviceType.name])
        let level = try #require(move.field("level"))
        #expect(level["type"] == .text("unsigned"))
        #expect(
            level["constraint"]
                == .object(["type": .text("unsignedRange"), "minimum": .integer(0), "maximum": .integer(254)]))
        let state = try #require(found.first { $0.kind == "attributes" && $0.trait == "OnOff" })
        // It has reported one attribute, and that one cannot be written.
        #expect(state.fields.count == 1 && state.field("onOff")?["type"] == .text("boolean"))
        #expect(state.roles.contains("starter") && state.roles.contains("stateReader"))
        #expect(found.allSatisfy { $0.unsupportedReasons.isEmpty })
    }

    @Test func `a sensor offers the range that it measures, and any number where it says none`() throws {
        func range(_ trait: any HomeTypes.Trait) throws -> JSONObject.Value? {
            let sensor = DeviceSnapshot(
                id: "d4", name: "Sensor", structureID: "s1",
                endpoints: [
                    EndpointSnapshot(
                        id: 1, types: [TemperatureSensorDeviceType.name], traits: TraitCollection([trait]),
                        connectivity: Self.part)
                ])
            return try Self.read(candidates().of(sensor)).first?.field("measuredValue")?["constraint"]
        }
        func constraint(_ type: String, _ lower: JSONObject.Value, _ upper: JSONObject.Value) -> JSONObject.Value {
            .object(["type": .text(type), "minimum": lower, "maximum": upper])
        }
        let limit = Double.greatestFiniteMagnitude
        #expect(
            try range(Matter.TemperatureMeasurementTrait(attributes: .init(measuredValue: 2_150)))
                == constraint("signedRange", .integer(-27_315), .integer(32_767)))
        #expect(
            try range(
                Matter.TemperatureMeasurementTrait(
                    attributes: .init(measuredValue: 2_150, minMeasuredValue: -4_000, maxMeasuredValue: 12_500)))
                == constraint("signedRange", .integer(-4_000), .integer(12_500)))
        #expect(
            try range(Matter.CarbonDioxideConcentrationMeasurementTrait(attributes: .init(measuredValue: 612.5)))
                == constraint("floatRange", .number(-limit), .number(limit)))
        #expect(
            try range(
                Matter.CarbonDioxideConcentrationMeasurementTrait(
                    attributes: .init(measuredValue: 612.5, minMeasuredValue: 0.5, maxMeasuredValue: 5_000.25)))
                == constraint("floatRange", .number(0.5), .number(5_000.25)))
    }

    @Test func `who opens a garage door needs the right to unlock`() throws {
        let gate = DeviceSnapshot(
            id: "d5", name: "Gate", structureID: "s1",
            endpoints: [
                EndpointSnapshot(
                    id: 1, types: [GarageDoorDeviceType.name],
                    traits: TraitCollection([
                        Matter.WindowCoveringTrait(attributes: .init(currentPositionLiftPercent100ths: 0, mode: []))
                    ]),
                    connectivity: Self.part)
            ])
        let household = try Self.read(candidates(Access([.init([.automate, .read, .control])])).of(gate))
        #expect(household.compactMap(\.command) == ["downOrClose"])
        #expect(household.allSatisfy { $0.kind != "attributes" || !$0.roles.contains("action") })
        let owner = try Self.read(candidates().of(gate))
        #expect(owner.compactMap(\.command).contains("upOrOpen"))
        #expect(owner.contains { $0.kind == "attributes" && $0.roles.contains("action") })
    }

    @Test func `what the caller may not do is not a candidate`() throws {
        let reader = candidates(Access([.init([.automate, .read])]))
        #expect(try Self.read(reader.of(Self.light("d1"))).allSatisfy { !$0.roles.contains("action") })
        #expect(candidates(Access([.init([.automate])])).of(Self.light("d1")).isEmpty)
        let household = candidates(Access([.init([.automate, .read, .control])]))
        let commands = try Self.read(household.of(Self.lock("d2"))).compactMap(\.command)
        #expect(commands == ["lockDoor"])
        #expect(try Self.read(candidates().of(Self.lock("d2"))).compactMap(\.command).contains("unlockDoor"))
    }

    @Test func `a button offers only the events that it sends`() throws {
        let button = DeviceSnapshot(
            id: "d3", name: "Button", structureID: "s1",
            endpoints: [
                EndpointSnapshot(
                    id: 1, types: [GenericSwitchDeviceType.name],
                    traits: TraitCollection([
                        Matter.SwitchTrait(
                            attributes: .init(currentPosition: 0, featureMap: [.momentarySwitch, .actionSwitch]))
                    ]), connectivity: Self.part)
            ])
        #expect(
            try Self.read(candidates().of(button)).compactMap(\.event) == ["InitialPress", "MultiPressComplete"])
    }

    @Test func `the structure says what is not set up`() throws {
        func reasons(_ candidates: Candidates) throws -> [String: [String]] {
            Dictionary(
                try Self.read(candidates.ofStructure()).map {
                    ("\($0.trait) \($0.event ?? $0.command ?? "")", $0.unsupportedReasons.map(\.type))
                }, uniquingKeysWith: { first, _ in first })
        }
        let bare = try reasons(candidates())
        #expect(bare["Time Scheduled"] == [])
        #expect(bare["Time RecurringSolarTimeScheduled"] == ["missingStructureAddressSetup"])
        #expect(bare["Notification notify"] == ["featureNotAvailable"])
        var told = candidates()
        told.hasReceivers = true
        #expect(try reasons(told)["Notification notify"] == [])
        #expect(bare["AreaPresenceState "] == ["missingPresenceSensingSetup"])
        #expect(bare.filter { $0.key.hasPrefix("Assistant") || $0.key.hasPrefix("Voice") }.count >= 3)
        #expect(bare.allSatisfy { !$0.key.hasPrefix("Assistant") || $0.value == ["featureNotAvailable"] })
        #expect(try reasons(candidates(latitude: 50))["Time RecurringSolarTimeScheduled"] == [])
    }

    @Test func `the candidates of a home and of one device come over HTTP`() async throws {
        struct List: Decodable { var candidates: [Shown] }
        try await TestGateway().run { client in
            let structure = try await AutomationAPITests.structure(client)
            let path = "/v1/structures/\(structure)/candidates"
            let all = try await client.get(path).decoded(List.self).candidates
            #expect(all.contains { $0.event == "DoorbellPressed" } && all.contains { $0.event == "Person" })
            #expect(all.contains { $0.entity["structure"] == structure })
            let door = try await client.get(path + "?device=door").decoded(List.self).candidates
            #expect(Set(door.compactMap { $0.entity["device"] }).count == 1 && door.count < all.count)
            #expect(try await client.get(path + "?device=attic").status == .notFound)
        }
    }

    @Test func `a door with a light gets a light on a press, and a camera records people while nobody is home`() throws
    {
        let transport = Google.PushAvStreamTransportTrait(
            attributes: .init(currentConnections: [.init(connectionID: 7, transportStatus: .active)]))
        func camera(_ traits: [any HomeTypes.Trait]) -> DeviceSnapshot {
            var door = DeviceSnapshot(
                id: "door", name: "Door", structureID: "s1",
                endpoints: [
                    EndpointSnapshot(
                        id: 1, types: [GoogleDoorbellDeviceType.name], traits: TraitCollection(traits),
                        connectivity: Self.part)
                ])
            door.activeDetections = []
            return door
        }
        func drafts(_ devices: [DeviceSnapshot], isPresenceKnown: Bool = true) -> [Suggestions.Draft] {
            let homes = AutomationHomes(
                structures: [StructureSnapshot(id: "s1", name: "Home", timeZone: "UTC")], devices: devices)
            return Suggestions(
                structure: "s1", devices: devices, home: homes.validationHome(of: "s1", for: .everything),
                isPresenceKnown: isPresenceKnown
            ).drafts
        }
        let bell = Google.DoorbellPressTrait()
        let both = drafts([camera([bell, transport]), Self.light("d1")])
        #expect(
            both.map(\.name) == [
                "Light at the door", "Record people while nobody is home", "Lights off when everybody has left",
            ])
        let light = AutomationText(names: ["door": "Door", "d1": "Lamp"]).words(for: try #require(both.first).graph)
        #expect(
            light
                == "When Door reports doorbell pressed\nthen turn Lamp on\nand then wait 5 min\nand then turn Lamp off")
        guard case .action(let record)? = both[1].graph.nodes.last,
            case .command(let command, let parameters) = record.behaviour
        else {
            Issue.record("nothing is recorded: \(both[1].graph.json)")
            return
        }
        #expect(command == "manuallyTriggerTransport" && parameters["connectionID"] == .integer(7))
        #expect(record.target.entity == .device("door"))
        // Each needs what it is made of.
        #expect(drafts([camera([bell, transport])], isPresenceKnown: false).isEmpty)
        #expect(drafts([camera([bell])]).isEmpty)
        #expect(drafts([camera([transport]), Self.light("d1")], isPresenceKnown: false).isEmpty)
    }

    @Test func `suggestions are drafts that the home can run`() {
        let homes = AutomationHomes(
            structures: [StructureSnapshot(id: "s1", name: "Home", timeZone: "UTC")], devices: [Self.light("d1")])
        let home = homes.validationHome(of: "s1", for: .everything)
        func drafts(_ isPresenceKnown: Bool) -> [Suggestions.Draft] {
            Suggestions(
                structure: "s1", devices: homes.devices["s1"] ?? [], home: home, isPresenceKnown: isPresenceKnown
            ).drafts
        }
        #expect(drafts(false).isEmpty)
        #expect(drafts(true).map(\.name) == ["Lights off when everybody has left"])
        for draft in drafts(true) {
            #expect(GraphValidator.issues(of: draft.graph, in: home).isEmpty)
            #expect(throws: Never.self) {
                try AutomationDraft(json: Data(draft.json.utf8)).readGraph()
            }
        }
    }
}
