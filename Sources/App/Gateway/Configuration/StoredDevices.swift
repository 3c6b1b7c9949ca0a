import Foundation
import HomeHub

/// The devices of a state folder as people name them, for commands that read the folder without the gateway.
public struct StoredDevices {
    /// Why a text does not name a device.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// No device has this id, key or name. Has the keys that there are.
        case unknown(String, keys: [String])
        /// Several devices have this name. Has their keys.
        case ambiguous(String, keys: [String])

        public var description: String {
            switch self {
            case .unknown(let text, let keys):
                let there = keys.isEmpty ? "there is none" : "there is \(keys.prefix(20).joined(separator: ", "))"
                let more = keys.count > 20 ? " and \(keys.count - 20) more" : ""
                return "no device has the id, key or name \(text.prefix(64).debugDescription); \(there)\(more)"
            case .ambiguous(let text, let keys):
                return "\(keys.count) devices are called \(text.prefix(64).debugDescription); use one of these keys: "
                    + keys.joined(separator: ", ")
            }
        }
    }

    private let records: [DeviceRecord]
    /// The names that the config and the API gave to cameras and devices, by their keys.
    private let names: [String: String]

    /// Reads the devices of a state folder. The gateway may run.
    /// - Parameters:
    ///   - directory: the state folder.
    ///   - configuration: the config, for the names in it; nil if it is not known.
    ///   - environment: what the config of cameras that were added over the API may refer to.
    /// - Throws: when the file of the home cannot be read.
    public init(
        in directory: StateDirectory, configuration: GatewayConfiguration?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StoreFailure) {
        records = try SQLiteSharedStore.devices(inFile: directory.file(SQLiteSharedStore.fileName))
        // Without the file only names are missing, and `gatehouse serve --check` says why it cannot be read.
        let stored = (try? CameraStore(directory: directory).read(environment: environment))?.cameras ?? []
        var names: [String: String] = [:]
        for device in configuration?.devices ?? [] { names[device.key] = device.name }
        for camera in (configuration?.cameras ?? []) + stored.map(\.camera) { names[camera.id] = camera.name }
        self.names = names
    }

    /// The identifiers of the device that a text names: one, or several former devices that had one key.
    /// - Parameters:
    ///   - text: an identifier, a key or a name.
    ///   - known: identifiers that exist elsewhere, for example in the folder of the recordings.
    public func ids(named text: String, known: Set<String> = []) throws(Failure) -> Set<String> {
        if known.contains(text) || records.contains(where: { $0.id == text }) { return [text] }
        let present = records.filter { $0.removedAt == nil }
        if let device = present.first(where: { $0.key == text }) { return [device.id] }
        let named = present.filter {
            ($0.name ?? names[$0.key])?.caseInsensitiveCompare(text) == .orderedSame
        }
        guard named.count < 2 else { throw .ambiguous(text, keys: named.map(\.key)) }
        if let device = named.first { return [device.id] }
        let former = records.filter { $0.removedAt != nil && $0.key == text }
        guard !former.isEmpty else { throw .unknown(text, keys: present.map(\.key).sorted()) }
        return Set(former.map(\.id))
    }
}
