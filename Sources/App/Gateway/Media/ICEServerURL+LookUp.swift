import DatagramPort
import STUN
import Transport

extension ICEServerURL {
    /// The server's addresses. The name is looked up on a thread of its own, since that may take seconds.
    func lookUp() async throws(UnknownHostName) -> [TransportAddress] {
        try await HostNameLookup.addresses(of: host, port: port)
    }
}

/// The lookup of one host name on a thread of its own. Cancelling the task ends the wait, though not the thread: the
/// system's resolver cannot be interrupted.
final class HostNameLookup: Sendable {
    private typealias Outcome = Result<[TransportAddress], UnknownHostName>

    private enum State {
        case idle
        case waiting(CheckedContinuation<Outcome, Never>)
        case ended(Outcome)
    }

    private let state = Locked(State.idle)

    /// The addresses of a host name or an address.
    static func addresses(of host: String, port: UInt16) async throws(UnknownHostName) -> [TransportAddress] {
        let lookup = HostNameLookup()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lookup.wait(continuation)
                let started = startDetachedThread(name: "host-names") {
                    lookup.end(
                        Result { () throws(UnknownHostName) in
                            try lookUpAddresses(of: host, port: port)
                        })
                }
                if !started { lookup.end(.failure(UnknownHostName(description: "\(host): no thread"))) }
            }
        } onCancel: {
            lookup.end(.failure(UnknownHostName(description: "\(host): the gateway stops")))
        }
        return try outcome.get()
    }

    private func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome: Outcome? = state.withLock { state in
            if case .ended(let outcome) = state { return outcome }
            state = .waiting(continuation)
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Only the first end counts.
    private func end(_ outcome: Outcome) {
        let waiting: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            guard case .waiting(let continuation) = state else {
                if case .idle = state { state = .ended(outcome) }
                return nil
            }
            state = .ended(outcome)
            return continuation
        }
        waiting?.resume(returning: outcome)
    }
}
