import ICE
import NetworkSimulator
import Testing
import Transport

/// Every way to stand behind a router, on either side, with each thing that the gateway can offer beside UDP.
@Suite struct NetworkMatrixTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    /// Lets both find their addresses, exchange them, and connect.
    /// - Parameter viewerServer: the viewer's own TURN server, which is not the gateway's.
    private func connect(
        gateway: Access, viewer: Access, _ way: Way, viewerServer: Way = .nothing, conditions: LinkConditions,
        seed: UInt64, knowsViewer: Bool = true
    ) throws -> Outcome {
        var network = SimulatedNetwork(seed: seed, conditions: conditions)
        func place(_ access: Access, own: String, inside: String, outside: String) throws -> String {
            guard let nat = access.nat else { return own }
            _ = network.addNAT(
                nat.kind, outside: try #require(TransportAddress(outside, port: 0)),
                inside: [try #require(TransportAddress(inside, port: 0))], firewall: nat.firewall)
            return inside
        }
        let home = try NetworkHost(
            .controlled,
            at: try place(gateway, own: "203.0.113.5", inside: "192.168.1.10", outside: "203.0.113.6"),
            seed: seed &* 2 &+ 1, turnServer: way.server(at: PublicServer.udp), passivePort: way.passivePort,
            start: Self.start)
        let away = try NetworkHost(
            .controlling, at: try place(viewer, own: "198.51.100.7", inside: "10.0.0.2", outside: "198.51.100.9"),
            seed: seed &* 2 &+ 2, turnServer: viewerServer.server(at: PublicServer.otherUDP), start: Self.start)
        let other = PublicServer(at: PublicServer.otherUDP, relayingAt: PublicServer.otherRelayed)
        let simulation = Simulation(
            network: network, endpoints: [home, away, PublicServer(), other], start: Self.start)
        simulation.run(for: .seconds(3))
        home.gather(away, at: simulation.now)
        away.gather(home, at: simulation.now)
        away.learnCandidates(of: home)
        if knowsViewer { home.learnCandidates(of: away) }
        simulation.run(for: .seconds(60)) {
            home.failure != nil || home.isConnected && away.isConnected
        }
        // A better path may still be found.
        if home.failure == nil { simulation.run(for: .seconds(5)) }
        #expect(simulation.stall == nil)
        if let failure = home.failure { return .failure(failure) }
        #expect(away.isConnected)
        return .path(try #require(home.pathKind))
    }

    private static let calm: LinkConditions = {
        var conditions = LinkConditions(latency: .milliseconds(15))
        conditions.jitter = .milliseconds(10)
        return conditions
    }()

    @Test(arguments: Access.allCases, Way.allCases)
    func `each pair of networks connects as well as it can, or says why it does not`(
        gateway: Access, way: Way
    ) throws {
        for (index, viewer) in Access.allCases.enumerated() {
            let outcome = try connect(
                gateway: gateway, viewer: viewer, way, conditions: Self.calm, seed: UInt64(index) + 1)
            let expected = Outcome.expected(gateway: gateway, viewer: viewer, way, knowsViewer: true)
            #expect(outcome == expected, "viewer \(viewer)")
        }
    }

    /// What a viewer gives up that sends no candidates: the gateway cannot open its own router for it.
    @Test(arguments: Access.allCases, Way.allCases)
    func `a viewer without candidates reaches only a gateway that everybody reaches`(
        gateway: Access, way: Way
    ) throws {
        for (index, viewer) in Access.allCases.enumerated() {
            let outcome = try connect(
                gateway: gateway, viewer: viewer, way, conditions: Self.calm, seed: UInt64(index) + 1,
                knowsViewer: false)
            let expected = Outcome.expected(gateway: gateway, viewer: viewer, way, knowsViewer: false)
            #expect(outcome == expected, "viewer \(viewer)")
        }
    }

    /// Browsers use the servers that a page names, so both ends may have one, each by its own transport.
    @Test(arguments: Access.allCases, Way.servers)
    func `a viewer with a TURN server of its own connects as well as it can, beside each server of the gateway`(
        gateway: Access, viewerServer: Way
    ) throws {
        for (index, viewer) in Access.allCases.enumerated() {
            for way in [Way.nothing] + Way.servers {
                let outcome = try connect(
                    gateway: gateway, viewer: viewer, way, viewerServer: viewerServer, conditions: Self.calm,
                    seed: UInt64(index) + 1)
                let expected = Outcome.expected(
                    gateway: gateway, viewer: viewer, way, viewerServer: viewerServer, knowsViewer: true)
                #expect(outcome == expected, "viewer \(viewer), the gateway's server \(way)")
            }
        }
    }

    /// The gateway takes the address of the viewer's server for that of a router.
    @Test(arguments: Access.allCases, Way.servers)
    func `a viewer without candidates reaches only an open gateway through a TURN server of its own`(
        gateway: Access, viewerServer: Way
    ) throws {
        for (index, viewer) in Access.allCases.enumerated() {
            let outcome = try connect(
                gateway: gateway, viewer: viewer, .nothing, viewerServer: viewerServer, conditions: Self.calm,
                seed: UInt64(index) + 1, knowsViewer: false)
            let expected = Outcome.expected(
                gateway: gateway, viewer: viewer, .nothing, viewerServer: viewerServer, knowsViewer: false)
            #expect(outcome == expected, "viewer \(viewer)")
        }
    }

    /// One datagram in ten is lost, and some overtake others.
    @Test(arguments: Way.allCases) func `losses change no outcome`(way: Way) throws {
        var conditions = LinkConditions(latency: .milliseconds(30), loss: 0.1)
        conditions.reordering = 0.05
        for seed in UInt64(1)...3 {
            for gateway in [Access.none, .portRestricted, .symmetric, .blocksUDP] {
                for viewer in [Access.none, .addressRestricted, .symmetric] {
                    let outcome = try connect(
                        gateway: gateway, viewer: viewer, way, conditions: conditions, seed: seed)
                    let expected = Outcome.expected(gateway: gateway, viewer: viewer, way, knowsViewer: true)
                    #expect(outcome == expected, "gateway \(gateway), viewer \(viewer), seed \(seed)")
                }
            }
        }
    }
}
