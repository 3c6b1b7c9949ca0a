import DatagramPort
import NIOCore
import NIOHTTP1
import Transport

/// The event that a client has signed in over a connection.
struct SignedIn: Sendable {}

/// The turn of one connection's request, on the connection's event loop.
final class RequestTurn {
    private enum State {
        case none
        case waiting
        case taken(Scheduled<Void>)
    }

    private let turns: RequestTurns
    private var state = State.none
    /// The parts of the request that arrived meanwhile.
    private(set) var parts: [HTTPServerRequestPart] = []
    /// Whether the client has closed its side meanwhile.
    var hasInputEnded = false

    init(_ turns: RequestTurns) {
        self.turns = turns
    }

    var isAwaited: Bool {
        if case .waiting = state { return true }
        return false
    }

    /// Takes a turn, or waits for it.
    /// - Parameter begin: Called on the event loop when the turn comes later.
    /// - Returns: Whether the turn is taken at once.
    func take(_ context: ChannelHandlerContext, begin: @escaping @Sendable () -> Void) -> Bool {
        let host = ConnectionLedger.host(of: ConnectionAdmissionHandler.peer(context.remoteAddress))
        let eventLoop = context.eventLoop
        if turns.take(for: host, begin: { eventLoop.execute(begin) }) {
            hold(eventLoop)
            return true
        }
        state = .waiting
        return false
    }

    /// Keeps a part that arrives while the request waits for its turn.
    func keep(_ part: HTTPServerRequestPart) {
        parts.append(part)
    }

    /// Begins the turn.
    /// - Returns: The parts that were kept; nil if the request no longer waits.
    func begin(_ eventLoop: any EventLoop) -> [HTTPServerRequestPart]? {
        guard isAwaited else {
            turns.giveBack()
            return nil
        }
        hold(eventLoop)
        defer { parts = [] }
        return parts
    }

    /// Gives the turn back, or stops waiting for it.
    func giveBack() {
        if case .taken(let limit) = state {
            limit.cancel()
            turns.giveBack()
        }
        state = .none
        parts = []
    }

    private func hold(_ eventLoop: any EventLoop) {
        let limit = eventLoop.assumeIsolated().scheduleTask(in: RequestTurns.longest) { self.giveBack() }
        state = .taken(limit)
    }
}
