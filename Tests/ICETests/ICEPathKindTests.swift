import ICE
import Testing
import Transport

@Suite struct ICEPathKindTests {
    private func kind(
        _ remote: String, _ type: ICECandidateType, local: String? = "192.168.1.10",
        by route: TransportAddress.Route = .direct
    ) throws -> ICEPathKind {
        ICEPathKind(
            remote: try #require(TransportAddress(remote, port: 5000)).by(route), remoteType: type,
            local: try local.map { try #require(TransportAddress($0, port: 8189)) })
    }

    @Test func theRouteDecidesFirst() throws {
        #expect(try kind("198.51.100.7", .serverReflexive, by: .tcp) == .tcp)
        #expect(try kind("198.51.100.7", .host, by: .relayed) == .relayed)
    }

    @Test func whatTheViewerSaysOfItsAddressCounts() throws {
        #expect(try kind("192.168.1.20", .host) == .direct)
        #expect(try kind("192.168.1.20", .serverReflexive) == .reflexive)
        #expect(try kind("198.51.100.7", .relayed) == .relayed)
        // Two hosts with addresses of their own.
        #expect(try kind("198.51.100.7", .host, local: "203.0.113.5") == .direct)
        // The gateway's own router forwards its port.
        #expect(try kind("198.51.100.7", .host) == .reflexive)
    }

    @Test func anAddressThatABrowserHidesIsJudgedByItsNetwork() throws {
        #expect(try kind("192.168.1.20", .peerReflexive) == .direct)
        #expect(try kind("198.51.100.7", .peerReflexive) == .reflexive)
        #expect(try kind("2001:db8::7", .peerReflexive, local: "2001:db8::1") == .direct)
    }
}
