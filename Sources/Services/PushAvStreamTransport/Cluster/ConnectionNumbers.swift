import Foundation
import Transport

/// The number that the next recording connection of each camera gets, in a file of its own in the state folder.
///
/// Recordings and uploads name their connection by its number. A table of connections that is damaged no longer says which
/// numbers it has given out. This file does, so that no connection gets the number of an earlier one. A file that cannot be
/// read is replaced: the tables that can be read say the same.
public final class ConnectionNumbers: Sendable {
    /// The file in the state folder.
    public static let fileName = "recording-connection-numbers.json"

    private struct Contents: Codable {
        var version = 1
        /// By the devices' minted ids. A camera that was forgotten stays, because its recordings may still be there.
        var next: [String: UInt16]
    }

    private static let largest = 64 << 20
    private let path: String
    private let state: Locked<[String: UInt16]>

    /// Reads the numbers of a state folder.
    public init(folder: String) {
        path = "\(folder)/\(Self.fileName)"
        state = Locked(Self.read(path))
    }

    /// The number that the next connection of a camera gets; nil when nothing is known of the camera.
    public func next(of device: String) -> UInt16? { state.withLock { $0[device] } }

    /// Keeps the number that the next connection of a camera gets. It is on the disk when this returns.
    public func keep(_ number: UInt16, of device: String) throws(RecordingFault) {
        try state.withLock { (state) throws(RecordingFault) in
            guard state[device] != number else { return }
            var changed = state
            changed[device] = number
            try write(changed)
            state = changed
        }
    }

    /// Adopts what the tables say that can be read. A number that is known to be higher stays: the table may be an older copy.
    public func adopt(_ numbers: [String: UInt16]) {
        state.withLock { state in
            let merged = state.merging(numbers) { max($0, $1) }
            guard merged != state else { return }
            state = merged
            // A disk that does not take it refuses the next connection, too, and that one says so.
            try? write(merged)
        }
    }

    private static func read(_ path: String) -> [String: UInt16] {
        guard let bytes = try? DurableFile.read(path, limit: largest),
            let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes))
        else { return [:] }
        return contents.next
    }

    private func write(_ numbers: [String: UInt16]) throws(RecordingFault) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let json: Data
        do {
            json = try encoder.encode(Contents(next: numbers))
        } catch {
            throw .storage(path: path, reason: "\(error)")
        }
        do throws(UploadStorageFailure) {
            try DurableFile.write(Array(json), to: path)
        } catch {
            throw .storage(path: error.path, reason: error.reason)
        }
    }
}
