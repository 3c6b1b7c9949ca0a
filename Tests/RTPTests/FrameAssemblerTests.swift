import RTP
import Testing
import Transport

/// Frames of a stream with their packets.
struct TestStream {
    var frames: [[UInt8]] = []
    var packets: [[SentPacket]] = []

    /// A VP8 stream: every `keyInterval`th frame is a key frame.
    static func vp8(frames count: Int, keyInterval: Int = 30, first: UInt16 = 65_500) -> TestStream {
        var stream = TestStream()
        var packetizer = VP8Packetizer(firstPictureID: 0x7FF0)
        var number = first
        for index in 0..<count {
            let isKey = index % keyInterval == 0
            let frame = [isKey ? 0x50 : 0x51] + pattern(isKey ? 6_000 : 1_500 + index * 7 % 900, seed: index)
            var packets: [SentPacket] = []
            frame.withUnsafeBytes {
                packetizer.packetize($0) {
                    packets.append(
                        SentPacket(
                            sequenceNumber: number, timestamp: UInt32(index) &* 6_000 &- 30_000, marker: $0.isLast,
                            payload: Array($0.bytes)))
                    number &+= 1
                }
            }
            stream.frames.append(frame)
            stream.packets.append(packets)
        }
        return stream
    }

    /// An H.264 stream with start codes of four bytes.
    static func h264(frames count: Int, keyInterval: Int = 30) -> TestStream {
        var stream = TestStream()
        var number: UInt16 = 65_530
        for index in 0..<count {
            let isKey = index % keyInterval == 0
            var units: [[UInt8]] = [[isKey ? 0x65 : 0x41, isKey ? 0x88 : 0x9A] + pattern(isKey ? 5_000 : 1_400) + [9]]
            if isKey { units = [H264PacketTests.parameters, H264PacketTests.picture] + units }
            let frame = units.flatMap { [0, 0, 0, 1] as [UInt8] + $0 }
            var packets: [SentPacket] = []
            frame.withUnsafeBytes {
                H264Packetizer().packetize(annexB: $0) {
                    packets.append(
                        SentPacket(
                            sequenceNumber: number, timestamp: UInt32(index) * 6_000, marker: $0.isLast,
                            payload: Array($0.bytes)))
                    number &+= 1
                }
            }
            stream.frames.append(frame)
            stream.packets.append(packets)
        }
        return stream
    }
}

extension FrameAssembler {
    mutating func insert(_ packet: SentPacket, at now: Instant) {
        packet.payload.withUnsafeBytes {
            insert(
                sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                payload: $0, at: now)
        }
    }

    mutating func allFrames(at now: Instant) -> [EncodedFrame] {
        var frames: [EncodedFrame] = []
        while let frame = nextFrame(at: now) { frames.append(frame) }
        return frames
    }
}

@Suite struct FrameAssemblerTests {
    @Test func wholeVP8FramesComeOutAsTheyWentIn() {
        let stream = TestStream.vp8(frames: 90)
        var assembler = FrameAssembler(format: .vp8)
        var received: [EncodedFrame] = []
        for (index, packets) in stream.packets.enumerated() {
            for packet in packets { assembler.insert(packet, at: .ms(index * 66)) }
            received += assembler.allFrames(at: .ms(index * 66))
            #expect(received.count == index + 1)
        }
        #expect(received.map(\.data) == stream.frames)
        #expect(received.map(\.isKeyFrame) == (0..<90).map { $0 % 30 == 0 })
        #expect(received[1].timestamp == UInt32(6_000) &- 30_000)
        #expect(received[1].firstArrival == .ms(66))
        var expected = FrameAssembler.Counters()
        expected.frames = 90
        expected.keyFrames = 3
        #expect(assembler.counters == expected)
        #expect(assembler.nextDeadline == nil)
    }

    @Test func wholeH264FramesComeOutAsTheyWentIn() {
        let stream = TestStream.h264(frames: 60)
        var assembler = FrameAssembler(format: .h264)
        var received: [EncodedFrame] = []
        for (index, packets) in stream.packets.enumerated() {
            for packet in packets { assembler.insert(packet, at: .ms(index * 66)) }
            received += assembler.allFrames(at: .ms(index * 66))
        }
        #expect(received.map(\.data) == stream.frames)
        #expect(received.filter(\.isKeyFrame).count == 2)
    }

