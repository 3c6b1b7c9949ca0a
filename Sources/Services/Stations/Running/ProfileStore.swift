import Cameras
import Dispatch
import Transport

/// Keeps profiles beyond the end of the process.
public protocol ProfileStorage: Sendable {
    /// What was written last, by the keys of its cameras; empty where nothing was.
    func read() throws(ProfileStorageError) -> [String: StoredProfile]
    /// Replaces what was written before.
    func write(_ profiles: [String: StoredProfile]) throws(ProfileStorageError)
}

/// Why profiles cannot be read or written.
public struct ProfileStorageError: Error, Sendable {
    /// What is wrong and what to do.
    public var reason: String

    /// Names the reason.
    public init(reason: String) { self.reason = reason }
}

/// A profile as it is kept.
public struct StoredProfile: Sendable, Codable, Equatable {
    /// The camera's address without credentials.
    public var address: String
    /// The profile's fields; see `CameraProfile`.
    public var fields: [String: String]

    /// Names a profile's fields.
    public init(address: String, fields: [String: String]) {
        self.address = address
        self.fields = fields
    }
}

/// What the gateway learned about each camera at earlier connections, kept in a ``ProfileStorage``.
///
/// Sources report a change on their own threads. The storage is written a moment later on another thread, once for all
/// changes of that moment. A profile belongs to a camera's address and does not apply to another one.
public final class ProfileStore: Sendable {
    /// What went wrong with the storage. The gateway continues.
    public enum Problem: Sendable {
        /// What was learned earlier cannot be read, and is learned again.
        case unreadable(String)
        /// What was learned cannot be kept.
        case unwritable(String)
    }

    static let delay = DispatchTimeInterval.milliseconds(500)

    private struct State {
        var entries: [String: StoredProfile] = [:]
        var isDue = false
    }

    private let storage: any ProfileStorage
    private let report: @Sendable (Problem) -> Void
    private let state: Locked<State>
    private let queue = DispatchQueue(label: "camera profiles")

    /// Reads the storage. The gateway starts even if it cannot be read, and learns its contents again.
    /// - Parameter report: called with what goes wrong, on any thread.
    public init(storage: any ProfileStorage, report: @escaping @Sendable (Problem) -> Void) {
        self.storage = storage
        self.report = report
        var entries: [String: StoredProfile] = [:]
        do {
            entries = try storage.read()
        } catch {
            report(.unreadable(error.reason))
        }
        self.state = Locked(State(entries: entries))
    }

    /// What the gateway knows about a camera at this address.
    public func profile(of id: String, at address: String) -> CameraProfile {
        let entry = state.withLock { $0.entries[id] }
        guard let entry, entry.address == address else { return CameraProfile() }
        return CameraProfile(fields: entry.fields)
    }

    /// What the gateway knows about a camera that reports its own address. At another address it is still the same
    /// camera, so one fact is kept: that it accepts Digest.
    public func profile(ofMoving id: String, at address: String) -> CameraProfile {
        var profile = self.profile(of: id, at: address)
        let known = state.withLock { $0.entries[id] }
        if let known, CameraProfile(fields: known.fields).takesDigest { profile.takesDigest = true }
        return profile
    }

    /// Forgets that a camera and its streams accept Digest: its owner has changed its settings, or wants it
    /// reconnected.
    public func forgetDigest(of id: String) {
        change { entries in
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
    public func record(_ profile: CameraProfile, of id: String, at address: String) {
        change { $0[id] = StoredProfile(address: address, fields: profile.fields) }
    }

    /// Forgets all cameras except these.
    public func keepOnly(_ ids: Set<String>) {
        change { entries in entries = entries.filter { ids.contains(Self.camera(of: $0.key)) } }
    }

    /// A camera's streams have separate profiles.
    public static func substreamKey(of id: String) -> String { id + "/substream" }

    private static func camera(of key: String) -> String { String(key.prefix { $0 != "/" }) }

    private func change(_ body: @Sendable (inout [String: StoredProfile]) -> Void) {
        let mustSchedule = state.withLock { state in
            let before = state.entries
            body(&state.entries)
            guard state.entries != before, !state.isDue else { return false }
            state.isDue = true
            return true
        }
        guard mustSchedule else { return }
        queue.asyncAfter(deadline: .now() + Self.delay) { self.write() }
    }

    /// Writes what has not been written yet, and returns when that is done.
    public func flush() {
        queue.sync { write() }
    }

    private func write() {
        let entries = state.withLock { state -> [String: StoredProfile]? in
            defer { state.isDue = false }
            return state.isDue ? state.entries : nil
        }
        guard let entries else { return }
        do {
            try storage.write(entries)
        } catch {
            report(.unwritable(error.reason))
        }
    }
}
