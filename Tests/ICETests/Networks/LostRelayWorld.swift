import ICE
import NetworkSimulator
import Testing
import Transport

/// A gateway, a viewer, and a server that relays for the gateway.
struct LostRelayWorld {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    let simulation: Simulation
    let home: NetworkHost
    let away: NetworkHost
    let server = PublicServer()
    private let outside: TransportAddress

    /// - Parameters:
    ///   - viewer: the router of the viewer.
    ///   - viewerHasServer: whether another server relays for the viewer.
    init(viewer: Access = .none, viewerHasServer: Bool = false, seed: UInt64) throws {
        var conditions = LinkConditions(latency: .milliseconds(15))
        conditions.jitter = .milliseconds(10)
        var network = SimulatedNetwork(seed: seed, conditions: conditions)
        var host = "198.51.100.7"
        outside = try #require(TransportAddress("198.51.100.9", port: 0))
        if let nat = viewer.nat {
            host = "10.0.0.2"
            _ = network.addNAT(
                nat.kind, outside: outside, inside: [try #require(TransportAddress(host, port: 0))],
                firewall: nat.firewall)
        }
        home = try NetworkHost(
            .controlled, at: "203.0.113.5", seed: seed &* 2 &+ 1, turnServer: PublicServer.udp, start: Self.start)
        away = try NetworkHost(
            .controlling, at: host, seed: seed &* 2 &+ 2, turnServer: viewerHasServer ? PublicServer.otherUDP : nil,
            start: Self.start)
        home.allocationPause = .seconds(5)
        var endpoints: [any SimulatedEndpoint] = [home, away, server]
        if viewerHasServer {
            endpoints.append(PublicServer(at: PublicServer.otherUDP, relayingAt: PublicServer.otherRelayed))
        }
        simulation = Simulation(network: network, endpoints: endpoints, start: Self.start)
        simulation.run(for: .seconds(3))
    }

    /// Cuts every path between both that does not go through the gateway's server.
    func cutDirectPath() {
        simulation.network.setConditions(.cut, from: away.host, to: home.host)
        simulation.network.setConditions(.cut, from: PublicServer.otherRelayed, to: home.host)
        for viewer in [away.host, outside, PublicServer.otherRelayed] {
            simulation.network.setConditions(.cut, from: home.host, to: viewer)
        }
    }

    /// Starts both.
    func begin(knowsViewer: Bool = true) {
        home.gather(away, at: simulation.now)
        away.gather(home, at: simulation.now)
        exchangeCandidates(knowsViewer: knowsViewer)
    }

    /// Restarts ICE on both sides, as a page does with a request to the gateway.
    func restart() {
        home.renewCredentials()
        away.renewCredentials()
        home.restart(away, at: simulation.now)
        away.restart(home, at: simulation.now)
        exchangeCandidates(knowsViewer: true)
    }

    private func exchangeCandidates(knowsViewer: Bool) {
        away.learnCandidates(of: home)
        if knowsViewer { home.learnCandidates(of: away) }
    }

    var areConnected: Bool { home.isConnected && away.isConnected }

    func connect() -> Bool { simulation.run(for: .seconds(20)) { areConnected } }

    /// Runs until the gateway regards the server, which does not answer, as silent; returns whether it does.
    func fallSilent() -> Bool {
        server.isSilent = true
        return simulation.run(for: .seconds(14)) { home.isServerSilent }
    }
}
