import DatagramPort
import Logging
import MediaRelay
import STUN
import ServiceLifecycle
import Transport

/// Keeps the relay supplied with the addresses of the config's STUN servers, and logs where they see the media port.
///
/// Names are looked up on a thread of their own: at the start, then every five minutes, because the addresses behind a
/// name change; after a failure sooner. When this host's own addresses have changed, the names are looked up at once, and a
/// server that was left alone because it did not answer is asked at once.
struct STUNServers: Service {
    private static let period = Duration.seconds(300)
    private static let periodAfterFailure = Duration.seconds(15)
    /// How often this host's addresses are looked at.
    private static let look = Duration.seconds(5)

    let servers: [ICEServerURL]
    let relay: MediaRelay
    let logger: Logger

    func run() async throws {
        let seen = Locked<[TransportAddress]>([])
        await cancelWhenGracefulShutdown {
            // A name that can no longer be looked up keeps its addresses.
            var addresses: [ICEServerURL: [TransportAddress]] = [:]
            var known: [TransportAddress]?
            var failures = Set<ICEServerURL>()
            var network = NetworkWatch()
            var nextLookUp = MonotonicClock.now
            while !Task.isCancelled {
                let hasMoved = network.asks(hosts: Self.hosts, at: MonotonicClock.now)
                guard hasMoved || MonotonicClock.now >= nextLookUp else {
                    try? await Task.sleep(for: Self.look)
                    continue
                }
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
                let hasReturned = !failures.subtracting(failed).isEmpty
                failures = failed
                let found = servers.flatMap { addresses[$0] ?? [] }
                let isAsked = network.asks(hosts: Self.hosts, hasReturned: hasReturned, at: MonotonicClock.now)
                if found != known || hasMoved || isAsked {
                    known = found
                    relay.setSTUNServers(found) { report($0, seen: seen) }
                }
                nextLookUp = MonotonicClock.now + (failed.isEmpty ? Self.period : Self.periodAfterFailure)
            }
        }
    }

    /// This host's addresses, without those that only containers have.
    private static var hosts: Set<TransportAddress> { Set(hostAddresses().map(\.address)) }

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
