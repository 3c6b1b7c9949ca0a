import Cameras
import Dispatch
import Foundation
import Logging
import Transport

/// What the gateway learned about each camera at earlier connections, in a private file in the state folder.
///
/// Sources report a change on their own threads. The file is written a moment later on another thread, once for all
/// changes of that moment. A profile belongs to a camera's address and does not apply to another one.
final class ProfileStore: Sendable {
    static let fileName = "camera-profiles.json"
    static let delay = DispatchTimeInterval.milliseconds(500)

    private struct Entry: Codable, Equatable {
        /// The address without credentials.
        var address: String
        var fields: [String: String]
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var isDue = false
    }

    private let directory: StateDirectory
    private let logger: Logger
    private let state: Locked<State>
    private let queue = DispatchQueue(label: "camera profiles")

    /// Reads the file. The gateway starts even if it cannot be read, and learns its contents again.
    init(directory: StateDirectory, logger: Logger) {
        self.directory = directory
        self.logger = logger
        var entries: [String: Entry] = [:]
        do {
            if let text = try directory.readPrivate(Self.fileName) {
                entries = try JSONDecoder().decode([String: Entry].self, from: Data(text.utf8))
            }
        } catch {
            logger.warning(
                "what was learnt of the cameras cannot be read, and is learnt again", metadata: ["reason": "\(error)"])
        }
        self.state = Locked(State(entries: entries))
    }

    /// What the gateway knows about a camera at this address.
    func profile(of id: String, at address: String) -> CameraProfile {
        let entry = self.state.withLock { $0.entries[id] }
        guard let entry, entry.address == address else { return CameraProfile() }
        return CameraProfile(fields: entry.fields)
    }

    /// What the gateway knows about a camera that reports its own address. At another address it is still the same
    /// camera, so one fact is kept: that it accepts Digest.
    func profile(ofMoving id: String, at address: String) -> CameraProfile {
        var profile = self.profile(of: id, at: address)
        let known = self.state.withLock { $0.entries[id] }
        if let known, CameraProfile(fields: known.fields).takesDigest { profile.takesDigest = true }
        return profile
    }

    /// Forgets that a camera and its streams accept Digest: its owner has changed its settings, or wants it
    /// reconnected.
    func forgetDigest(of id: String) {
        self.change { entries in
            for key in entries.keys where Self.camera(of: key) == id {
                guard var entry = entries[key] else { continue }
                var profile = CameraProfile(fields: entry.fields)
                profile.takesDigest = false
                profile.authentication = nil
                entry.fields = profile.fields
                entries[key] = entry
            }
        }
    }

    /// Adopts what was learned.
    func note(_ profile: CameraProfile, of id: String, at address: String) {
        self.change { $0[id] = Entry(address: address, fields: profile.fields) }
    }

    /// Forgets all cameras except these.
    func keepOnly(_ ids: Set<String>) {
        self.change { entries in entries = entries.filter { ids.contains(Self.camera(of: $0.key)) } }
    }

    /// A camera's streams have separate profiles.
    static func substreamKey(of id: String) -> String { id + "/substream" }

    private static func camera(of key: String) -> String { String(key.prefix { $0 != "/" }) }

    private func change(_ body: @Sendable (inout [String: Entry]) -> Void) {
        let mustSchedule = self.state.withLock { state in
            let before = state.entries
            body(&state.entries)
            guard state.entries != before, !state.isDue else { return false }
            state.isDue = true
            return true
        }
        guard mustSchedule else { return }
        self.queue.asyncAfter(deadline: .now() + Self.delay) { self.write() }
    }

    /// Writes what has not been written yet, and returns when that is done.
    func flush() {
        self.queue.sync { self.write() }
    }

    private func write() {
        let entries = self.state.withLock { state -> [String: Entry]? in
            defer { state.isDue = false }
            return state.isDue ? state.entries : nil
        }
        guard let entries else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try self.directory.writePrivate(
                Self.fileName, String(decoding: try encoder.encode(entries), as: UTF8.self) + "\n")
        } catch {
            self.logger.warning(
                "what was learnt of the cameras cannot be written down", metadata: ["reason": "\(error)"])
        }
    }
}
