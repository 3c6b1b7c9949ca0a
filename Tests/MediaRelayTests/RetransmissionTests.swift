import NetworkSimulator
import RTP
import Testing
import Transport

@testable import MediaRelay

@Suite struct RetransmissionTests {
    @Test(arguments: [0.01, 0.05, 0.2], [true, false])
    func lostPacketsAreRepaired(loss: Double, hasStream: Bool) throws {
        let world = try RelayWorld(conditions: LinkConditions(latency: .milliseconds(15), loss: loss), seed: 3)
        world.run(.seconds(2))
        let viewer = try world.addViewer {
            $0.hasRetransmissionStream = hasStream
            $0.hasTransportSequence = hasStream
        }
        #expect(world.connect(viewer))
        world.run(.seconds(20))
        #expect(viewer.brokenFrames == 0)
        #expect(viewer.pictures.count > 290)
        #expect(viewer.missingPictures <= (loss < 0.1 ? 0 : 10), "\(viewer.missingPictures)")
        let statistics = try world.relayed(viewer).readStatistics()
        #expect(statistics.packetsRetransmitted > UInt64(Double(statistics.packetsSent) * loss * 0.15))
        #expect(statistics.framesDropped == 0)
        #expect(world.host.outbox.keyStreamReuses == 0)
        #expect(try #require(statistics.roundTrip) < .milliseconds(45))
    }

    @Test func theNumbersWrapWithLoss() throws {
        for hasStream in [true, false] {
            let world = try RelayWorld(conditions: LinkConditions(latency: .milliseconds(15), loss: 0.05), seed: 11)
            world.run(.seconds(2))
            let viewer = try world.addViewer {
                $0.hasRetransmissionStream = hasStream
                $0.hasTransportSequence = hasStream
            }
            let relayed = try world.relayed(viewer)
            // As after some minutes; the loss then meets the change of the rollover counter on both streams.
            relayed.egress[0].nextIndex = 65_300
            relayed.egress[0].nextRetransmissionIndex = 65_520
            relayed.egress[1].nextIndex = 65_400
            #expect(world.connect(viewer))
            world.run(.seconds(25))
            #expect(relayed.egress[0].nextIndex > 65_536 + 1_000)
            if hasStream { #expect(relayed.egress[0].nextRetransmissionIndex > 65_540) }
            #expect(viewer.brokenFrames == 0 && viewer.missingPictures == 0)
            #expect(viewer.pictures.count > 380)
            #expect(viewer.sounds.count > 1_100)
            #expect(world.host.outbox.keyStreamReuses == 0)
        }
    }

    /// The packets of one source that were sent to a viewer, by their sequence numbers.
    private func packets(
        _ world: RelayWorld, _ viewer: SimulatedViewer, ssrc: UInt32
    ) -> [(at: Instant, number: UInt16, bytes: [UInt8])] {
        world.runs(for: viewer).flatMap { run in
            Outbox.packets(of: run).filter { Outbox.ssrc(of: $0) == ssrc }.map {
                (run.at, Outbox.sequenceNumber(of: $0), Array($0))
            }
        }
    }

    @Test func withoutARetransmissionStreamThePacketIsSentAgainUnchanged() throws {
        let world = try RelayWorld()
        world.run(.seconds(2))
        let viewer = try world.addViewer {
            $0.hasRetransmissionStream = false
            $0.hasTransportSequence = false
            $0.asksAgain = false
        }
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        // Some of the compressed backlog, some of the live edge.
        let sent = packets(world, viewer, ssrc: viewer.videoSSRC)
        let wanted = [sent[2], sent[40], sent[sent.count - 3]]
        viewer.askAgain(for: wanted.map(\.number))
        let before = sent.count
        world.run(.milliseconds(15))
        let again = packets(world, viewer, ssrc: viewer.videoSSRC)[before...].filter { packet in
            wanted.contains { $0.number == packet.number }
        }
        #expect(again.count == 3)
        for packet in again { #expect(wanted.contains { $0.bytes == packet.bytes }) }
        #expect(world.host.outbox.keyStreamReuses == 0)
    }

    @Test func aRetransmissionStreamCarriesTheOriginalNumber() throws {
        let world = try RelayWorld()
        world.run(.seconds(2))
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let sent = packets(world, viewer, ssrc: viewer.videoSSRC)
        let numbers = [sent[2].number, sent[40].number, sent[sent.count - 3].number]
        let before = viewer.retransmissions
        viewer.askAgain(for: numbers)
        world.run(.milliseconds(30))
        #expect(viewer.retransmissions - before == 3)
        let again = packets(world, viewer, ssrc: viewer.retransmissionSSRC)
        #expect(
            again.map(\.bytes.count).sorted()
                == numbers.map { number in
                    (sent.first { $0.number == number }?.bytes.count ?? 0) + 2
                }.sorted())
        #expect(Set(again.map(\.number)).count == 3)
    }

    @Test func oneLossIsRepairedOncePerRoundTrip() throws {
        let world = try RelayWorld()
        world.run(.seconds(3))
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.seconds(4))
        let number = try #require(packets(world, viewer, ssrc: viewer.videoSSRC).last).number
        for _ in 0..<5 {
            viewer.askAgain(for: [number])
            world.run(.milliseconds(1))
        }
        world.run(.milliseconds(25))
        #expect(packets(world, viewer, ssrc: viewer.retransmissionSSRC).count == 1)
        viewer.askAgain(for: [number])
        world.run(.milliseconds(40))
        #expect(packets(world, viewer, ssrc: viewer.retransmissionSSRC).count == 2)
    }

