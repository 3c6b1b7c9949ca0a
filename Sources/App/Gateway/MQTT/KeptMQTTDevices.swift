import Foundation
import HomeHub
import HomeTypes
import Logging
import MQTTDevices

/// What is kept of a device on the broker: the next run shows it until the broker describes it again.
struct KeptMQTTDevice: Codable, Hashable, Sendable {
    /// A part of the device.
    struct Endpoint: Codable, Hashable, Sendable {
        var id: UInt16
        var types: [String]
        var traits: TraitCollection
    }

    /// Names the device on the broker for good.
    var key: String
    /// Everything that names it there.
    var identifiers: Set<String>
    /// The name that people read.
    var name: String
    /// Its parts, with the root node.
    var endpoints: [Endpoint]

    /// Keeps a device.
    /// - Parameter id: its identifier in the home.
    init(_ device: MQTTDevice, id: String) {
        key = device.key
        identifiers = device.identifiers
        name = device.name
        endpoints = device.endpointDescriptions(id: id).map {
            Endpoint(id: $0.id, types: $0.types, traits: $0.traits)
        }
    }

    /// The parts of a device that the broker has not described yet.
    var endpointDescriptions: [EndpointDescription] {
        endpoints.map { endpoint in
            EndpointDescription(
                id: endpoint.id, types: endpoint.types.compactMap { Vocabulary.deviceType(named: $0) },
                traits: endpoint.traits, connectivity: .notDescribedYet)
        }
    }
}

/// Keeps the devices of the broker in the home's store, one object for each.
struct KeptMQTTDevices: Sendable {
    private static let kind = "mqttDevice"

    /// Where they are kept; nil where the state folder cannot be used, and nothing is kept.
    let store: (any SharedStore)?
    let logger: Logger

    /// What an earlier run kept, by the devices' keys.
    func read() -> [String: KeptMQTTDevice] {
        do throws(StoreFailure) {
            let objects = try store?.objects(Self.kind) ?? []
            // What a newer version wrote is left alone.
            let devices = objects.compactMap {
                try? JSONDecoder().decode(KeptMQTTDevice.self, from: Data($0.body.utf8))
            }
            return Dictionary(devices.map { ($0.key, $0) }) { first, _ in first }
        } catch {
            logger.warning(
                "MQTT devices appear only when the broker describes them, because what was kept cannot be read",
                metadata: ["reason": "\(error)"])
            return [:]
        }
    }

    /// Keeps a device, or forgets it.
    func write(_ device: KeptMQTTDevice?, key: String) {
        guard let store else { return }
        do {
            let version = try store.object(Self.kind, key)?.version ?? 0
            if let device {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                let body = String(decoding: try encoder.encode(device), as: UTF8.self)
                // Only one gateway is connected under a name, so nobody else writes this object at the same time.
                _ = try store.write(Self.kind, key, body, expecting: version)
            } else if version > 0 {
                _ = try store.delete(Self.kind, key, expecting: version)
            }
        } catch {
            logger.warning(
                "an MQTT device cannot be kept; after a restart it appears only when the broker describes it",
                metadata: ["device": "\(key)", "reason": "\(error)"])
        }
    }
}
