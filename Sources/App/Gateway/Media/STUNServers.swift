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
                        addresses[server] = Self.oneOfEachFamily(try await server.lookUp())
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