    @Test(arguments: [FrameAssembler.Format.vp8, .h264])
    func orderDoesNotMatterWithinTheDelay(format: FrameAssembler.Format) {
        let stream = format == .vp8 ? TestStream.vp8(frames: 60) : TestStream.h264(frames: 60)
        var random = RandomSource.seeded(13)
        var packets = stream.packets.flatMap { $0 }
        // Each packet may trade places with one up to six further on.
        for index in packets.indices.dropLast(6) where index > 0 {
            packets.swapAt(index, index + Int.random(in: 0...6, using: &random))
        }
        var assembler = FrameAssembler(format: format)
        var received: [EncodedFrame] = []
        for (index, packet) in packets.enumerated() {
            assembler.insert(packet, at: .ms(index))
            if index % 5 == 0 { assembler.insert(packet, at: .ms(index)) }
            received += assembler.allFrames(at: .ms(index))
        }
        #expect(received.map(\.data) == stream.frames)
        #expect(assembler.counters.lostPackets == 0)
        #expect(assembler.counters.latePackets > 0)
    }

    @Test func aKeyFrameWhoseFirstPacketComesLastIsNotLost() {
        let stream = TestStream.vp8(frames: 2)
        var assembler = FrameAssembler(format: .vp8)
        for packet in stream.packets[0].reversed() {
            let early = assembler.nextFrame(at: .zero)
            #expect(early == nil)
            assembler.insert(packet, at: .zero)
        }
        let frame = assembler.nextFrame(at: .zero)
        #expect(frame?.data == stream.frames[0])
    }

    @Test func afterALossTheNextFrameIsAKeyFrame() {
        let stream = TestStream.vp8(frames: 61)
        var assembler = FrameAssembler(format: .vp8, maximumDelay: .milliseconds(100))
        var received: [Int] = []
        var askedAt: [Int] = []
        for (index, packets) in stream.packets.enumerated() {
            for (place, packet) in packets.enumerated() where !(index == 10 && place == 1) {
                assembler.insert(packet, at: .ms(index * 66))
            }
            for frame in assembler.allFrames(at: .ms(index * 66)) {
                received.append(stream.frames.firstIndex(of: frame.data) ?? -1)
            }
            if assembler.takeKeyFrameRequest(at: .ms(index * 66)) { askedAt.append(index) }
        }
        #expect(received == Array(0..<10) + Array(30...60))
        // The gap shows when frame 11 has waited 100 ms, and the request is repeated each half second.
        #expect(askedAt == [13, 21, 29])
        #expect(assembler.counters.lostPackets == 1)
        #expect(assembler.counters.droppedFrames == 20)
    }

    @Test func waitsForARetransmissionAndNoLonger() {
        let stream = TestStream.vp8(frames: 3)
        var assembler = FrameAssembler(format: .vp8, maximumDelay: .milliseconds(100))
        for packet in stream.packets[0] { assembler.insert(packet, at: .zero) }
        let first = assembler.allFrames(at: .zero)
        #expect(first.count == 1)
        for packet in stream.packets[1].dropFirst() { assembler.insert(packet, at: .ms(66)) }
        for packet in stream.packets[2] { assembler.insert(packet, at: .ms(132)) }
        let early = assembler.allFrames(at: .ms(132))
        #expect(early.isEmpty)
        #expect(assembler.nextDeadline == .ms(166))
        assembler.insert(stream.packets[1][0], at: .ms(165))
        let frames = assembler.allFrames(at: .ms(165))
        #expect(frames.map(\.data) == Array(stream.frames[1...2]))
        let asks = assembler.takeKeyFrameRequest(at: .ms(1_000))
        #expect(!asks)
    }

    @Test func missingPacketsThatOnlyPaddedCostNothing() {
        let stream = TestStream.vp8(frames: 4)
        var assembler = FrameAssembler(format: .vp8, maximumDelay: .milliseconds(50))
        var shift: UInt16 = 0
        var received = 0
        for (index, packets) in stream.packets.enumerated() {
            for var packet in packets {
                packet.sequenceNumber &+= shift
                assembler.insert(packet, at: .ms(index * 100))
            }
            // Before frame 2 three packets of padding arrive, before frame 3 three are lost.
            if index == 1 {
                for number in 0..<3 {
                    let last = packets[packets.count - 1]
                    assembler.insert(
                        SentPacket(
                            sequenceNumber: last.sequenceNumber &+ 1 &+ UInt16(number), timestamp: last.timestamp,
                            marker: false, payload: []), at: .ms(index * 100))
                }
            }
            if index == 1 || index == 2 { shift += 3 }
            received += assembler.allFrames(at: .ms(index * 100)).count
            received += assembler.allFrames(at: .ms(index * 100 + 60)).count
        }
        #expect(received == 4)
        #expect(assembler.counters.lostPackets == 3)
        let asks = assembler.takeKeyFrameRequest(at: .ms(2_000))
        #expect(!asks)
    }

