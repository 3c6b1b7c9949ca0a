import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import RTP
import STUN
import Testing
import Transport

@testable import MediaRelay

@Suite struct SessionTests {
    @Test func aViewerThatVanishesIsReleased() throws {
        let world = try RelayWorld()
        let gone = try world.addViewer(1)
        let stays = try world.addViewer(2)
        #expect(world.connect(gone) && world.connect(stays))
        world.run(.seconds(20))
        gone.hasVanished = true
        world.run(.seconds(22))
        #expect(world.shard.viewers.count == 2)
        world.run(.seconds(10))
        #expect(world.shard.viewers.count == 1)
        #expect(gone.notices.all.count == 2)
        #expect(gone.status.end == .connectionFailed(.consentExpired))
        let shard = world.shard
        #expect(shard.byAddress.count == 1 && shard.byFragment.count == 1 && shard.byAskedAddress.count <= 1)
        #expect(shard.tracks.values.allSatisfy { $0.viewers.count == 1 })
        #expect(stays.missingPictures == 0)
        let counters = shard.readCounters()
        #expect(counters.connected == 2 && counters.ended == 1 && counters.viewers == 1)
    }

    @Test func anEndedSessionSaysGoodbye() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let now = world.now
        world.shard.dismiss(try world.relayed(viewer), because: .removed, at: now)
        world.run(.seconds(1))
        #expect(viewer.goodbyes == [viewer.videoSSRC, viewer.audioSSRC])
        #expect(viewer.goodbyeReason == "the session was ended")
        #expect(viewer.failure?.reason == .closedByPeer)
        #expect(try #require(viewer.failure).at - now == .milliseconds(10))
        #expect(world.shard.viewers.isEmpty && world.shard.byAddress.isEmpty && world.shard.byFragment.isEmpty)
        #expect(viewer.notices.all.last == .ended(.removed))
        // What still arrives belongs to nobody.
        let stray = world.shard.counters.strayDatagrams
        viewer.sendRaw([0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
        world.run(.seconds(1))
        #expect(world.shard.counters.strayDatagrams >= stray)
    }

    private static let goodbyes: [(RelayEnd, String?, String)] = [
        (.viewer(.revoked), nil, "the camera was switched off, or a privacy mode was switched on"),
        (.removed, "the lease was not extended", "the lease was not extended"),
        (.shuttingDown, nil, "the gateway is shutting down"),
    ]

    @Test(arguments: Self.goodbyes)
    func aGoodbyeSaysWhy(_ end: RelayEnd, _ words: String?, _ said: String) throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        world.shard.dismiss(try world.relayed(viewer), because: end, saying: words, at: world.now)
        world.run(.seconds(1))
        #expect(viewer.goodbyeReason == said)
    }

