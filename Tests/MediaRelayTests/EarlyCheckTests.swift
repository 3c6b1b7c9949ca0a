import DTLS
import DatagramPort
import Glibc
import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Synchronization
import Testing
import Transport

@testable import MediaRelay

/// A viewer's first check may be read before the message that adds its session has run.
@Suite struct EarlyCheckTests {
    @Test func aCheckThatComesBeforeItsSessionWaitsForIt() throws {
        let world = try RelayWorld()
        let early = try world.addViewer(1)
        // As if the message were still on its way.
        let relayed = try world.relayed(early)
        let fragment = try #require(relayed.fragments.first)
        world.shard.byFragment[fragment] = nil
        var check = try #require(firstCheck(of: early, at: world.now))
        let shard = world.shard
        func deliver() {
            check.withUnsafeMutableBytes {
                shard.handle($0, from: early.addresses[0], to: world.host.addresses[0], at: world.now)
            }
        }
        deliver()
        #expect(shard.awaitsMessages && shard.counters.strayDatagrams == 0)
        world.shard.byFragment[fragment] = relayed
        shard.handleMessagesTaken(at: world.now)
        #expect(relayed.status.steps.contains { $0.step == .firstCheck })
        #expect(!shard.awaitsMessages && shard.counters.earlyChecks == 1 && shard.counters.strayDatagrams == 0)

        // One whose session does not come is a stray, and is not kept.
        world.shard.byFragment[fragment] = nil
        deliver()
        shard.handleMessagesTaken(at: world.now)
        #expect(!shard.awaitsMessages && shard.counters.earlyChecks == 1 && shard.counters.strayDatagrams == 1)
    }

    @Test func strangersChecksAreHeldWithinBounds() throws {
        let world = try RelayWorld()
        let shard = world.shard
        let viewer = try world.addViewer(1)
        var check = try #require(firstCheck(of: viewer, at: world.now))
        shard.byFragment = [:]
        for number in 0..<500 {
            check.withUnsafeMutableBytes {
                shard.handle(
                    $0, from: TransportAddress(ipv4: 0x0A00_0000 + UInt32(number), port: 9),
                    to: world.host.addresses[0], at: world.now)
            }
        }
        #expect(shard.counters.strayDatagrams == UInt64(500 - EarlyChecks.maximumCount))
        // Nothing else that nobody wants is held.
        var noise = [UInt8](repeating: 0x80, count: 200)
        noise.withUnsafeMutableBytes {
            shard.handle($0, from: viewer.addresses[0], to: world.host.addresses[0], at: world.now)
        }
        #expect(shard.counters.strayDatagrams == UInt64(501 - EarlyChecks.maximumCount))
        shard.handleMessagesTaken(at: world.now)
        #expect(shard.counters.strayDatagrams == 501 && !shard.awaitsMessages)
        // Large ones fill the bytes before the count.
        var held = EarlyChecks()
        let large = [UInt8](repeating: 0, count: 2_000)
        let taken = (0..<10).count { _ -> Bool in
            let path = DatagramPath(source: viewer.addresses[0], local: viewer.addresses[0], door: 0, holder: nil)
            return large.withUnsafeBytes { held.hold($0, path) }
        }
        #expect(taken == EarlyChecks.maximumBytes / 2_000)
    }

