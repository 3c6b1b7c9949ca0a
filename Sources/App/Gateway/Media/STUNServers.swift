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
            var known: [TransportAddress]?
            var failures = Set<String>()
            while !Task.isCancelled {
                var found: [TransportAddress] = []
                var failed = Set<String>()
                for server in servers {
                    do throws(UnknownHostName) {
                        found += try await Self.addresses(of: server)
                    } catch {
                        failed.insert(server.host)
                        if !failures.contains(server.host) {
                            logger.warning(
                                "a STUN server of the config has no address; it is looked up again",
                                metadata: ["server": "\(server)", "reason": "\(error)"])
                        }
                    }
                }
                failures = failed
                // A name server that fails does not take away what works.
                if found != known, failed.isEmpty || known == nil {
                    known = found
                    relay.setSTUNServers(found) { report($0, seen: seen) }
                }
                try? await Task.sleep(for: failed.isEmpty ? Self.period : Self.periodAfterFailure)
            }
        }
    }

    /// Logs addresses that are new. Called on a relay's thread.
    private func report(_ observations: [ReflexiveAddress], seen: Locked<[TransportAddress]>) {
        let addresses = observations.compactMap(\.address)
        let fresh = seen.withLock { known in
            defer { known = addresses }
            return addresses.filter { !known.contains($0) }
        }
        for address in Set(fresh) {
            logger.notice("a STUN server sees the media port", metadata: ["address": "\(address)"])
        }
        for observation in observations {
            guard let failure = observation.failure else { continue }
            logger.debug(
                "a STUN server gives no address",
                metadata: ["server": "\(observation.server)", "reason": "\(failure)"])
        }
    }

    private static func addresses(of server: ICEServerURL) async throws(UnknownHostName) -> [TransportAddress] {
        let result: Result<[TransportAddress], UnknownHostName> = await withCheckedContinuation { continuation in
            let started = startDetachedThread(name: "host-names") {
                continuation.resume(
                    returning: Result { () throws(UnknownHostName) in
                        try lookUpAddresses(of: server.host, port: server.port)
                    })
            }
            if !started {
                continuation.resume(returning: .failure(UnknownHostName(description: "\(server.host): no thread")))
            }
        }
        return try result.get()
    }
}
