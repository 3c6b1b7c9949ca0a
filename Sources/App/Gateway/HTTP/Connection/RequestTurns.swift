import NIOCore
import Transport

/// How many requests of strangers the gateway handles at once, and which is next. Hosts take turns, so a host that
/// sends requests over hundreds of connections delays only itself.
///
/// A stranger is a connection without a sign-in. The owner's first request counts as a stranger's too, and has to get
/// its turn among those of a flood.
final class RequestTurns: Sendable {
    /// How many requests are handled at once. More of them would only compete for the processor.
    static let atOnce = 2
    /// A request without a response after this time returns its turn. It waits for a camera, or for the rest of its
    /// body.
    static let longest = TimeAmount.milliseconds(50)

    private struct State {
        var taken = 0
        var waiting = HostQueue<@Sendable () -> Void>()
    }

    private let state = Locked(State())

    /// Takes a turn.
    /// - Parameters:
    ///   - host: The host that sent the request.
    ///   - begin: Called on any thread when the turn comes later; not called if it is taken at once.
    /// - Returns: Whether the turn is taken at once. Each turn must be given back.
    func take(for host: TransportAddress, begin: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.taken < Self.atOnce {
                state.taken += 1
                return true
            }
            state.waiting.append(begin, of: host)
            return false
        }
    }

    /// Returns a turn. The next waiting request gets it.
    func giveBack() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.taken -= 1 }
            return next
        }
        next?()
    }
}
