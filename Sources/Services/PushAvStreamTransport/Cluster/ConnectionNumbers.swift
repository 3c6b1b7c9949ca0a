import Foundation
import Transport

/// The number that the next recording connection of each camera gets, in a file of its own in the state folder.
///
/// Recordings and uploads name their connection by its number. A table of connections that is damaged no longer says which
/// numbers it has given out. This file does, so that no connection gets the number of an earlier one. When the file itself cannot be
/// read, the tables that can be read say the same, and a camera without one begins with a number that no earlier connection has
/// had (``ConnectionTable/numbersAfterLoss``).
public final class ConnectionNumbers: Sendable {
    /// The file in the state folder.
    public static let fileName = "recording-connection-numbers.json"

    private struct Contents: Codable {
        var version = 1
        /// By the devices' minted ids. A camera that was forgotten stays, because its recordings may still be there.
        var next: [String: UInt16]
        /// Whether an earlier file could not be read.
        var isAfterLoss: Bool?
    }

    private struct State: Equatable {
        var next: [String: UInt16] = [:]
        var isAfterLoss = false
    }

    /// What could not be read when the file was opened, and where it is now; nil for nothing.
    public let loss: String?

    private static let largest = 64 << 20
    private let path: String
    private let state: Locked<State>

    /// Reads the numbers of a state folder.
    public init(folder: String) {
        path = "\(folder)/\(Self.fileName)"
        let (known, loss) = Self.read(path)
        state = Locked(known)
        self.loss = loss
    }

    /// The number that the next connection of a camera gets; nil when nothing is known of the camera.
    public func next(of device: String) -> UInt16? { state.withLock { $0.next[device] } }

    /// The number that the next connection of a camera without a table gets; nil when it has never had one.
    public func nextWithoutTable(of device: String) -> UInt16? {
        state.withLock { $0.next[device] ?? ($0.isAfterLoss ? ConnectionTable.numbersAfterLoss : nil) }
    }

    /// Keeps the number that the next connection of a camera gets. It is on the disk when this returns.
    public func keep(_ number: UInt16, of device: String) throws(RecordingFault) {
        try state.withLock { (state) throws(RecordingFault) in
            guard state.next[device] != number else { return }
            var changed = state
            changed.next[device] = number
            try write(changed)
            state = changed
        }
    }

    /// Adopts the numbers of the tables that can be read. A higher number that is already known stays: the table may be
    /// an older copy.
    public func adopt(_ numbers: [String: UInt16]) {
        state.withLock { state in
            var merged = state
            merged.next.merge(numbers) { max($0, $1) }
            guard merged != state || loss != nil else { return }
            state = merged
            // A disk that refuses this write refuses the next connection's, too, and that failure is reported.
            try? write(merged)
        }
    }

    private static func read(_ path: String) -> (State, loss: String?) {
        let bytes: [UInt8]?
        do throws(UploadStorageFailure) {
            bytes = try DurableFile.read(path, limit: largest)
        } catch {
            return (State(isAfterLoss: true), "\(error.path): \(error.reason)")
        }
        guard let bytes else { return (State(), nil) }
        if let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)) {
            return (State(next: contents.next, isAfterLoss: contents.isAfterLoss ?? false), nil)
        }
        // If it cannot be renamed, the file is overwritten.
        let suffix = try? DamagedFile.setAside(path, keepingAtMost: 1_000)
        let place = suffix.map { ", and is now \(path)\($0)" } ?? ""
        return (State(isAfterLoss: true), "\(path): it is damaged\(place)")
    }

    private func write(_ numbers: State) throws(RecordingFault) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let json: Data
        do {
            json = try encoder.encode(
                Contents(next: numbers.next, isAfterLoss: numbers.isAfterLoss ? true : nil))
        } catch {
            throw .storage(path: path, .unencodable("\(error)"))
        }
        do throws(UploadStorageFailure) {
            try DurableFile.write(Array(json), to: path)
        } catch {
            throw .storage(path: error.path, error.reason)
        }
    }
}
