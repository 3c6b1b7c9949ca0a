import PacketFakes
import RTP
import SDP
import Testing
import Transport

@testable import Intake

@Suite struct IncomingTrackTests {
    let sps: [UInt8] = [0x67, 0x42, 0xE0, 0x1F, 1, 2]
    let pps: [UInt8] = [0x68, 3, 4]
    let idr: [UInt8] = [0x65, 0x88, 5, 6]
    let slice: [UInt8] = [0x41, 0x9A, 7]

    // MARK: H.264 frames

    @Test func theFirstPacketOfAKeyFrameIsFlaggedWhateverComesBeforeThePicture() {
        let harness = TrackHarness(TrackHarness.h264)
        let sei: [UInt8] = [0x06, 5, 1, 0]
        let delimiter: [UInt8] = [0x09, 0xF0]
        for (index, unit) in [delimiter, sps, pps, sei, idr].enumerated() {
            harness.receive(rtpPacket(index, timestamp: 90, marker: index == 4, unit))
        }
        let batches = harness.batches()
        #expect(batches.count == 1)
        let packets = batches.flatMap { $0 }
        #expect(packets.map(\.payload) == [sps, pps, sei, idr])
        #expect(
            packets.map(\.flags) == [
                [.startsFrame, .keyFrame], [.keyFrame], [.keyFrame], [.keyFrame, .marker],
            ])
        #expect(packets.map(\.sequenceNumber) == [1000, 1001, 1002, 1003])
    }

    @Test func parameterSetsOfTheDescriptionAreInsertedAndNumbersStayContinuous() {
        let harness = TrackHarness(TrackHarness.h264, parameterSets: [pps, sps])
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, idr))
        harness.receive(rtpPacket(2, timestamp: 3000, marker: true, slice))
        harness.receive(rtpPacket(3, timestamp: 6000, marker: true, idr))
        let aggregation: [UInt8] = [0x78, 0, 6] + sps + [0, 3] + pps
        let packets = harness.packets()
        #expect(packets.map(\.payload) == [aggregation, idr, slice, aggregation, idr])
        #expect(packets.map(\.sequenceNumber) == [1000, 1001, 1002, 1003, 1004])
        #expect(packets.map(\.timestamp) == [0, 0, 3000, 6000, 6000])
        #expect(packets[0].flags == [.startsFrame, .keyFrame])
        #expect(packets[1].flags == [.keyFrame, .marker])
        #expect(packets[2].flags == [.startsFrame, .marker])
    }

    @Test func parameterSetsThatCameAsAFrameOfTheirOwnGoWithTheNextKeyFrame() {
        let harness = TrackHarness(TrackHarness.h264)
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, [0x78, 0, 6] + sps + [0, 3] + pps))
        harness.receive(rtpPacket(2, timestamp: 10, marker: true, idr))
        let packets = harness.packets()
        #expect(packets.map(\.payload) == [[0x78, 0, 6] + sps + [0, 3] + pps, idr])
        #expect(packets.map(\.timestamp) == [10, 10])
        #expect(packets[0].flags == [.startsFrame, .keyFrame])
    }

    /// `nal_ref_idc` is zero in the slices of a frame that no other frame needs.
    @Test func framesThatNoOtherNeedsAreFlagged() {
        let harness = TrackHarness(TrackHarness.h264, parameterSets: [pps, sps])
        let sei: [UInt8] = [0x06, 5, 1, 0]
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, idr))
        harness.receive(rtpPacket(2, timestamp: 10, sei))
        harness.receive(rtpPacket(3, timestamp: 10, [0x01, 0x9A, 7]))
        harness.receive(rtpPacket(4, timestamp: 10, marker: true, [0x01, 0x1A, 7]))
        harness.receive(rtpPacket(5, timestamp: 20, [0x1C, 0x81, 0x9A, 1]))
        harness.receive(rtpPacket(6, timestamp: 20, marker: true, [0x1C, 0x41, 2, 3]))
        // One with a new parameter set, and one with a slice that is needed.
        harness.receive(rtpPacket(7, timestamp: 30, [0x68, 9, 9]))
        harness.receive(rtpPacket(8, timestamp: 30, marker: true, [0x01, 0x9A, 7]))
        harness.receive(rtpPacket(9, timestamp: 40, [0x01, 0x9A, 7]))
        harness.receive(rtpPacket(10, timestamp: 40, marker: true, [0x21, 0x1A, 7]))
        harness.receive(rtpPacket(11, timestamp: 50, marker: true, slice))
        let flagged = harness.packets().filter { $0.flags.contains(.unreferenced) }
        #expect(flagged.map(\.timestamp) == [10, 10, 10, 20, 20, 40])
    }

    /// The rest of a frame comes soon, and a batch for each part of it would wake every shard.
    @Test func thePacketsOfAnIncompleteFrameWaitForAMoment() {
        let harness = TrackHarness(TrackHarness.h264)
        harness.now = Instant(nanoseconds: 1_000_000_000)
        #expect(harness.track.gatheringEnds == nil)
        harness.receive(rtpPacket(1, timestamp: 0, slice))
        harness.track.flushUnlessGathering(at: harness.now)
        #expect(harness.delivered.isEmpty)
        #expect(harness.track.gatheringEnds == harness.now + .milliseconds(2))
        harness.now = harness.now + .milliseconds(1)
        harness.receive(rtpPacket(2, timestamp: 0, marker: true, slice))
        #expect(harness.delivered == [2] && harness.track.gatheringEnds == nil)
        harness.receive(rtpPacket(3, timestamp: 10, slice))
        harness.track.flushUnlessGathering(at: harness.now)
        harness.receive(rtpPacket(4, timestamp: 10, slice))
        harness.track.flushUnlessGathering(at: harness.now + .milliseconds(1))
        #expect(harness.delivered == [2])
        harness.track.flushUnlessGathering(at: harness.now + .milliseconds(2))
        #expect(harness.delivered == [2, 2])
        // A large frame leaves in parts.
        for number in 5..<20 {
            harness.receive(rtpPacket(number, timestamp: 20, [0x41] + [UInt8](repeating: 7, count: 1_150)))
            harness.track.flushUnlessGathering(at: harness.now)
        }
        #expect(harness.delivered == [2, 2, 15])
    }

    @Test func aPictureWithoutParameterSetsIsNotAKeyFrame() {
        let harness = TrackHarness(TrackHarness.h264)
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, idr))
        #expect(harness.packets().map(\.flags) == [[.startsFrame, .marker]])
    }

    @Test func aKeyFrameWhoseBeginningIsLostDoesNotCount() {
        let harness = TrackHarness(TrackHarness.h264, parameterSets: [sps, pps])
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, slice))
        // The fragment with the start bit never came.
        harness.receive(rtpPacket(3, timestamp: 10, marker: true, [0x7C, 0x45, 9, 9]))
        let packets = harness.packets()
        #expect(packets.count == 2)
        #expect(packets[1].flags == [.startsFrame, .marker])
        #expect(packets[1].sequenceNumber == packets[0].sequenceNumber &+ 2)
    }

    /// Some cameras send a picture in several slices without a delimiter before it, and mark each unit before the picture.
    @Test func `the slices of a picture are one frame, whichever units before it are marked`() {
        let harness = TrackHarness(TrackHarness.h264)
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, sps))
        harness.receive(rtpPacket(2, timestamp: 0, marker: true, pps))
        harness.receive(rtpPacket(3, timestamp: 0, idr))
        // The second slices do not begin with the first macroblock.
        let fragments: [[UInt8]] = [[0x7C, 0x85, 0x44, 5], [0x7C, 0x45, 6, 7]]
        harness.receive(rtpPacket(4, timestamp: 0, fragments[0]))
        harness.receive(rtpPacket(5, timestamp: 0, marker: true, fragments[1]))
        let second: [UInt8] = [0x41, 0x44, 7]
        harness.receive(rtpPacket(6, timestamp: 3000, slice))
        harness.receive(rtpPacket(7, timestamp: 3000, marker: true, second))
        let packets = harness.packets()
        #expect(packets.map(\.payload) == [sps, pps, idr, fragments[0], fragments[1], slice, second])
        #expect(
            packets.map(\.flags) == [
                [.startsFrame, .keyFrame], [.keyFrame], [.keyFrame], [.keyFrame], [.keyFrame, .marker], [.startsFrame],
                [.marker],
            ])
    }

    @Test func newParameterSetsReplaceThoseOfTheDescription() {
        let harness = TrackHarness(TrackHarness.h264, parameterSets: [sps, pps])
        let newSPS: [UInt8] = [0x67, 0x64, 0, 0x28, 9]
        let newPPS: [UInt8] = [0x68, 9]
        for (index, unit) in [newSPS, newPPS, idr].enumerated() {
            harness.receive(rtpPacket(index, timestamp: 0, marker: index == 2, unit))
        }
        harness.receive(rtpPacket(3, timestamp: 10, marker: true, idr))
        #expect(harness.packets()[3].payload == [0x78, 0, 5] + newSPS + [0, 2] + newPPS)
        #expect(harness.track.parameterSets.profileLevel == "640028")
    }

    // MARK: Sizes

    @Test func longFragmentsAreSplitAgainWithoutDoublingTheirNumber() throws {
        let harness = TrackHarness(TrackHarness.h264, parameterSets: [sps, pps], limit: 100)
        let unit: [UInt8] = [0x65] + (0..<1000).map { UInt8($0 == 0 ? 0x88 : $0 & 0xFF) }
        let content = Array(unit.dropFirst())
        var index = 0
        for start in stride(from: 0, to: content.count, by: 120) {
            let end = min(start + 120, content.count)
            let header = 0x05 | (start == 0 ? 0x80 : 0) | (end == content.count ? 0x40 : 0) as UInt8
            harness.receive(
                rtpPacket(index, timestamp: 0, marker: end == content.count, [0x7C, header] + content[start..<end]))
            index += 1
        }
        let packets = Array(harness.packets().dropFirst())
        #expect(packets.count == (1000 + 97) / 98)
        #expect(packets.dropLast().allSatisfy { $0.payload.count == 100 })
        #expect(packets.flatMap { $0.payload.dropFirst(2) } == content)
        #expect(
            packets.map { $0.payload[1] & 0xC0 } == [0x80] + [UInt8](repeating: 0, count: packets.count - 2) + [0x40])
        #expect(packets.map { $0.flags.contains(.marker) } == packets.indices.map { $0 == packets.count - 1 })
        #expect(packets.map(\.sequenceNumber) == packets.indices.map { 1001 + UInt16($0) })
    }

    /// Many cameras and encoders send RTP packets of at most 1,192 bytes.
    @Test func packetsThatFitEveryPathPassUnchanged() {
        let harness = TrackHarness(TrackHarness.h264)
        let unit = (0..<8).map { index -> [UInt8] in
            let marks: UInt8 = index == 0 ? 0x80 : index == 7 ? 0x40 : 0
            return [0x7C, marks | 0x05] + [UInt8](repeating: UInt8(index), count: 1_178)
        }
        for (index, payload) in unit.enumerated() {
            harness.receive(rtpPacket(index, timestamp: 0, marker: index == 7, payload))
        }
        #expect(unit.allSatisfy { 12 + $0.count == 1_192 })
        #expect(harness.packets().map(\.payload) == unit)
    }

    /// Header with two extensions, SRTP tag, number of a retransmission.
    @Test func aPacketAtTheLimitFitsIPv6sSmallestMTU() {
        #expect(40 + 8 + 24 + PayloadLimit.everyPath + 16 + 2 <= 1_280)
    }

    @Test func aLongSingleUnitBecomesFragments() {
        let harness = TrackHarness(TrackHarness.h264, limit: 100)
        let unit: [UInt8] = [0x41, 0x9A] + (0..<300).map { UInt8($0 & 0xFF) }
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, unit))
        let packets = harness.packets()
        #expect(packets.count == 4)
        #expect(packets.allSatisfy { $0.payload[0] == 0x5C && $0.payload[1] & 0x1F == 1 })
        #expect([0x41] + packets.flatMap { $0.payload.dropFirst(2) } == unit)
    }

    @Test func longVP8PacketsAreSplitAgain() {
        let harness = TrackHarness(TrackHarness.vp8, limit: 100)
        let frame = (0..<500).map { UInt8($0 == 0 ? 0 : $0 & 0xFF) }
        harness.receive(rtpPacket(1, timestamp: 0, [0x90, 0x80, 5] + frame[..<250]))
        harness.receive(rtpPacket(2, timestamp: 0, marker: true, [0x80, 0x80, 5] + frame[250...]))
        harness.receive(rtpPacket(3, timestamp: 90, marker: true, [0x90, 0x80, 6, 1, 2]))
        let packets = harness.packets()
        #expect(packets.count == 7)
        #expect(packets[..<6].map { $0.payload[0] } == [0x90, 0x80, 0x80, 0x80, 0x80, 0x80])
        #expect(packets[..<6].flatMap { $0.payload.dropFirst(3) } == frame)
        #expect(packets[..<6].allSatisfy { $0.flags.contains(.keyFrame) })
        #expect(packets[5].flags.contains(.marker))
        #expect(packets[6].flags == [.startsFrame, .marker])
    }

    @Test func longSoundIsSplitWithItsTimestamps() {
        let harness = TrackHarness(MediaCodec(name: "PCMA", clockRate: 8000), limit: 100)
        harness.receive(rtpPacket(1, timestamp: 50, [UInt8](repeating: 1, count: 240)))
        harness.receive(rtpPacket(2, timestamp: 290, [UInt8](repeating: 2, count: 80)))
        let packets = harness.packets()
        #expect(packets.map(\.timestamp) == [50, 150, 250, 290])
        #expect(packets.map(\.payload.count) == [100, 100, 40, 80])
        #expect(packets.allSatisfy { $0.flags.contains([.startsFrame, .keyFrame]) })
    }

    // MARK: Input that is not as it should be

    @Test func otherPayloadTypesAndBrokenPacketsAreOnlyCounted() {
        let harness = TrackHarness(TrackHarness.vp8)
        #expect(!harness.receive(rtpPacket(1, timestamp: 0, payloadType: 13, [1, 2])))
        #expect(!harness.receive([0x80, 96, 0]))
        #expect(!harness.receive(rtpPacket(1, timestamp: 0, [])))
        #expect(harness.packets().isEmpty)
        #expect(harness.track.unusablePackets == 3)
    }

    @Test(arguments: [TrackHarness.h264, TrackHarness.vp8])
    func hostilePayloadsNeverTrapAndStayWithinTheLimit(codec: MediaCodec) {
        let harness = TrackHarness(codec, parameterSets: [sps, pps], limit: 200)
        let starts: [[UInt8]] = [
            [0x78, 0, 6] + sps, [0x7C, 0x85], [0x7C, 0x45], [0x7C, 0x05], sps, pps, idr, slice, [0x90, 0x80], [0x80],
            [0x19],
        ]
        harness.receiveGarbage(beginningWith: starts, seed: 3)
        let packets = harness.packets()
        #expect(packets.count > 1000)
        #expect(packets.allSatisfy { !$0.payload.isEmpty && $0.payload.count <= 200 })
    }
}