    @Test func theViewersEndEndsTheSessionAtOnce() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        viewer.connection.close()
        world.run(.milliseconds(100))
        #expect(world.shard.viewers.isEmpty)
    }

    @Test func aRemovedCameraEndsItsSessions() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        world.camera.isRunning = false
        world.shard.removeCamera("door", at: world.now)
        world.run(.seconds(1))
        #expect(viewer.goodbyes.count == 2)
        #expect(viewer.goodbyeReason == "the camera no longer sends this track")
        #expect(world.shard.viewers.isEmpty && world.shard.tracks.isEmpty && world.shard.tracksByInlet.isEmpty)
        #expect(world.shard.nextDeadline == nil)
    }

    /// Answers to checks name no session, and a lite agent sends nothing else.
    @Test func anAnswerFromAnAddressThatHasSentNoCheckFindsItsSession() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer(7)
        viewer.hasVanished = true
        let relayed = try world.relayed(viewer)
        let address = try #require(TransportAddress("198.51.100.200", port: 3478))
        relayed.peer.addRemoteCandidate(RemoteCandidate(address: address, priority: 1))
        world.host.now = world.now
        world.shard.service(relayed, at: world.now)
        let check = try #require(world.host.outbox.waiting.first { $0.transmit.destination == address })
        world.run(.milliseconds(1))
        var key = MessageIntegrityKey(viewer.password)
        var answer = [UInt8](repeating: 0, count: 600)
        let count = try answer.withUnsafeMutableBytes { buffer -> Int in
            let request = try check.bytes.withUnsafeBytes { try STUNMessage(parsing: $0).transactionID }
            var builder = STUNMessageBuilder(into: buffer, messageClass: .successResponse, transactionID: request)
            builder.addMappedAddress(world.host.addresses[0])
            builder.addMessageIntegrity(&key)
            builder.addFingerprint()
            return builder.finish() ?? 0
        }
        #expect(count > 0)
        #expect(world.shard.byAddress[address] == nil)
        world.host.receive(
            SimulatedDatagram(
                bytes: Array(answer[..<count]), source: address, destination: world.host.addresses[0],
                arrival: world.now))
        #expect(world.shard.byAddress[address] === relayed)
        world.shard.end(relayed, because: .removed)
        #expect(world.shard.byAskedAddress.isEmpty && world.shard.byAddress.isEmpty)
    }

    @Test func aCandidateThatComesAfterThePathGivesItItsKind() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        let relayed = try world.relayed(viewer)
        let address = try #require(relayed.remoteAddress)
        #expect(viewer.status.path == .reflexive)
        world.shard.addRemoteCandidates(
            [RemoteCandidate(address: address, priority: 1, type: .relayed)], to: relayed, at: world.now)
        #expect(viewer.status.path == .relayed)
        #expect(world.counters.viewersByPath == [.relayed: 1])
    }

    @Test func aViewerMayMoveAndRestart() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        var random = RandomSource.seeded(3)
        for _ in 0..<6 {
            let (mine, theirs) = (ICECredentials(using: &random), ICECredentials(using: &random))
            let relayed = try world.relayed(viewer)
            world.host.now = world.now
            world.shard.restartICE(relayed, local: mine, remote: theirs, at: world.now)
            viewer.connection.restartICE(local: theirs, remote: mine, at: world.now)
            viewer.connection.addRemoteCandidate(RemoteCandidate(address: world.host.addresses[0], priority: 5))
            world.run(.seconds(3))
        }
        #expect(world.shard.byFragment.count <= 4)
        #expect(viewer.missingPictures == 0)
        world.run(.seconds(40))
        #expect(viewer.isConnected && viewer.missingPictures == 0)
    }

    private final class Microphone: TalkbackSink {
        let packets = Locked<[(bytes: [UInt8], sequenceNumber: UInt16)]>([])

        func receive(
            _ payload: UnsafeRawBufferPointer, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32,
            at now: Instant
        ) {
            let bytes = Array(payload)
            packets.withLock { $0.append((bytes, sequenceNumber)) }
        }

        var count: Int { packets.withLock { $0.count } }
    }

    @Test func theMicrophoneIsHeardWhileItsGateIsOpen() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        let relayed = try world.relayed(viewer)
        let microphone = Microphone()
        func speak() {
            for _ in 0..<50 {
                viewer.speak([1, 2, 3])
                world.run(.milliseconds(20))
            }
        }
        speak()
        #expect(microphone.count == 0)
        relayed.talkback.sink = microphone
        speak()
        #expect(microphone.count == 50 || microphone.count == 51)
        // Padding-only probes, payload types that were not agreed on, and garbage are not speech.
        let heard = microphone.count
        viewer.speak([0, 0, 3], padding: true)
        viewer.speak([1, 2, 3], payloadType: 96)
        viewer.sendRaw([0x80, 111] + [UInt8](repeating: 7, count: 40))
        world.run(.milliseconds(100))
        #expect(microphone.count <= heard + 1)
        let before = microphone.count
        relayed.talkback.sink = nil
        speak()
        #expect(microphone.count == before)
        let statistics = relayed.readStatistics()
        #expect(statistics.talkbackPackets == 150)
        #expect(statistics.refusedDatagrams == 1)
        world.run(.seconds(6))
        // The talker gets a report about its packets.
        let block = try #require(viewer.reportBlocks.last { $0.ssrc == 4711 })
        #expect(block.cumulativeLost == 0)
    }

    @Test func hostileReportsChangeNothing() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        var random = RandomSource.seeded(12)
        for _ in 0..<2_000 {
            viewer.send { writer in
                writer.write(UInt8(0x80 | UInt8(random.next() % 32)))
                writer.write(UInt8(200 + random.next() % 8))
                let words = random.next() % 40
                writer.write(UInt16(random.next() % 8 == 0 ? random.next() % 65_536 : words))
                for _ in 0..<max(words, 1) { writer.write(UInt32(truncatingIfNeeded: random.next())) }
            }
            world.run(.milliseconds(1))
        }
        world.run(.seconds(10))
        #expect(viewer.missingPictures == 0 && viewer.hasContinuousSequence)
        #expect(world.shard.viewers.count == 1)
    }
}