    /// Firefox sends a check over TCP once and waits for the answer, so one that is read before its session must not be lost
    /// on its way from the connection's thread by the first shard to that of the session.
    @Test(arguments: [(1, 0), (2, 0), (2, 1), (3, 2)])
    func aCheckOverTCPWaitsForItsSession(_ shards: Int, _ home: Int) throws {
        let world = try RelayWorld(shards: shards)
        let links = world.host.relay.links
        links.connected.setReader {}
        var random = RandomSource.seeded(7)
        let viewerCredentials = ICECredentials(using: &random)
        let relayCredentials = ShardMark.credentials(for: home, of: shards, using: &random)
        let local = world.host.addresses[0]
        let source = try #require(TransportAddress("198.51.100.1", port: 50_000))
        let pair = try PeerPair(from: source, viewerCredentials, to: local, relayCredentials)
        var connection = try PeerConnection(configuration: pair.offerer, random: .seeded(8), now: world.now)
        var buffer = [UInt8](repeating: 0, count: 1_500)
        let count = buffer.withUnsafeMutableBytes { connection.pollTransmit(into: $0, at: world.now)?.byteCount }
        let check = Array(buffer.prefix(try #require(count)))
        var arrived = HandOver()
        let path = DatagramPath(
            source: source.by(.tcp), local: local.by(.tcp), door: ShardLinks.relayedDoor, holder: nil)
        check.withUnsafeBytes { arrived.append($0, path, next: nil) }
        links.handOver(connected: &arrived)
        // It waits at the session's shard when that takes its turn.
        if home != ShardLinks.relayedDoor { world.host.takeTurn(ShardLinks.relayedDoor) }

        let (status, handle) = (SessionStatus(), world.host.makeHandle(shard: home))
        let configuration = ViewerConfiguration(
            sessionID: "early", peer: pair.answerer, egress: [], talkbackPayloadTypes: [], offerReceived: world.now,
            answerReady: world.now)
        // A message that is posted during a turn runs after the datagrams of that turn.
        links.post(to: home) { shard, _ in
            shard.links.post(to: home) { shard, now in
                shard.add(configuration, as: handle, status: status, notify: { _ in }, at: now)
            }
        }
        world.host.takeTurn(home)
        let counters = world.counters
        #expect(counters.earlyChecks == 1 && counters.strayDatagrams == 0)
        var batch = RelayedQueue.Batch()
        links.connected.take(into: &batch)
        var answers = 0
        batch.drain { packet, peer in
            if peer == source, packet.count > 1, packet[0] == 1, packet[1] == 1 { answers += 1 }
        }
        #expect(answers == 1)
    }

    /// The thread is busy while the session is posted and the check arrives, as it is when many viewers join.
    @Test(arguments: [1, 2, 3]) func aBusyThreadAnswersACheckThatArrivedWithItsSession(_ shards: Int) throws {
        let relay = try MediaRelay(ports: try UDPPortGroup(.loopback(), count: shards))
        defer { relay.stop() }
        let client = try UDPPort(.loopback())
        let host = TransportAddress(ipv4: 0x7F00_0001, port: relay.port.localPort)
        let address = TransportAddress(ipv4: 0x7F00_0001, port: client.localPort)
        var random = RandomSource.system
        let placement = relay.place(for: "front-door")
        let viewerCredentials = ICECredentials(using: &random)
        let relayCredentials = placement.credentials(using: &random)
        let pair = try PeerPair(from: address, viewerCredentials, to: host, relayCredentials)
        var connection = try PeerConnection(
            configuration: pair.offerer, random: .system, now: MonotonicClock.now)

        let (begun, mayGoOn) = (Latch(), Latch())
        relay.shards[placement.shard].post { _, _ in
            begun.open()
            mayGoOn.wait()
        }
        begun.wait()
        // Sent once: no other check replaces one that is dropped.
        var buffer = [UInt8](repeating: 0, count: 1_500)
        let sent = buffer.withUnsafeMutableBytes { bytes -> SendOutcome? in
            guard let transmit = connection.pollTransmit(into: bytes, at: MonotonicClock.now) else { return nil }
            return client.send(UnsafeRawBufferPointer(bytes), transmit: transmit)
        }
        #expect(sent == .sent)
        let configuration = ViewerConfiguration(
            sessionID: "early",
            peer: pair.answerer,
            egress: [], talkbackPayloadTypes: [], offerReceived: MonotonicClock.now, answerReady: MonotonicClock.now)
        relay.addViewer(configuration, status: SessionStatus()) { _ in }
        mayGoOn.open()
        let answer = try #require(client.descriptors.first { $0.family == .ipv4 })
        var waiting = pollfd(fd: answer.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, 60_000) == 1, "the check was dropped")
    }

    private func firstCheck(of viewer: SimulatedViewer, at now: Instant) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1_500)
        let count = buffer.withUnsafeMutableBytes { viewer.connection.pollTransmit(into: $0, at: now)?.byteCount }
        return count.map { Array(buffer[..<$0]) }
    }
}

/// Lets one thread wait for another.
private final class Latch: Sendable {
    private let descriptors: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        descriptors = (ends[0], ends[1])
    }

    deinit {
        close(descriptors.read)
        close(descriptors.write)
    }

    func open() {
        var byte: UInt8 = 1
        precondition(write(descriptors.write, &byte, 1) == 1)
    }

    func wait() {
        var byte: UInt8 = 0
        while read(descriptors.read, &byte, 1) < 0 {}
    }
}
