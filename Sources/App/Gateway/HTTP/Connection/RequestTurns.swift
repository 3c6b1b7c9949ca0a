import NIOCore
import Transport

/// How many requests of strangers are worked on at once, and whose is next: hosts take turns, so that one that sends
/// requests over hundreds of connections waits for itself and not others for it.
///
/// A stranger is a connection over which nobody has signed in yet. The owner's first request is a stranger's too, and has
/// to get its turn among those of a flood.
final class RequestTurns: Sendable {
    /// How many requests are worked on at once; more would only wait for each other's processor time.
    static let atOnce = 2
    /// A request that has no answer for so long gives its turn back: it waits for a camera, or for the rest of its body.
    static let longest = TimeAmount.milliseconds(50)

    private struct State {
        var taken = 0
        var waiting = HostQueue<@Sendable () -> Void>()
    }

    private let state = Locked(State())

    /// Takes a turn.
    /// - Parameters:
    ///   - host: Whose request it is.
    ///   - begin: Called when the turn has come, on any thread; not when it is there at once.
    /// - Returns: Whether it is there at once. Each turn must be given back.
    func take(for host: TransportAddress, begin: @escaping @Sendable () -> Void) -> Bool {
        self.state.withLock { state in
            if state.taken < Self.atOnce {
                state.taken += 1
                return true
            }
            state.waiting.append(begin, of: host)
            return false
        }
    }

    /// Gives a turn back, and with it to the next one.
    func giveBack() {
        let next = self.state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.taken -= 1 }
            return next
        }
        next?()
    }
}
