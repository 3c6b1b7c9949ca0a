import PacketFakes
import RTP
import SDP
import Testing
import Transport

@testable import Intake

@Suite struct IncomingTrackCodecTests {
    let vps: [UInt8] = [0x40, 1, 0x0C]
    let sps: [UInt8] = [0x42, 1, 1, 9]
    let pps: [UInt8] = [0x44, 1, 0xC1]
    let idr: [UInt8] = [0x26, 1, 0x80, 5]
    let slice: [UInt8] = [0x02, 1, 0x80, 7]
    var aggregation: [UInt8] { [0x60, 1, 0, 3] + vps + [0, 4] + sps + [0, 3] + pps }

    // MARK: H.265

    @Test func h265ParameterSetsOfTheDescriptionAreInsertedBeforeEachKeyFrame() {
        let harness = TrackHarness(TrackHarness.h265, parameterSets: [pps, vps, sps])
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, idr))
        harness.receive(rtpPacket(2, timestamp: 3000, marker: true, slice))
        harness.receive(rtpPacket(3, timestamp: 6000, marker: true, idr))
        let packets = harness.packets()
        #expect(packets.map(\.payload) == [aggregation, idr, slice, aggregation, idr])
        #expect(packets.map(\.sequenceNumber) == [1000, 1001, 1002, 1003, 1004])
        #expect(packets[0].flags == [.startsFrame, .keyFrame] && packets[1].flags == [.keyFrame, .marker])
        #expect(packets[2].flags == [.startsFrame, .marker])
    }

    /// A sub-layer non-reference picture is needed by no other in the highest temporal layer that there can be.
    @Test func h265FramesThatNoOtherNeedsAreFlagged() {
        // The set's fourth byte says that there are two temporal layers, or one.
        for (layers, expected) in [(UInt8(0x02), [20]), (UInt8(0x00), [10, 20])] as [(UInt8, [UInt32])] {
            let set: [UInt8] = [0x42, 0x01, layers, 1, 1]
            let harness = TrackHarness(TrackHarness.h265, parameterSets: [vps, set, pps])
            // TRAIL_N in the lowest layer and in the next, TRAIL_R, and the first again in fragments.
            harness.receive(rtpPacket(1, timestamp: 10, marker: true, [0x00, 0x01, 0x80, 1]))
            harness.receive(rtpPacket(2, timestamp: 20, marker: true, [0x00, 0x02, 0x80, 1]))
            harness.receive(rtpPacket(3, timestamp: 30, marker: true, [0x02, 0x02, 0x80, 1]))
            let flagged = harness.packets().filter { $0.flags.contains(.unreferenced) }
            #expect(flagged.map(\.timestamp) == expected)
        }
    }

    @Test func h265ParameterSetsThatTheCameraSendsAreNotDoubled() {
        let harness = TrackHarness(TrackHarness.h265)
        for (index, unit) in [[0x46, 1, 0x50], vps, sps, pps, idr].enumerated() {
            harness.receive(rtpPacket(index, timestamp: 0, marker: index == 4, unit))
        }
        // As an aggregation together with the picture, and with a set missing.
        let together = aggregation + [0, 4] + idr
        harness.receive(rtpPacket(5, timestamp: 90, marker: true, together))
        harness.receive(rtpPacket(6, timestamp: 180, sps))
        harness.receive(rtpPacket(7, timestamp: 180, marker: true, idr))
        let packets = harness.packets()
        #expect(packets.map(\.payload) == [vps, sps, pps, idr, vps, sps, pps, idr, aggregation, idr])
        #expect(packets.map { $0.flags.contains(.startsFrame) }.filter { $0 }.count == 3)
        #expect(packets.allSatisfy { $0.flags.contains(.keyFrame) })
    }

    @Test func anH265KeyFrameWithoutParameterSetsOrBeginningDoesNotCount() {
        let bare = TrackHarness(TrackHarness.h265, parameterSets: [vps])
        bare.receive(rtpPacket(1, timestamp: 0, marker: true, idr))
        #expect(bare.packets().map(\.flags) == [[.startsFrame, .marker]])
        let harness = TrackHarness(TrackHarness.h265, parameterSets: [vps, sps, pps])
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, slice))
        harness.receive(rtpPacket(3, timestamp: 9, marker: true, [0x62, 1, 19, 9, 9]))
        #expect(harness.packets().map(\.flags) == [[.startsFrame, .marker], [.startsFrame, .marker]])
    }

    @Test func longH265FragmentsAndUnitsAreSplitAgain() {
        for isFragmented in [false, true] {
            let harness = TrackHarness(TrackHarness.h265, parameterSets: [vps, sps, pps], limit: 100)
            let content = [0x80] + (0..<999).map { UInt8($0 & 0xFF) }
            if isFragmented {
                for (index, start) in stride(from: 0, to: 1000, by: 250).enumerated() {
                    let marks: UInt8 = (start == 0 ? 0x80 : 0) | (start == 750 ? 0x40 : 0)
                    harness.receive(
                        rtpPacket(
                            index, timestamp: 0, marker: start == 750,
                            [0x62, 1, marks | 19] + content[start..<start + 250]))
                }
            } else {
                harness.receive(rtpPacket(1, timestamp: 0, marker: true, [0x26, 1] + content))
            }
            let packets = Array(harness.packets().dropFirst())
            #expect(packets.count == (1000 + 96) / 97)
            #expect(packets.allSatisfy { $0.payload.count <= 100 && $0.payload.starts(with: [0x62, 1]) })
            #expect(packets.flatMap { $0.payload.dropFirst(3) } == content)
            #expect(
                packets.map { $0.payload[2] }
                    == [0x80 | 19] + [UInt8](repeating: 19, count: packets.count - 2) + [0x40 | 19])
            #expect(packets.last?.flags == [.keyFrame, .marker])
        }
    }

    // MARK: Order

    @Test func picturesThatAreNotSentInDisplayOrderAreNoticed() {
        let harness = TrackHarness(TrackHarness.h264)
        for (index, timestamp) in [0, 9000, 3000, 6000, 18000, 12000, 15000, 27000, 21000].enumerated() {
            #expect(!harness.track.reordering.isReordering)
            harness.receive(rtpPacket(index, timestamp: UInt32(timestamp), marker: true, [0x41, 0x9A, 7]))
        }
        #expect(harness.track.reordering.isReordering)
        // A clock that is set back once is not a B-frame.
        let other = TrackHarness(TrackHarness.h264)
        for (index, timestamp) in [9000, 18000, 6000, 15000, 24000].enumerated() {
            other.receive(rtpPacket(index, timestamp: UInt32(timestamp), marker: true, [0x41, 0x9A, 7]))
        }
        #expect(!other.track.reordering.isReordering)
    }

    @Test func aBidirectionalSliceIsNoticedUnlessTheStreamPromisesOrder() {
        // first_mb_in_slice 0, slice_type 6 (B): 1 00111….
        let slice: [UInt8] = [0x01, 0b1001_1100, 0]
        let harness = TrackHarness(TrackHarness.h264)
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, slice))
        #expect(harness.track.reordering.isReordering)
        let fragmented = TrackHarness(TrackHarness.h264)
        fragmented.receive(rtpPacket(1, timestamp: 0, marker: true, [0x1C, 0x81, 0b1001_1100, 0]))
        #expect(fragmented.track.reordering.isReordering)
        // A Baseline stream has none, whatever its slices look like.
        let baseline = TrackHarness(
            TrackHarness.h264,
            parameterSets: [[0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xE9, 0xA8], [0x68, 1]])
        baseline.receive(rtpPacket(1, timestamp: 0, marker: true, slice))
        #expect(!baseline.track.reordering.isReordering)
    }

    // MARK: VP9 and JPEG

    @Test func longVP9PacketsAreSplitAgain() {
        let harness = TrackHarness(TrackHarness.vp9, limit: 100)
        let frame = [0x82] + (0..<499).map { UInt8($0 & 0xFF) }
        harness.receive(rtpPacket(1, timestamp: 0, [0x88, 5] + frame[..<250]))
        harness.receive(rtpPacket(2, timestamp: 0, marker: true, [0x84, 5] + frame[250...]))
        harness.receive(rtpPacket(3, timestamp: 90, marker: true, [0xCC, 6, 0x86, 2]))
        let packets = harness.packets()
        #expect(packets.count == 7)
        #expect(packets[..<6].map { $0.payload[0] } == [0x88, 0x80, 0x80, 0x80, 0x80, 0x84])
        #expect(packets[..<6].flatMap { $0.payload.dropFirst(2) } == frame)
        #expect(packets[..<6].allSatisfy { $0.flags.contains(.keyFrame) })
        #expect(packets[5].flags.contains(.marker) && packets[6].flags == [.startsFrame, .marker])
    }

    @Test func longAV1PacketsAreSplitAgain() {
        let harness = TrackHarness(TrackHarness.av1, limit: 100)
        let key: [UInt8] = [0x28, 3, 0x08, 0, 0, 0x30, 0x10] + (0..<300).map { UInt8($0 & 0xFF) }
        harness.receive(rtpPacket(1, timestamp: 0, marker: true, key))
        harness.receive(rtpPacket(2, timestamp: 3000, marker: true, [0x10, 0x30, 0x30, 1]))
        let packets = harness.packets()
        #expect(packets.count == 5 && packets.allSatisfy { $0.payload.count <= 100 })
        // The first one begins the sequence. All others except the last continue the frame.
        #expect(packets.map { $0.payload[0] & 0xC8 } == [0x48, 0xC0, 0xC0, 0x80, 0])
        #expect(packets.map { $0.flags.contains(.keyFrame) } == [true, true, true, true, false])
        #expect(packets.map { $0.flags.contains(.marker) } == [false, false, false, true, true])
        #expect(packets.map { $0.flags.contains(.startsFrame) } == [true, false, false, false, true])
    }

    @Test func longJPEGPacketsAreSplitWithTheirOffsets() {
        let harness = TrackHarness(TrackHarness.jpeg, limit: 200)
        let data = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let tables = [UInt8](repeating: 9, count: 64)
        harness.receive(
            rtpPacket(1, timestamp: 0, [0, 0, 0, 0, 1, 255, 80, 45, 0, 0, 0, 64] + tables + data[..<400]))
        harness.receive(rtpPacket(2, timestamp: 0, marker: true, [0, 0, 1, 144, 1, 255, 80, 45] + data[400...]))
        let packets = harness.packets()
        #expect(packets.allSatisfy { $0.payload.count <= 200 && $0.flags.contains(.keyFrame) })
        #expect(packets.map { $0.flags.contains(.marker) } == packets.indices.map { $0 == packets.count - 1 })
        var collected: [UInt8] = []
        for packet in packets {
            let header = packet.payload.withUnsafeBytes { JPEGPayloadHeader(parsing: $0) }
            #expect(header?.fragmentOffset == collected.count)
            collected += packet.payload[(header?.length ?? 0)...]
        }
        #expect(collected == data)
    }

    // MARK: Sound

    @Test func linearSoundIsSplitBetweenSamples() {
        let harness = TrackHarness(MediaCodec(name: "L16", clockRate: 44_100, channels: 2), limit: 99)
        harness.receive(rtpPacket(1, timestamp: 7, [UInt8](repeating: 1, count: 200)))
        let packets = harness.packets()
        #expect(packets.map(\.payload.count) == [96, 96, 8])
        #expect(packets.map(\.timestamp) == [7, 31, 55])
    }

    @Test func g722CountsOneByteAsOneTick() {
        let harness = TrackHarness(MediaCodec(name: "G722", clockRate: 8000), limit: 100)
        harness.receive(rtpPacket(1, timestamp: 0, (0..<160).map { UInt8($0) }))
        harness.receive(rtpPacket(2, timestamp: 160, (0..<160).map { UInt8($0) }))
        let packets = harness.packets()
        #expect(packets.flatMap(\.payload) == (0..<2).flatMap { _ in (0..<160).map { UInt8($0) } })
        let first = packets[0].timestamp
        #expect(packets.map { $0.timestamp &- first } == [0, 100, 160, 260])
    }

    @Test(arguments: ["mpeg4-generic", "MP4A-LATM", "G726-32", "opus"])
    func otherSoundIsPassedOnUnchanged(name: String) {
        let harness = TrackHarness(MediaCodec(name: name, clockRate: 8000), limit: 100)
        let payload = [UInt8](repeating: 3, count: 300)
        harness.receive(rtpPacket(1, timestamp: 7, marker: true, payload))
        let packets = harness.packets()
        #expect(packets.map(\.payload) == [payload])
        #expect(packets.map(\.flags) == [[.startsFrame, .keyFrame, .marker]])
    }

    /// Browsers conceal sound whose timestamps do not step by the length of the packets.
    @Test func `timestamps of Opus that are a little off step by the length of the packets`() {
        let harness = TrackHarness(MediaCodec(name: "opus", clockRate: 48_000, channels: 2))
        // 20 ms each. One packet is lost, then the encoder is silent for 200 ms.
        let steps: [(number: Int, timestamp: UInt32)] = [
            (1, 5_000), (2, 5_953), (3, 6_917), (5, 8_850), (6, 18_441), (7, 19_400),
        ]
        for (number, timestamp) in steps {
            harness.now = .zero + .milliseconds(Int64(timestamp / 48))
            harness.receive(rtpPacket(number, timestamp: timestamp, [0x78, 1, 2]))
        }
        #expect(harness.packets().map(\.timestamp) == [5_000, 5_960, 6_920, 8_840, 18_440, 19_400])
    }

    /// An encoder may join three frames of 20 ms in one packet while the line is bad. What is lost, or left out in silence,
    /// is then no multiple of the packet before.
    @Test func `Opus of mixed lengths stays in step behind losses and silence`() {
        let harness = TrackHarness(MediaCodec(name: "opus", clockRate: 48_000, channels: 2))
        let short: [UInt8] = [0x78, 1, 2]
        let long: [UInt8] = [0x7B, 3, 1, 2, 3]
        let silent: [UInt8] = [0x78]
        let steps: [(number: Int, given: UInt32, placed: UInt32, payload: [UInt8])] = [
            (1, 5_000, 5_000, short),
            (2, 5_967, 5_960, long),
            // 20 ms are lost after 60, then 60 after 20.
            (4, 9_794, 9_800, short),
            (6, 13_647, 13_640, long),
            // 40 ms are left out after 60, and 400 after 20.
            (7, 18_431, 18_440, silent),
            (8, 38_612, 38_600, silent),
            (9, 39_550, 39_560, long),
            (10, 42_445, 42_440, long),
            // 60 ms are lost between two of 60.
            (12, 48_190, 48_200, long),
            (13, 51_090, 51_080, short),
        ]
        for step in steps {
            harness.now = .zero + .milliseconds(Int64(step.given / 48))
            harness.receive(rtpPacket(step.number, timestamp: step.given, step.payload))
        }
        #expect(harness.packets().map(\.timestamp) == steps.map { $0.placed })
    }

    @Test func `a clock of Opus that is really off is followed`() {
        var grid = OpusGrid()
        let payload: [UInt8] = [0x78, 1, 2]
        var steps: [UInt32] = []
        var last: UInt32?
        for index in 0..<200 {
            let given = UInt32(index) * 950
            let placed = payload.withUnsafeBytes { grid.place(given, $0) }
            #expect(abs(Int(placed) - Int(given)) <= 240)
            if let last { steps.append(placed - last) }
            last = placed
        }
        // The difference is made up for once in a while, not with each packet.
        #expect(steps.filter { $0 == 960 }.count > 180)
    }

    @Test func `a packet that is not Opus keeps its timestamp`() {
        var grid = OpusGrid()
        // The second one states no frame.
        for (payload, timestamp) in [([0x78, 1], 0), ([0x7B, 0], 970), ([0x78, 1], 1_935)] as [([UInt8], UInt32)] {
            let placed = payload.withUnsafeBytes { grid.place(timestamp, $0) }
            #expect(placed == timestamp)
        }
    }

    // MARK: Input that is not as it should be

    @Test(arguments: [TrackHarness.h265, TrackHarness.vp9, TrackHarness.av1, TrackHarness.jpeg])
    func hostilePayloadsNeverTrapAndStayWithinTheLimit(codec: MediaCodec) {
        let harness = TrackHarness(codec, parameterSets: [vps, sps, pps], limit: 200)
        let starts: [[UInt8]] = [
            aggregation, vps, sps, pps, idr, slice, [0x62, 1, 0x93], [0x62, 1, 0x53], [0x62, 1, 0x13],
            [0x60, 1, 0, 200],
            [0x64, 1], [0x88, 5, 0x82], [0x84, 5], [0x8A, 5, 0xF8], [0, 0, 0, 0, 65, 255, 80, 45, 0, 1, 0xFF, 0xFF],
            [0, 0, 1, 0, 1, 50, 80, 45], [0x28, 3, 0x08, 0, 0, 0x30, 0x10], [0x18, 0x08, 0], [0x10, 0x30, 0x30],
            [0x50, 0x30, 0x10], [0xD0, 1], [0x08, 1, 0x10, 2, 0x30, 0x10],
        ]
        harness.receiveGarbage(beginningWith: starts, seed: 9)
        let packets = harness.packets()
        #expect(packets.count > 500)
        #expect(packets.allSatisfy { !$0.payload.isEmpty && $0.payload.count <= 200 })
    }
}
