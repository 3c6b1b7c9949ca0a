import DatagramPort
import Glibc
import RTP
import STUN
import StationFakes
import Testing
import Transport

@testable import MediaRelay

/// Viewers' TCP connections, over loopback.
@Suite struct TCPTests {
    private let relay: MediaRelay
    private let port: UInt16

    private static func limits() -> TCPLimits {
        var limits = TCPLimits()
        limits.strangersPerHost = 3
        limits.perHost = 2
        // No test waits for it, however busy the machine is.
        limits.strangerPatience = .seconds(3600)
        limits.patience = .seconds(3600)
        limits.silence = .seconds(3600)
        return limits
    }

    init() throws {
        relay = try MediaRelay(port: UDPPort(.loopback()))
        // Another test may have the media port's number for TCP.
        try relay.acceptConnections(at: 0, limits: Self.limits())
        port = try #require(relay.tcpPort)
    }

    /// A viewer's end of a connection. It waits, but not for ever.
    final class Client {
        let descriptor: Int32
        let port: UInt16

        init(to port: UInt16) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var patience = timeval(tv_sec: 120, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let (number, size) = (descriptor, length)
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, size) }
            }
            try #require(status == 0)
            var own = sockaddr_in()
            _ = withUnsafeMutablePointer(to: &own) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
            }
            self.port = UInt16(bigEndian: own.sin_port)
        }

        deinit { close(descriptor) }

        var address: TransportAddress { TransportAddress(ipv4: 0x7F00_0001, port: port).by(.tcp) }

        func write(_ bytes: [UInt8]) {
            #expect(bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } > 0)
        }

        /// Up to `count` bytes, after those before them; fewer at the end of the connection.
        func read(_ count: Int) -> [UInt8] {
            var found: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while found.count < count {
                let got = recv(descriptor, &buffer, min(buffer.count, count - found.count), 0)
                guard got > 0 else { break }
                found += buffer[..<got]
            }
            return found
        }

        /// Whether the other side closes; false when nothing happens.
        func isClosed() -> Bool {
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, 0)
            return count == 0 || count < 0 && errno == ECONNRESET
        }
    }

    /// A connectivity check, in its frame.
    private static func check(_ fragment: String = "unknown") -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: STUN.sufficientBufferSize)
        let count = bytes.withUnsafeMutableBytes { raw in
            var builder = STUNMessageBuilder(
                into: raw, messageClass: .request, transactionID: STUNTransactionID(high: 1, low: 2))
            builder.addUsername(Array("\(fragment):viewer".utf8))
            builder.addFingerprint()
            return builder.finish() ?? 0
        }
        return [UInt8(count >> 8), UInt8(count & 0xFF)] + bytes[..<count]
    }

    /// Sends a packet as a session would.
    private func send(
        _ packet: [UInt8], to client: Client, as load: RelayedQueue.Load = .control
    ) -> SendOutcome {
        packet.withUnsafeBytes {
            relay.links.connected.send(
                $0, transmit: Transmit(destination: client.address, byteCount: packet.count), as: load)
        }
    }

    @Test(
        arguments: [
            [0, 4, 1, 2, 3, 4], [0, 0], [0xFF, 0xFF, 0, 1], Array("GET / HTTP/1.1\r\n\r\n".utf8),
            // The beginning of the hello that looks like TLS, and TLS itself.
            [0x80, 0x46, 2], [0x16, 3, 1, 2, 0, 1, 0],
            // An answer, and an indication: nobody has asked.
            [0, 20, 1, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 0, count: 12),
        ] as [[UInt8]])
    func aConnectionThatDoesNotBeginWithACheckIsClosed(first: [UInt8]) async throws {
        defer { relay.stop() }
        let client = try Client(to: port)
        client.write(first)
        #expect(client.isClosed())
        let counters = try #require(await relay.tcpCounters())
        #expect(counters.accepted == 1 && counters.strangersClosed == 1 && counters.connections == 0)
    }

    @Test func aConnectionThatBeginsAsTLSDoesIsAnsweredAndThenAsAnyOther() async throws {
        defer { relay.stop() }
        let client = try Client(to: port)
        client.write(Array(Self.hello[..<40]))
        client.write(Array(Self.hello[40...]))
        #expect(client.read(PseudoTLSOpening.serverHello.count) == PseudoTLSOpening.serverHello)
        client.write(Self.check())
        #expect(await relay.tcpCounters()?.connections == 1)
        #expect(send([1, 2, 3], to: client) == .sent)
        #expect(client.read(5) == [0, 3, 1, 2, 3])
    }

    /// What Chromium sends first to a candidate with the transport ssltcp.
    private static let hello: [UInt8] = [
        0x80, 0x46, 1, 3, 1, 0, 0x2D, 0, 0, 0, 0x10, 1, 0, 0x80, 3, 0, 0x80, 7, 0, 0xC0, 6, 0, 0x40, 2, 0, 0x80, 4, 0,
        0x80, 0, 0, 4, 0, 0xFE, 0xFF, 0, 0, 0x0A, 0, 0xFE, 0xFE, 0, 0, 9, 0, 0, 0x64, 0, 0, 0x62, 0, 0, 3, 0, 0, 6,
        0x1F, 0x17, 0x0C, 0xA6, 0x2F, 0, 0x78, 0xFC, 0x46, 0x55, 0x2E, 0xB1, 0x83, 0x39, 0xF1, 0xEA,
    ]

    @Test func aConnectionThatNoSessionOwnsIsClosedInTheEnd() async throws {
        var limits = TCPLimits()
        limits.strangerPatience = .milliseconds(100)
        let impatient = try MediaRelay(port: UDPPort(.loopback()))
        defer {
            impatient.stop()
            relay.stop()
        }
        try impatient.acceptConnections(at: 0, limits: limits)
        let port = try #require(impatient.tcpPort)
        // One says nothing, one half a frame, one a check of nobody.
        let clients = try (0..<3).map { _ in try Client(to: port) }
        clients[1].write(Array(Self.check().prefix(9)))
        clients[2].write(Self.check())
        for client in clients { #expect(client.isClosed()) }
        #expect(await impatient.tcpCounters()?.strangersClosed == 3)
    }

    @Test func theOldestStrangerOfAHostGivesWay() async throws {
        defer { relay.stop() }
        let clients = try (0..<4).map { _ in try Client(to: port) }
        // Optimized code would close them after their last use.
        defer { withExtendedLifetime(clients) {} }
        #expect(clients[0].isClosed())
        let counters = try #require(await relay.tcpCounters())
        #expect(counters.refused == 1 && counters.connections == 3)
    }

    @Test func aStrangerThatSendsCheckAfterCheckIsClosed() async throws {
        defer { relay.stop() }
        let client = try Client(to: port)
        client.write((0..<40).flatMap { _ in Self.check() })
        #expect(client.isClosed())
        #expect(await relay.tcpCounters()?.strangersClosed == 1)
    }

    @Test func whatASessionSendsComesInFramesAndWhatTheViewerSendsReachesTheShard() async throws {
        defer { relay.stop() }
        let client = try Client(to: port)
        defer { withExtendedLifetime(client) {} }
        client.write(Self.check())
        try #require(await eventually { await relay.counters().strayDatagrams == 1 })
        #expect(send([1, 2, 3], to: client) == .sent)
        #expect(client.read(5) == [0, 3, 1, 2, 3])
        // It belongs to a session now, so anything may come.
        // A null packet, and the header of an RTP packet.
        client.write([0, 0] + Self.packet)
        try #require(await eventually { await relay.counters().strayDatagrams == 2 })
        #expect(await relay.tcpCounters()?.connections == 1)
    }

    /// As much as an RTP packet has at least, in its frame.
    private static let packet: [UInt8] = [0, 12, 0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2]

    private static func bytes(_ value: UInt8, count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }

    /// Three bytes on the wire would cost more than a hundred in the queue to the shard. What has come is not taken
    /// here, as by a shard that is busy.
    @Test func framesThatAreTooShortForAnyPacketAreCountedAndGoNoFurther() async throws {
        defer { relay.stop() }
        let listener = try TCPListener(on: TransportAddress(ipv4: 0x7F00_0001, port: 0))
        let port = try #require(listener.localAddress?.port)
        let address = try ShardAddress<TCPDriver>()
        let links = ShardLinks.single()
        let thread = try ShardThread(name: "tcp-test", port: UDPPort(.loopback()), address: address) { context in
            TCPDriver(
                context: context, address: address, listeners: [listener], links: links, ledger: ConnectionLedger(),
                limits: Self.limits())
        }
        defer {
            thread.stop()
            thread.join()
        }
        links.connected.setReader { address.wake() }
        let client = try Client(to: port)
        defer { withExtendedLifetime(client) {} }
        var taken = [HandOver](repeating: HandOver(), count: 1 + ShardLinks.outsideSources)
        client.write(Self.check())
        let hasCome = await eventually {
            links.handOvers[ShardLinks.relayedDoor].take(into: &taken)
            return taken.contains { !$0.isEmpty }
        }
        try #require(hasCome)
        for index in taken.indices { taken[index].removeAll() }
        let answer: [UInt8] = [1, 2, 3]
        let outcome = answer.withUnsafeBytes {
            links.connected.send(
                $0, transmit: Transmit(destination: client.address, byteCount: $0.count), as: .control)
        }
        #expect(outcome == .sent)
        // It belongs to a session now.
        #expect(client.read(5) == [0, 3, 1, 2, 3])
        // Of each kind one byte less than it needs, and one that is of no kind.
        let short: [[UInt8]] = [
            [0x80], [0x80, 96], Array(Self.packet[2..<13]), [0x80, 200, 0, 1, 0, 0, 0], Self.bytes(22, count: 12),
            Self.bytes(0, count: 19), Self.bytes(0xFF, count: 40),
        ]
        let frames: [UInt8] = short.flatMap { [0, UInt8($0.count)] + $0 }
        let rounds = 2_000
        for _ in 0..<rounds { client.write(frames) }
        client.write(Self.packet)
        let hasComeToo = await eventually {
            links.handOvers[ShardLinks.relayedDoor].take(into: &taken)
            return taken.contains { !$0.isEmpty }
        }
        try #require(hasComeToo)
        #expect(taken.map(\.count).reduce(0, +) == 1)
        #expect(links.strays == UInt64(rounds * short.count))
    }

    @Test func aViewerThatDoesNotReadLosesWholePacketsAndFillsNoMemory() async throws {
        defer { relay.stop() }
        let client = try Client(to: port)
        client.write(Self.check())
        try #require(await eventually { await relay.counters().strayDatagrams == 1 })
        let packet = [UInt8](repeating: 7, count: 1200)
        var sent = 0
        while await relay.tcpCounters()?.packetsDropped == 0 {
            for _ in 0..<500 where send(packet, to: client) == .sent { sent += 1 }
            try #require(sent < 200_000)
        }
        // From here the viewer reads again: only whole packets come.
        #expect(send([1], to: client) == .sent)
        var length = client.read(2)
        var packets = 0
        while length == [4, 176] {
            #expect(client.read(1200) == packet)
            packets += 1
            length = client.read(2)
            if packets % 100 == 0 { _ = send([1], to: client) }
        }
        #expect(length == [0, 1] && packets > 0 && packets < sent)
    }

    @Test func mediaWaitsForAViewerThatDoesNotRead() async throws {
        defer { relay.stop() }
        let client = try Client(to: port)
        defer { withExtendedLifetime(client) {} }
        client.write(Self.check())
        try #require(await eventually { await relay.counters().strayDatagrams == 1 })
        let packet = [UInt8](repeating: 7, count: 1200)
        var sent = 0
        while send(packet, to: client, as: .media) == .sent {
            sent += 1
            try #require(sent < 20_000)
            // The thread reports what its connection has taken.
            _ = await relay.tcpCounters()
        }
        #expect(send([1], to: client) == .sent, "what keeps the session alive finds room")
        for _ in 0..<sent { try #require(client.read(1202) == [4, 176] + packet) }
        #expect(client.read(3) == [0, 1, 1])
        #expect(await eventually { send(packet, to: client, as: .media) == .sent })
        let counters = try #require(await relay.tcpCounters())
        #expect(counters.packetsDropped == 0 && counters.connections == 1)
    }

    @Test func oneHostGetsItsShareOfTheConnections() async throws {
        defer { relay.stop() }
        var clients: [Client] = []
        defer { withExtendedLifetime(clients) {} }
        for count in 1...3 {
            let client = try Client(to: port)
            client.write(Self.check())
            try #require(await eventually { await relay.counters().strayDatagrams == UInt64(count) })
            #expect(send([1], to: client) == .sent)
            if count < 3 { #expect(client.read(3) == [0, 1, 1]) }
            clients.append(client)
        }
        #expect(clients[2].isClosed())
        let counters = try #require(await relay.tcpCounters())
        #expect(counters.connections == 2 && counters.refused == 1)
    }

    @Test func aConnectionThatItsSessionGivesUpIsClosedAfterWhatWasSent() async throws {
        defer { relay.stop() }
        let client = try Client(to: port)
        client.write(Self.check())
        try #require(await eventually { await relay.counters().strayDatagrams == 1 })
        #expect(send([1, 2], to: client) == .sent)
        relay.links.connected.close(client.address)
        #expect(client.read(4) == [0, 2, 1, 2])
        #expect(client.isClosed())
        #expect(await relay.tcpCounters()?.connections == 0)
    }

    /// The kernel can refuse to watch a descriptor when memory or watches run out.
    @Test func anAddressThatCannotBeListenedAtIsTriedAgain() async throws {
        defer { relay.stop() }
        let listener = try TCPListener(on: TransportAddress(ipv4: 0x7F00_0001, port: 0))
        let port = try #require(listener.localAddress?.port)
        let address = try ShardAddress<TCPDriver>()
        let reports = Locked<[SystemCallError?]>([])
        let failure = SystemCallError(call: "epoll_ctl", purpose: "test", errorNumber: ENOSPC)
        let links = relay.links
        let thread = try ShardThread(name: "tcp-test", port: UDPPort(.loopback()), address: address) { context in
            var failures = 2
            return TCPDriver(
                context: context, address: address, listeners: [listener], links: links, ledger: ConnectionLedger(),
                limits: Self.limits(), report: { report in reports.withLock { $0.append(report) } },
                watchListener: { context, descriptor, handler throws(SystemCallError) in
                    failures -= 1
                    if failures >= 0 { throw failure }
                    return try context.watch(descriptor, for: .readable, handler: handler)
                })
        }
        defer {
            thread.stop()
            thread.join()
        }
        // The kernel holds the connection until the thread listens.
        let client = try Client(to: port)
        client.write([0, 0])
        #expect(client.isClosed())
        #expect(reports.withLock { $0 } == [failure, nil])
    }

    @Test func theEndOfTheRelayClosesTheConnections() throws {
        let client = try Client(to: port)
        relay.stop()
        #expect(client.isClosed())
        #expect(relay.tcpPort == nil)
    }
}
