import Transport

/// The sessions' names and where they live. Only control uses it: a shard knows its sessions by their handles.
final class SessionDirectory: Sendable {
    private struct State {
        var handles: [String: SessionHandle] = [:]
        var next: UInt64 = 0
    }

    private let state = Locked(State())

    /// Gives a session a handle on `shard`. A session of the same name is no longer found.
    func add(_ sessionID: String, shard: Int) -> SessionHandle {
        state.withLock { state in
            state.next += 1
            let handle = SessionHandle(shard: shard, number: state.next)
            state.handles[sessionID] = handle
            return handle
        }
    }

    /// The session has ended.
    func remove(_ sessionID: String, _ handle: SessionHandle) {
        state.withLock { state in
            if state.handles[sessionID] == handle { state.handles[sessionID] = nil }
        }
    }

    /// A session's handle, nil if no session has this name.
    subscript(sessionID: String) -> SessionHandle? { state.withLock { $0.handles[sessionID] } }
}
