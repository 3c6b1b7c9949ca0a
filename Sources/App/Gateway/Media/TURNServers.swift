import DatagramPort
import Logging
import MediaRelay
import STUN
import ServiceLifecycle
import TURN
import Transport

/// Lets one of the config's TURN servers relay for the gateway: the first one that does, and after a failure the next.
struct TURNServers: Service {
    /// Lets a server relay in the place of the one before, and gets each change of what is known of it.
    typealias SetServer =
        @Sendable (TURNServer, _ changed: @escaping @Sendable (TURNState?) -> Void) throws(SystemCallError) -> Void

    static let shortestPause = Duration.seconds(5)
    static let longestPause = Duration.seconds(240)

    let servers: [GatewayConfiguration.Network.TURNServer]
    let setServer: SetServer
    let logger: Logger
    /// Waits between two rounds. A test decides how long that takes.
    let sleep: @Sendable (Duration) async throws -> Void

    init(
        servers: [GatewayConfiguration.Network.TURNServer], logger: Logger,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        setServer: @escaping SetServer
    ) {
        self.servers = servers
        self.logger = logger
        self.sleep = sleep
        self.setServer = setServer
    }

    /// The servers of `relay`.
    init(servers: [GatewayConfiguration.Network.TURNServer], relay: MediaRelay, logger: Logger) {
        self.init(
            servers: servers, logger: logger,
            setServer: { server, changed throws(SystemCallError) in
                try relay.setTURNServer(server, changed: changed)
            })
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var pause = Self.shortestPause
            var failures: [Int: String] = [:]
            while !Task.isCancelled {
                var hasRelayed = false
                for (index, server) in servers.enumerated() {
                    let outcome = await use(server)
                    guard !Task.isCancelled else { return }
                    if outcome.hasRelayed { (hasRelayed, failures[index]) = (true, nil) }
                    // A failure that lasts is logged once.
                    guard failures.updateValue(outcome.failure, forKey: index) != outcome.failure else { continue }
                    logger.warning(
                        "a TURN server does not relay for the gateway; it is asked again later",
                        metadata: ["server": "\(server.url)", "reason": "\(outcome.failure)"])
                }
                // If all of them fail, each is asked less and less often.
                pause = hasRelayed ? Self.shortestPause : min(pause * 2, Self.longestPause)
                // It ends early only with the task, which the loop asks about.
                try? await sleep(pause)
            }
        }
    }

    private typealias Outcome = (hasRelayed: Bool, failure: String)

    /// Uses a server until it fails, by the first of its addresses that answers.
    private func use(_ server: GatewayConfiguration.Network.TURNServer) async -> Outcome {
        let addresses: [TransportAddress]
        do throws(UnknownHostName) {
            addresses = try await server.url.lookUp()
        } catch {
            return (false, "\(error)")
        }
        var outcome: Outcome = (false, "it has no address")
        for family in [TransportAddress.Family.ipv4, .ipv6] {
            guard let address = addresses.first(where: { $0.family == family }) else { continue }
            outcome = await use(server, at: address)
            if outcome.hasRelayed || Task.isCancelled { break }
        }
        return outcome
    }

    private func use(
        _ server: GatewayConfiguration.Network.TURNServer, at address: TransportAddress
    ) async -> Outcome {
        // Each state says everything, and the reader is quick: one that is left out is out of date.
        let (states, continuation) = AsyncStream.makeStream(of: TURNState?.self, bufferingPolicy: .bufferingNewest(8))
        do throws(SystemCallError) {
            try setServer(
                TURNServer(
                    address: address, transport: server.transport, username: server.username, password: server.password)
            ) { continuation.yield($0) }
        } catch {
            return (false, "\(error)")
        }
        var hasRelayed = false
        var logged: [TransportAddress] = []
        for await state in states {
            if let relayed = state?.relayedAddresses, !relayed.isEmpty {
                hasRelayed = true
                // A server that was silent for a moment is not worth a line.
                guard relayed != logged else { continue }
                logged = relayed
                logger.notice(
                    "a TURN server relays for the gateway",
                    metadata: [
                        "server": "\(server.url)", "address": "\(relayed.map(\.description).joined(separator: ", "))",
                    ])
            } else if let failure = state?.failure {
                return (hasRelayed, "\(failure)")
            }
        }
        return (hasRelayed, "the gateway stops")
    }
}

extension GatewayConfiguration.Network.TURNServer {
    /// How the gateway reaches the server.
    var transport: TURNServer.Transport {
        switch (url.scheme, url.transport) {
        case (.turns, _): .tls(name: url.host, authorities: authorities)
        case (_, .tcp): .tcp
        default: .udp
        }
    }
}
