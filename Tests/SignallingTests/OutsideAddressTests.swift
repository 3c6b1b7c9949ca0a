import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling

/// A viewer that has reached the gateway by a name, as all viewers of a home with a name do, has shown no outside address.
@Suite(.ownThread) struct OutsideAddressTests {
    private let outside = TransportAddress(ipv4: 0xCB00_7109, port: 41_000)

    /// The passive candidates of an answer, the best first.
    private func passive(_ world: ServiceWorld) async throws -> [String] {
        let response = try await world.start(ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp"))
        let answer = try SessionDescription(parsing: response.answerSdp)
        return answer.media.flatMap(\.candidates).filter { $0.transport == .tcp && $0.tcpType == "passive" }
            .sorted { $0.priority > $1.priority }.map { "\($0.host):\($0.port)" }
    }

    private func makeWorld() async throws -> ServiceWorld {
        let world = try await ServiceWorld(
            interfaceAddresses: [try #require(TransportAddress("192.0.2.44", port: 0))])
        try world.relay.acceptConnections(at: 0)
        return world
    }

    @Test func `TCP is offered at the address that is seen from outside`() async throws {
        let world = try await makeWorld()
        defer { world.relay.stop() }
        let port = try #require(world.relay.tcpPort)
        #expect(try await passive(world) == ["192.0.2.44:\(port)", "127.0.0.1:\(port)"])
        // The UDP port that is seen there says nothing about the TCP port.
        world.relay.setMappedAddresses([outside])
        #expect(
            try await passive(world) == ["192.0.2.44:\(port)", "127.0.0.1:\(port)", "203.0.113.9:\(port)"])
    }

    @Test func `a TCP port that the router forwards is offered in place of the gateway's own`() async throws {
        let world = try await makeWorld()
        defer { world.relay.stop() }
        let port = try #require(world.relay.tcpPort)
        world.relay.setMappedAddresses([outside])
        let forwarded = outside.withPort(50_443)
        world.forwardedTCPAddresses.withLock { $0 = [forwarded] }
        #expect(try await passive(world) == ["192.0.2.44:\(port)", "127.0.0.1:\(port)", "203.0.113.9:50443"])
    }

    @Test func `a gateway that takes no connections offers none outside`() async throws {
        let world = try await ServiceWorld()
        world.relay.setMappedAddresses([outside])
        world.forwardedTCPAddresses.withLock { $0 = [TransportAddress(ipv4: 0xCB00_7109, port: 443)] }
        #expect(try await passive(world).isEmpty)
    }
}