    @Test func framesWithoutMarkersEndWhereTheTimestampChanges() {
        let stream = TestStream.h264(frames: 3)
        var assembler = FrameAssembler(format: .h264)
        for packet in stream.packets.flatMap({ $0 }) {
            var packet = packet
            packet.marker = false
            assembler.insert(packet, at: .zero)
        }
        let frames = assembler.allFrames(at: .zero)
        #expect(frames.map(\.data) == Array(stream.frames[0...1]))
    }

    @Test func asksForTheFirstKeyFrameWhenNoneComesByItself() {
        let stream = TestStream.vp8(frames: 30)
        var assembler = FrameAssembler(format: .vp8)
        var asked = 0
        for index in 1..<30 {
            for packet in stream.packets[index] { assembler.insert(packet, at: .ms(index * 66)) }
            let frames = assembler.allFrames(at: .ms(index * 66))
            #expect(frames.isEmpty)
            if assembler.takeKeyFrameRequest(at: .ms(index * 66)) { asked += 1 }
        }
        #expect(asked == 3)
    }

    /// One gap that takes the end of a frame and the parameter sets of the next, a key frame.
    @Test func aKeyFrameThatLostItsParameterSetsIsNotWhole() {
        let stream = TestStream.h264(frames: 40, keyInterval: 10)
        var assembler = FrameAssembler(format: .h264, maximumDelay: .milliseconds(50))
        var received: [[UInt8]] = []
        for (index, packets) in stream.packets.enumerated() {
            let lost: Range<Int> =
                switch index {
                case 19: packets.count - 1..<packets.count
                case 20: 0..<1
                default: 0..<0
                }
            for (number, packet) in packets.enumerated() where !lost.contains(number) {
                assembler.insert(packet, at: .ms(index * 66))
            }
            received += assembler.allFrames(at: .ms(index * 66)).map(\.data)
        }
        #expect(received == Array(stream.frames[..<19] + stream.frames[30...]))
    }

    /// A stream that sends its parameter sets only once loses one key frame more, and then goes on.
    @Test func aStreamWithParameterSetsOnlyAtItsStartGoesOnAfterALoss() {
        var stream = TestStream.h264(frames: 40, keyInterval: 10)
        for index in [10, 20, 30] {
            stream.packets[index].removeFirst()
            stream.frames[index].removeFirst(8 + H264PacketTests.parameters.count + H264PacketTests.picture.count)
        }
        var number: UInt16 = 7
        for index in stream.packets.indices {
            for packet in stream.packets[index].indices {
                stream.packets[index][packet].sequenceNumber = number
                number += 1
            }
        }
        var assembler = FrameAssembler(format: .h264, maximumDelay: .milliseconds(50))
        var received: [[UInt8]] = []
        for (index, packets) in stream.packets.enumerated() {
            // Each key frame but the first follows a loss.
            let kept = [9, 19, 29].contains(index) ? packets.dropLast() : packets[...]
            for packet in kept { assembler.insert(packet, at: .ms(index * 66)) }
            received += assembler.allFrames(at: .ms(index * 66)).map(\.data)
        }
        let whole = Array(0..<9) + Array(20..<29) + Array(30..<40)
        #expect(received == whole.map { stream.frames[$0] })
    }

    @Test(arguments: [FrameAssembler.Format.h264, .h265])
    func aKeyFrameThatLostItsFirstSliceIsNotWhole(format: FrameAssembler.Format) {
        let h264 = format == .h264
        let header: [UInt8] = h264 ? [0x65] : [0x26, 1]
        let parameters: [UInt8] = h264 ? [0x67, 0x42, 0xC0, 0x1F] : [0x42, 1, 1, 1]
        // A key frame of two slices, and one packet of another picture before it.
        let payloads = [
            (h264 ? [0x41] : [0x02, 1]) + [0x88, 1], parameters, header + [0x88, 2], header + [0x40, 3],
        ]
        var assembler = FrameAssembler(format: format, maximumDelay: .milliseconds(50))
        var sizes: [Int] = []
        var number: UInt16 = 1
        for round in 0..<4 {
            // In the third round one gap takes the first packet, the parameter sets and the first slice.
            for (index, payload) in payloads.enumerated() {
                defer { number += 1 }
                guard round != 2 || index == 3 else { continue }
                let timestamp = UInt32(round) * 6_000 + (index == 0 ? 0 : 3_000)
                assembler.insert(
                    SentPacket(
                        sequenceNumber: number, timestamp: timestamp, marker: index == 0 || index == 3, payload: payload
                    ),
                    at: .ms(round * 66))
            }
            sizes += assembler.allFrames(at: .ms(round * 66 + 60)).filter(\.isKeyFrame).map(\.data.count)
        }
        let whole = 12 + payloads.dropFirst().reduce(0) { $0 + $1.count }
        #expect(sizes == [whole, whole, whole])
    }