    @Test func aRepairThatWouldComeTooLateBecomesAKeyFrame() throws {
        let world = try RelayWorld { $0.keyFrameInterval = nil }
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.seconds(5))
        let sent = packets(world, viewer, ssrc: viewer.videoSSRC)
        let late = try #require(sent.first { $0.at > world.now - .milliseconds(2_100) }).number
        let inTime = try #require(sent.first { $0.at > world.now - .milliseconds(1_900) }).number
        let asked = world.camera.requests.count
        viewer.askAgain(for: [late, inTime])
        world.run(.milliseconds(30))
        // The ring holds both.
        #expect(viewer.retransmissions == 1)
        #expect(try world.relayed(viewer).readStatistics().retransmissionsRefused == 1)
        #expect(world.camera.requests.count == asked + 1)
        // The next key frame helps with everything before it.
        world.run(.seconds(3))
        for _ in 0..<20 {
            viewer.askAgain(for: [late, inTime])
            world.run(.milliseconds(100))
        }
        #expect(viewer.retransmissions == 1)
        #expect(world.camera.requests.count == asked + 1)
    }

    @Test func theBacklogOfANewViewerIsRetransmittedAlthoughItIsOld() throws {
        let world = try RelayWorld { $0.keyFrameInterval = nil }
        world.run(.seconds(8))
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.milliseconds(500))
        // It came to the relay eight seconds ago, and to the viewer half a second ago.
        viewer.askAgain(for: [try #require(packets(world, viewer, ssrc: viewer.videoSSRC).first).number])
        world.run(.milliseconds(30))
        #expect(viewer.retransmissions == 1)
    }

    @Test func aFloodOfRequestsIsBounded() throws {
        let world = try RelayWorld { $0.frameSize = 20_000 }
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.seconds(3))
        let numbers = packets(world, viewer, ssrc: viewer.videoSSRC).suffix(140).map(\.number)
        try #require(numbers.count == 140)
        // The bound holds for all messages together: what one leaves out another cannot ask for.
        viewer.askAgain(for: Array(numbers.prefix(70)))
        viewer.askAgain(for: Array(numbers.suffix(70)))
        world.run(.milliseconds(12))
        let again = packets(world, viewer, ssrc: viewer.retransmissionSSRC)
        #expect(again.count == 128)
    }
}
