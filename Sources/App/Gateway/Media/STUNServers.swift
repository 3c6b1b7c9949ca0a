import DatagramPort
import Logging
import MediaRelay
import STUN
import ServiceLifecycle
import Transport

/// Keeps the relay supplied with the addresses of the config's STUN servers, and logs where they see the media port.
///
/// Names are looked up on a thread of their own: at the start, then every five minutes, because the addresses behind a
/// name change; after a failure sooner.
struct STUNServers: Service {
    private static let period = Duration.seconds(300)
    private static let periodAfterFailure = Duration.seconds(15)

    let servers: [ICEServerURL]
    let relay: MediaRelay
    let logger: Logger

    func run() async throws {
        let seen = Locked<[TransportAddress]>([])
        await cancelWhenGracefulShutdown {
            // A name that cannot be looked up any more keeps its addresses.
            var addresses: [ICEServerURL: [TransportAddress]] = [:]
            var known: [TransportAddress]?
            var failures = Set<ICEServerURL>()
            while !Task.isCancelled {
                var failed = Set<ICEServerURL>()
                for server in servers {
                    do throws(UnknownHostName) {
                        addresses[server] = Self.oneOfEachFamily(try await HostNameLookup.addresses(of: server))
                    } catch {
                        guard !Task.isCancelled else { return }
                        failed.insert(server)
                        if !failures.contains(server) {
                            logger.warning(
                                "a STUN server of the config has no address; it is looked up again",
                                metadata: ["server": "\(server)", "reason": "\(error)"])
                        }
                    }
                }
                failures = failed
                let found = servers.flatMap { addresses[$0] ?? [] }
                if found != known {
                    known = found
                    relay.setSTUNServers(found) { report($0, seen: seen) }
                }
                try? await Task.sleep(for: failed.isEmpty ? Self.period : Self.periodAfterFailure)
            }
        }
    }

    /// One name with many addresses must not leave the others without a place.
    private static func oneOfEachFamily(_ addresses: [TransportAddress]) -> [TransportAddress] {
        [TransportAddress.Family.ipv4, .ipv6].compactMap { family in addresses.first { $0.family == family } }
    }

    /// Logs addresses that are new. Called on a relay's thread, which must not wait for the log.
    private func report(_ observations: [ReflexiveAddress], seen: Locked<[TransportAddress]>) {
        let addresses = observations.compactMap(\.address)
        let fresh = seen.withLock { known in
            defer { known = addresses }
            return Set(addresses).subtracting(known)
        }
        let failed = observations.filter { $0.failure != nil }
        Task { [logger] in
            for address in fresh {
                logger.notice("a STUN server sees the media port", metadata: ["address": "\(address)"])
            }
            for observation in failed {
                let reason = observation.failure.map { "\($0)" } ?? ""
                logger.debug(
                    "a STUN server gives no address",
                    metadata: ["server": "\(observation.server)", "reason": "\(reason)"])
            }
        }
    }
}

/// The lookup of one host name on a thread of its own. Cancelling the task ends the wait, though not the thread: the
/// system's resolver cannot be interrupted.
private final class HostNameLookup: Sendable {
    private typealias Outcome = Result<[TransportAddress], UnknownHostName>

    private enum State {
        case idle
        case waiting(CheckedContinuation<Outcome, Never>)
        case ended(Outcome)
    }

    private let state = Locked(State.idle)

    static func addresses(of server: ICEServerURL) async throws(UnknownHostName) -> [TransportAddress] {
        let lookup = HostNameLookup()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lookup.wait(continuation)
                let started = startDetachedThread(name: "host-names") {
                    lookup.end(
                        Result { () throws(UnknownHostName) in
                            try lookUpAddresses(of: server.host, port: server.port)
                        })
                }
                if !started { lookup.end(.failure(UnknownHostName(description: "\(server.host): no thread"))) }
            }
        } onCancel: {
            lookup.end(.failure(UnknownHostName(description: "\(server.host): the gateway stops")))
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