    @Test func aSourceThatStartsAgainIsFollowed() {
        let first = TestStream.vp8(frames: 10, first: 50_000)
        let second = TestStream.vp8(frames: 40, keyInterval: 10, first: 20_000)
        var assembler = FrameAssembler(format: .vp8, maximumDelay: .milliseconds(100))
        var received: [[UInt8]] = []
        for (index, packets) in (first.packets + second.packets).enumerated() {
            for packet in packets { assembler.insert(packet, at: .ms(index * 66)) }
            received += assembler.allFrames(at: .ms(index * 66)).map(\.data)
        }
        #expect(received.prefix(10) == first.frames[...])
        // The first packet after the leap is not believed, so the first key frame is lost and the second one is not.
        #expect(received.dropFirst(10) == second.frames[10...])
    }

    @Test func aFrameTooLargeIsDropped() {
        let stream = TestStream.vp8(frames: 3)
        var assembler = FrameAssembler(format: .vp8, maximumFrameLength: 4_000)
        for packet in stream.packets.flatMap({ $0 }) { assembler.insert(packet, at: .zero) }
        let frames = assembler.allFrames(at: .zero)
        #expect(frames.isEmpty)
        #expect(assembler.counters.droppedFrames == 3)
    }

    @Test func fragmentsWithoutAStartAndUnknownTypesSpoilOnlyTheirFrame() {
        let stream = TestStream.h264(frames: 3, keyInterval: 1)
        for payload in [
            hex("7c 05 aa bb"), hex("7c"), hex("7d 85 00 00"), hex("79 00 00"), hex("7e 01"), hex("78 00 09 67"),
        ] {
            var assembler = FrameAssembler(format: .h264)
            for packet in stream.packets[0] { assembler.insert(packet, at: .zero) }
            for (index, packet) in stream.packets[1].enumerated() {
                var packet = packet
                if index == 0 { packet.payload = payload }
                assembler.insert(packet, at: .zero)
            }
            for packet in stream.packets[2] { assembler.insert(packet, at: .zero) }
            let frames = assembler.allFrames(at: .zero)
            #expect(frames.map(\.data) == [stream.frames[0], stream.frames[2]])
        }
    }

    @Test func randomLossNeverYieldsADamagedFrame() {
        var random = RandomSource.seeded(17)
        for format in [FrameAssembler.Format.vp8, .h264] {
            let stream =
                format == .vp8
                ? TestStream.vp8(frames: 400, keyInterval: 20) : TestStream.h264(frames: 400, keyInterval: 20)
            let valid = Set(stream.frames)
            var assembler = FrameAssembler(format: format, maximumDelay: .milliseconds(50))
            var count = 0
            var last: UInt32?
            for (index, packets) in stream.packets.enumerated() {
                for packet in packets where Int.random(in: 0..<100, using: &random) >= 3 {
                    assembler.insert(packet, at: .ms(index * 40))
                }
                for frame in assembler.allFrames(at: .ms(index * 40)) {
                    count += 1
                    let isWhole = valid.contains(frame.data)
                    #expect(isWhole, "\(format), timestamp \(frame.timestamp), \(frame.data.count) bytes")
                    if let last, !frame.isKeyFrame { #expect(frame.timestamp == last &+ 6_000) }
                    last = frame.timestamp
                }
            }
            #expect(count > 50)
            #expect(count < 400)
        }
    }

    @Test func hostilePacketsNeitherTrapNorGrow() {
        var random = RandomSource.seeded(19)
        for format in [FrameAssembler.Format.vp8, .h264] {
            let stream = format == .vp8 ? TestStream.vp8(frames: 20) : TestStream.h264(frames: 20)
            let corpus = stream.packets.flatMap { $0.map { Array($0.payload.prefix(40)) } }
            var assembler = FrameAssembler(format: format)
            var time = 0
            for payload in Mutations(of: corpus, count: 8_000, seed: 23) {
                time += 1
                let jump = Int.random(in: 0..<50, using: &random) == 0
                let number = jump ? UInt16.random(in: 0...65_535, using: &random) : UInt16(truncatingIfNeeded: time)
                assembler.insert(
                    SentPacket(
                        sequenceNumber: number, timestamp: UInt32(time / 3), marker: time % 4 == 0, payload: payload),
                    at: .ms(time))
                _ = assembler.allFrames(at: .ms(time))
                _ = assembler.takeKeyFrameRequest(at: .ms(time))
                if let deadline = assembler.nextDeadline { #expect(deadline <= .ms(time + 1_000)) }
            }
        }
    }
}
