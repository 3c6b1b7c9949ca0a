import DatagramPort
import Glibc
import TURNFakes
import Testing
import Transport

@testable import MediaRelay

/// The thread that speaks to a TURN server, and what it reports to the shards. The server is on loopback. On the
/// driver's thread no time passes by itself, so a busy machine makes no request late.
@Suite(.timeLimit(.minutes(10))) struct TURNDriverTests {
    /// A driver in the time of the test.
    private final class TimedDriver: ShardHandler {
        private let driver: TURNDriver
        private let handled: AsyncStream<Int>.Continuation
        private var now = RelayWorld.start

        init(_ driver: TURNDriver, handled: AsyncStream<Int>.Continuation) {
            self.driver = driver
            self.handled = handled
        }

        var nextDeadline: Instant? { nil }

        func handleDeadline(at _: Instant) {}

        func handleWake(at _: Instant) { driver.handleWake(at: now) }

        func handleDatagrams(_ datagrams: DatagramBatch, at _: Instant) {
            driver.handleDatagrams(datagrams, at: now)
            handled.yield(datagrams.count)
        }

        func handleStop(at _: Instant) { driver.handleStop(at: now) }

        func use(_ server: TURNServer?, changed: @escaping @Sendable (TURNState?) -> Void) {
            driver.use(server, changed: changed, at: now)
        }

        func wait(_ duration: Duration) {
            now += duration
            driver.handleDeadline(at: now)
        }
    }

    /// The thread of such a driver.
    private final class DriverThread {
        /// Each change of what is known of the server.
        let states: AsyncStream<TURNState?>
        /// How many datagrams the driver has handled, after each batch.
        let handled: AsyncStream<Int>
        private let changed: AsyncStream<TURNState?>.Continuation
        private let thread: ShardThread<TimedDriver>
        private let links: ShardLinks

        init(_ links: ShardLinks) throws {
            self.links = links
            (states, changed) = AsyncStream.makeStream(of: TURNState?.self)
            let (handled, continuation) = AsyncStream.makeStream(of: Int.self)
            self.handled = handled
            let address = try ShardAddress<TimedDriver>()
            thread = try ShardThread(name: "turn", port: UDPPort(.loopback()), address: address) { context in
                TimedDriver(TURNDriver(context: context, links: links), handled: continuation)
            }
            links.relayed.setReader { address.wake() }
        }

        func use(_ server: TURNServer?) {
            thread.post { [changed] driver, _ in driver.use(server) { changed.yield($0) } }
        }

        /// Lets time pass, and has the driver look at its deadlines after each step.
        func wait(_ steps: [Duration]) {
            thread.post { driver, _ in
                for step in steps { driver.wait(step) }
            }
        }

        func stop() {
            links.relayed.setReader(nil)
            thread.stop()
            thread.join()
        }
    }

    /// A server that answers when the test says so.
    private final class Server {
        private let port: UDPPort
        private let buffers: DatagramBuffers
        private var turn = FakeTURNServer()
        private var client: TransportAddress?
        /// The transaction identifiers of the messages so far.
        private var seen: Set<[UInt8]> = []

        init() throws {
            port = try UDPPort(.loopback())
            buffers = try DatagramBuffers(capacity: 4)
        }

        var address: TransportAddress { TransportAddress(ipv4: 0x7F00_0001, port: port.localPort) }

        var asTURNServer: TURNServer { TURNServer(address: address, username: "gatehouse", password: "secret") }

        /// Answers the next messages of the client. Each has to come within a minute. A repetition is answered too.
        /// - Parameter countsRepetitions: whether a request that is sent again is one of the messages.
        func answer(_ count: Int, countsRepetitions: Bool = false) throws {
            let descriptor = try #require(port.descriptors.first { $0.family == .ipv4 }?.descriptor)
            var answered = 0
            for _ in 0..<100 where answered < count {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let ready = poll(&entry, 1, 60_000)
                try #require(ready == 1)
                guard let batch = port.receive(.ipv4, into: buffers) else { continue }
                for datagram in batch {
                    let bytes = Array(datagram.bytes)
                    let isNew = seen.insert(Array(bytes.dropFirst(8).prefix(12))).inserted
                    if isNew || countsRepetitions { answered += 1 }
                    client = datagram.source
                    guard let answer = turn.handle(bytes) else { continue }
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
        let links = host.relay.links
        let driver = try DriverThread(links)
        defer { driver.stop() }
        driver.use(server.asTURNServer)
        try server.answer(2)
        let allocated = await driver.states.first { $0?.relayedAddresses == [FakeTURNServer.relayed] }
        #expect(allocated != nil)
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
        // Three answers, and what was passed.
        var awaited = 3 + 4
        for await count in driver.handled {
            awaited -= count
            if awaited <= 0 { break }
        }
        var taken = [HandOver](repeating: HandOver(), count: 1 + ShardLinks.outsideSources)
        links.handOvers[ShardLinks.relayedDoor].take(into: &taken)
        #expect(taken.map(\.count).reduce(0, +) == 1)
        #expect(links.strays == 3)
    }

    @Test func `the shards learn at once that the server is silent, and that it answers again`() async throws {
        let address = try #require(TransportAddress("203.0.113.5", port: 8189))
        let host = try RelayHost(address: address, limits: RelayLimits(), seed: 1, now: RelayWorld.start, shards: 2)
        let server = try Server()
        let driver = try DriverThread(host.relay.links)
        defer { driver.stop() }
        driver.use(server.asTURNServer)
        let relayed = [FakeTURNServer.relayed]

        // One request without credentials, and one with them.
        try server.answer(2, countsRepetitions: true)
        let allocated = await driver.states.first { $0?.relayedAddresses == relayed }
        #expect(allocated != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [relayed, relayed])

        // A refresh, and its retransmissions.
        driver.wait([10_000, 500, 1_000, 2_000].map { .milliseconds($0) })
        let silent = await driver.states.first { $0?.isSilent == true }
        #expect(silent != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [[], []])

        try server.answer(4, countsRepetitions: true)
        let answering = await driver.states.first { $0?.isSilent == false }
        #expect(answering != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [relayed, relayed])

        // Without a server there is nothing to offer.
        driver.use(nil)
        let none = await driver.states.first { $0 == nil }
        #expect(none != nil)
        host.settle()
        #expect(host.shards.map(\.relayedAddresses) == [[], []])
    }

    /// The thread of a relay lives in real time. Requests that it repeats meanwhile change nothing.
    @Test func `a relay begins to use a server when it is named, and ends when it is not`() async throws {
        let address = try #require(TransportAddress("203.0.113.5", port: 8189))
        let host = try RelayHost(address: address, limits: RelayLimits(), seed: 1, now: RelayWorld.start)
        let server = try Server()
        let (states, continuation) = AsyncStream.makeStream(of: TURNState?.self)
        try host.relay.setTURNServer(server.asTURNServer, changed: { continuation.yield($0) })
        defer { host.relay.stopRelaying() }
        try server.answer(2)
        let allocated = await states.first { $0?.relayedAddresses == [FakeTURNServer.relayed] }
        #expect(allocated != nil)
        try host.relay.setTURNServer(nil, changed: { continuation.yield($0) })
        let none = await states.first { $0 == nil }
        #expect(none != nil)
        #expect(host.relay.turnState == nil && host.relay.relayedAddresses.isEmpty)
    }
}
