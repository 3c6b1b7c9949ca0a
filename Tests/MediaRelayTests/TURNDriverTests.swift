import DatagramPort
import Glibc
import TURNFakes
import Testing
import Transport

@testable import MediaRelay

/// The thread that speaks to a TURN server, and what it reports to the shards. The server is on loopback; the test sets
/// the thread's time.
@Suite(.timeLimit(.minutes(5))) struct TURNDriverTests {
    /// A server that answers when the test says so.
    private final class Server {
        private let port: UDPPort
        private let buffers: DatagramBuffers
        private var turn = FakeTURNServer()
        private var client: TransportAddress?

        init() throws {
            port = try UDPPort(.loopback())
            buffers = try DatagramBuffers(capacity: 4)
        }

        var address: TransportAddress { TransportAddress(ipv4: 0x7F00_0001, port: port.localPort) }

        /// Answers the next messages of the client. Each has to come within a minute.
        func answer(_ count: Int) throws {
            let descriptor = try #require(port.descriptors.first { $0.family == .ipv4 }?.descriptor)
            var answered = 0
            for _ in 0..<100 where answered < count {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let ready = poll(&entry, 1, 60_000)
                try #require(ready == 1)
                guard let batch = port.receive(.ipv4, into: buffers) else { continue }
                for datagram in batch {
                    answered += 1
                    client = datagram.source
                    guard let answer = turn.handle(Array(datagram.bytes)) else { continue }
                    let transmit = Transmit(destination: datagram.source, byteCount: answer.count)
                    _ = answer.withUnsafeBytes { port.send($0, transmit: transmit) }
                }
            }
            #expect(answered == count)
        }

        /// Passes a peer's datagram to the client.
        func pass(_ bytes: [UInt8], from peer: TransportAddress) throws {
            let indication = turn.indication(from: peer, bytes)
            let transmit = Transmit(destination: try #require(client), byteCount: indication.count)
            let outcome = indication.withUnsafeBytes { port.send($0, transmit: transmit) }
            #expect(outcome == .sent)
        }
    }

    /// A server that is reached over a stream could send very many of them in little time.
    @Test func `data that is too short for any packet is counted and goes no further`() async throws {
        let address = try #require(TransportAddress("203.0.113.5", port: 8189))
        let host = try RelayHost(address: address, limits: RelayLimits(), seed: 1, now: RelayWorld.start)
        let server = try Server()
        let (states, continuation) = AsyncStream.makeStream(of: TURNState?.self)
        try host.relay.setTURNServer(
            TURNServer(address: server.address, username: "gatehouse", password: "secret"),
            changed: { continuation.yield($0) })
        defer { host.relay.stopRelaying() }
        try server.answer(2)
        let allocated = await states.first { $0?.relayedAddresses == [FakeTURNServer.relayed] }
        #expect(allocated != nil)
        let links = host.relay.links
        let peer = TransportAddress(ipv4: 0xC633_6407, port: 5000)
        let check: [UInt8] = [0, 1, 0, 0]
        let outcome = check.withUnsafeBytes {
            links.relayed.send(
                $0, transmit: Transmit(destination: peer.by(.relayed), byteCount: $0.count), as: .control)
        }
        #expect(outcome == .sent)
        // The permission, and what waited for it.
        try server.answer(2)
        for bytes in [[0x80], [0x80, 96, 0, 1], [0xFF]] as [[UInt8]] { try server.pass(bytes, from: peer) }
        try server.pass([0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2], from: peer)
        var taken = [HandOver](repeating: HandOver(), count: 1 + ShardLinks.outsideSources)
        for _ in 0..<1_000_000 where !taken.contains(where: { !$0.isEmpty }) {
            links.handOvers[ShardLinks.relayedDoor].take(into: &taken)
            await Task.yield()
        }
        #expect(taken.map(\.count).reduce(0, +) == 1)
        #expect(links.strays == 3)
    }

    @Test func `the shards learn at once that the server is silent, and that it answers again`() async throws {
        let address = try #require(TransportAddress("203.0.113.5", port: 8189))
        let host = try RelayHost(address: address, limits: RelayLimits(), seed: 1, now: RelayWorld.start, shards: 2)
        let server = try Server()
        let (states, continuation) = AsyncStream.makeStream(of: TURNState?.self)
        try host.relay.setTURNServer(
            TURNServer(address: server.address, username: "gatehouse", password: "secret"),
            changed: { continuation.yield($0) })
        defer { host.relay.stopRelaying() }
        let relayed = [FakeTURNServer.relayed]

        // One request without credentials, and one with them.
        try server.answer(2)
        let allocated = await states.first { $0?.relayedAddresses == relayed }
        #expect(allocated != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [relayed, relayed])

        // A refresh, and its retransmissions.
        let thread = try #require(host.relay.turnThread.withLock { $0 })
        thread.post { driver, now in
            for delay in [10_000, 10_500, 11_500, 13_500] { driver.handleDeadline(at: now + .milliseconds(delay)) }
        }
        let silent = await states.first { $0?.isSilent == true }
        #expect(silent != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [[], []])

        try server.answer(4)
        let answering = await states.first { $0?.isSilent == false }
        #expect(answering != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [relayed, relayed])

        // Without a server there is nothing to offer.
        try host.relay.setTURNServer(nil, changed: { continuation.yield($0) })
        let none = await states.first { $0 == nil }
        #expect(none != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [[], []])
    }
}
