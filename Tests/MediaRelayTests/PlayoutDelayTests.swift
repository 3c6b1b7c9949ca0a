import NetworkSimulator
import RTP
import Testing

@testable import MediaRelay

/// The header extension that asks a player not to hold pictures back.
@Suite struct PlayoutDelayTests {
    /// A packet as it left the relay. Only its payload is encrypted.
    private struct Sent {
        var timestamp: UInt32
        var number: UInt16
        var delay: [UInt8]?
        var isNumbered: Bool
        var byteCount: Int
    }

    /// From 0 to 400 ms: 12 bits each, in units of 10 ms.
    private static let delay: [UInt8] = [0x00, 0x00, 0x28]
    /// What IPv6's smallest MTU leaves for UDP's payload, without the header of a TURN channel.
    private static let room = 1_280 - 40 - 8 - 4

    /// The packets of one source that were sent to a viewer.
    private static func sent(_ world: RelayWorld, _ viewer: SimulatedViewer, ssrc: UInt32) throws -> [Sent] {
        let packets = world.runs(for: viewer).flatMap { Outbox.packets(of: $0) }.filter { Outbox.ssrc(of: $0) == ssrc }
        return try packets.map { bytes in
            try bytes.withUnsafeBytes { raw -> Sent in
                let packet = try RTPPacketView(parsing: raw)
                return Sent(
                    timestamp: packet.timestamp, number: packet.sequenceNumber,
                    delay: packet.headerExtension(RelayWorld.playoutDelayExtension).map { Array($0) },
                    isNumbered: packet.headerExtension(3) != nil, byteCount: raw.count)
            }
        }
    }

    @Test(arguments: [true, false])
    func keyFramesCarryTheDelayAndNothingElseDoes(isNumbered: Bool) throws {
        let world = try RelayWorld()
        world.run(.seconds(2))
        let viewer = try world.addViewer {
            $0.hasPlayoutDelay = true
            $0.hasTransportSequence = isNumbered
            $0.hasRetransmissionStream = isNumbered
        }
        #expect(world.connect(viewer))
        world.run(.seconds(10))
        #expect(viewer.brokenFrames == 0)
        let isKeyFrameByTimestamp = Dictionary(
            viewer.pictures.map { ($0.timestamp, $0.isKeyFrame) }, uniquingKeysWith: { first, _ in first })
        var count = (keyFrames: 0, others: 0)
        for packet in try Self.sent(world, viewer, ssrc: viewer.videoSSRC) {
            // The last picture may still be on the way.
            guard let isKeyFrame = isKeyFrameByTimestamp[packet.timestamp] else { continue }
            #expect(packet.delay == (isKeyFrame ? Self.delay : nil))
            #expect(packet.isNumbered == isNumbered)
            if isKeyFrame { count.keyFrames += 1 } else { count.others += 1 }
        }
        #expect(count.keyFrames > 30 && count.others > 300)
        let sounds = try Self.sent(world, viewer, ssrc: viewer.audioSSRC)
        #expect(sounds.count > 300)
        #expect(sounds.allSatisfy { $0.delay == nil && $0.isNumbered == isNumbered })
    }

    @Test func aViewerThatHasNotAgreedOnItDoesNotGetIt() throws {
        let world = try RelayWorld()
        world.run(.seconds(2))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(3))
        let sent = try Self.sent(world, viewer, ssrc: viewer.videoSSRC)
        #expect(!sent.isEmpty)
        #expect(sent.allSatisfy { $0.delay == nil })
    }

    /// A player reads the extensions of a lost packet from its retransmission.
    @Test func aRetransmissionHasTheDelayOfItsPacket() throws {
        let world = try RelayWorld()
        world.run(.seconds(2))
        let viewer = try world.addViewer {
            $0.hasPlayoutDelay = true
            $0.asksAgain = false
        }
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let sent = try Self.sent(world, viewer, ssrc: viewer.videoSSRC)
        let first = try #require(sent.first { $0.delay != nil })
        let last = try #require(sent.last { $0.delay == nil })
        viewer.askAgain(for: [first.number, last.number])
        world.run(.milliseconds(40))
        let again = try Self.sent(world, viewer, ssrc: viewer.retransmissionSSRC)
        #expect(again.map(\.delay) == [Self.delay, nil])
        #expect(again.map(\.timestamp) == [first.timestamp, last.timestamp])
    }

    /// Two headers with one number would use a key stream twice.
    @Test func aRetransmissionIsIdenticalBitForBit() throws {
        let world = try RelayWorld(conditions: LinkConditions(latency: .milliseconds(15), loss: 0.1), seed: 3)
        world.run(.seconds(2))
        let viewer = try world.addViewer {
            $0.hasPlayoutDelay = true
            $0.hasTransportSequence = false
            $0.hasRetransmissionStream = false
        }
        #expect(world.connect(viewer))
        world.run(.seconds(20))
        let numbers = try Self.sent(world, viewer, ssrc: viewer.videoSSRC).filter { $0.delay != nil }.map(\.number)
        #expect(Set(numbers).count < numbers.count, "no packet of a key frame was sent again")
        #expect(viewer.brokenFrames == 0)
        #expect(world.host.outbox.keyStreamReuses == 0)
    }

    @Test func theLongestPacketsFitEveryPath() throws {
        let world = try RelayWorld {
            $0.payloadLimit = PayloadLimit.everyPath
            // Full packets only: four bytes of each payload are VP8's descriptor.
            $0.keyFrameSize = 10 * (PayloadLimit.everyPath - 4)
            $0.frameSize = 3 * (PayloadLimit.everyPath - 4)
        }
        world.run(.seconds(1))
        let viewer = try world.addViewer {
            $0.hasPlayoutDelay = true
            $0.asksAgain = false
        }
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let sent = try Self.sent(world, viewer, ssrc: viewer.videoSSRC)
        let first = try #require(sent.first { $0.delay != nil })
        viewer.askAgain(for: [first.number])
        world.run(.milliseconds(40))
        let again = try Self.sent(world, viewer, ssrc: viewer.retransmissionSSRC)
        #expect(again.map(\.byteCount) == [Self.room])
        #expect(sent.map(\.byteCount).max() == Self.room - 2)
    }
}
