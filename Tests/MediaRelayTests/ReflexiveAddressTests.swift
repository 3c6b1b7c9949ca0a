import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import STUN
import Testing
import Transport

@testable import MediaRelay

/// The STUN servers are asked from the media port, and the answers find the shard that asked.
@Suite struct ReflexiveAddressTests {
    private let server = TransportAddress(ipv4: 0xC633_6440, port: 3478)
    private let outside = TransportAddress(ipv4: 0xCB00_7107, port: 40_000)

    /// A STUN server that sees every client at one address.
    private final class Server: SimulatedEndpoint {
        let addresses: [TransportAddress]
        let claimed: TransportAddress
        private(set) var requests = 0
        private var answers: [(bytes: [UInt8], destination: TransportAddress)] = []

        init(_ address: TransportAddress, claiming claimed: TransportAddress) {
            addresses = [address]
            self.claimed = claimed
        }

        func receive(_ datagram: SimulatedDatagram) {
            guard let id = datagram.bytes.withUnsafeBytes({ try? STUNMessage(parsing: $0).transactionID }) else {
                return
            }
            requests += 1
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = bytes.withUnsafeMutableBytes { buffer in
                var builder = STUNMessageBuilder(into: buffer, messageClass: .successResponse, transactionID: id)
                builder.addMappedAddress(claimed)
                return builder.finish()
            }
            answers.append((Array(bytes.prefix(count ?? 0)), datagram.source))
        }

        var nextDeadline: Instant? { nil }

        func handleDeadline(at now: Instant) {}

        func pollTransmit(
            into buffer: UnsafeMutableRawBufferPointer, at now: Instant
        ) -> (transmit: Transmit, source: TransportAddress)? {
            guard !answers.isEmpty else { return nil }
            let answer = answers.removeFirst()
            buffer.copyBytes(from: answer.bytes)
            return (Transmit(destination: answer.destination, byteCount: answer.bytes.count), addresses[0])
        }
    }

    @Test(arguments: [1, 2, 3], [0, 1])
    func theAnswerFindsItsShardByWhicheverDoorItComes(shards: Int, doorShift: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.host.doorShift = doorShift
        let stun = Server(server, claiming: outside)
        world.simulation.endpoints.append(stun)
        world.host.relay.setSTUNServers([server])
        world.run(.seconds(1))
        #expect(world.host.relay.outsideAddresses == [outside])
        #expect(stun.requests == 1)
        world.run(.seconds(60))
        #expect(stun.requests == 5)
        #expect(world.counters.strayDatagrams == 0)
        world.host.relay.setSTUNServers([])
        world.run(.seconds(60))
        #expect(world.host.relay.outsideAddresses.isEmpty)
        #expect(stun.requests == 5)
    }

    @Test func aViewerThatNamesTheServerAsItsCandidateDoesNotGetItsAnswers() throws {
        let world = try RelayWorld(shards: 2)
        let stun = Server(server, claiming: outside)
        world.simulation.endpoints.append(stun)
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        let hostile = try world.addViewer(2)
        try world.relayed(hostile).peer.addRemoteCandidate(.init(address: server, priority: 1 << 30))
        world.host.relay.setSTUNServers([server])
        world.run(.seconds(40))
        #expect(world.host.relay.outsideAddresses == [outside])
        #expect(viewer.isConnected && hostile.isConnected)
    }
}
