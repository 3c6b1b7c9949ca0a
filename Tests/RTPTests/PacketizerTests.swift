import Testing
import Transport

@testable import RTP

/// The packetizers of recorded pictures: what they make is read by the project's own assembler, and keeps to the limit.
@Suite struct PacketizerTests {
    /// A payload with what its packetizer says about it.
    struct Payload {
        var bytes: [UInt8]
        var isFirst: Bool
        var isLast: Bool
        var isKeyFrame: Bool

        init(_ payload: PacketizedPayload) {
            bytes = Array(payload.bytes)
            isFirst = payload.isFirst
            isLast = payload.isLast
            isKeyFrame = payload.isKeyFrame
        }
    }

    /// What the assembler makes of payloads that come in order, each frame with the marker of its last packet.
    static func assembled(_ frames: [[Payload]], _ format: FrameAssembler.Format) -> [EncodedFrame] {
        var assembler = VideoFrameAssembler(format: format)
        var result: [EncodedFrame] = []
        var number: UInt16 = 65_530
        for (index, payloads) in frames.enumerated() {
            for payload in payloads {
                payload.bytes.withUnsafeBytes { bytes in
                    let packet = PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: UInt32(index * 3_600), sequenceNumber: number,
                        payloadType: 96, flags: payload.isLast ? .marker : [])
                    assembler.append(packet, payload: bytes, arrival: .zero) { result.append($0) }
                }
                number &+= 1
            }
        }
        return result
    }

    /// Each payload fits, and exactly the first and the last one say so.
    static func expectWhole(_ payloads: [Payload], limit: Int, isKeyFrame: Bool, _ comment: Comment) {
        #expect(payloads.allSatisfy { (1...limit).contains($0.bytes.count) }, comment)
        #expect(payloads.indices.filter { payloads[$0].isFirst } == [0], comment)
        #expect(payloads.indices.filter { payloads[$0].isLast } == [payloads.count - 1], comment)
        #expect(payloads.allSatisfy { $0.isKeyFrame == isKeyFrame }, comment)
    }

    // MARK: H.265

    /// Units after start codes.
    static func annexB(_ units: [[UInt8]]) -> [UInt8] {
        units.reduce(into: []) { $0 += [0, 0, 0, 1] + $1 }
    }

    static func h265(_ units: [[UInt8]], limit: Int) -> [Payload] {
        let frame = annexB(units)
        var payloads: [Payload] = []
        frame.withUnsafeBytes { bytes in
            H265Packetizer(maximumPayloadLength: limit).packetize(annexB: bytes) { payloads.append(Payload($0)) }
        }
        return payloads
    }

    /// The slice of a picture: its header of two bytes, and `first_slice_segment_in_pic_flag`. Like every unit, it does not
    /// end in a zero.
    static func slice(type: UInt8, length: Int) -> [UInt8] {
        length == 3 ? [type << 1, 1, 0x80] : [type << 1, 1, 0x80] + pattern(length - 4) + [0x80]
    }

    @Test func aUnitOfH265ThatIsTooLongBecomesFragments() {
        // IDR_W_RADL (19) of layer 0 with temporal identifier 1: RFC 7798, section 4.4.3.
        let unit = Self.slice(type: 19, length: 200)
        let payloads = Self.h265([unit], limit: 100)
        #expect(payloads.map(\.bytes.count) == [69, 69, 69])
        // Type 49 in the payload header; S, then neither, then E with the unit's own type.
        #expect(payloads.map { Array($0.bytes[..<3]) } == [[98, 1, 0x93], [98, 1, 0x13], [98, 1, 0x53]])
        #expect(payloads.flatMap { $0.bytes[3...] } == Array(unit[2...]))
    }

    @Test func theHeaderOfAFragmentKeepsLayerAndTemporalIdentifier() {
        // The forbidden bit, a layer of 33 (its highest bit is in the first byte), and temporal identifier 5.
        let unit: [UInt8] = [0x80 | 1 << 1 | 1, 0x0D] + pattern(150)
        let payloads = Self.h265([unit], limit: 80)
        #expect(payloads.count == 2)
        #expect(payloads.allSatisfy { $0.bytes[0] == 0x80 | 49 << 1 | 1 && $0.bytes[1] == 0x0D })
        #expect(payloads.map { $0.bytes[2] } == [0x81, 0x41])
    }

    @Test func framesOfH265ComeBackAtEveryLengthAroundTheLimit() {
        let sets: [[UInt8]] = [[0x40, 1, 1, 2], [0x42, 1, 3], [0x44, 1, 4, 5]]
        for limit in [64, 65, 100, 1_160] {
            for length in [3, 4, limit - 1, limit, limit + 1, 2 * limit - 6, 2 * limit - 4, 2 * limit, 5 * limit + 1] {
                let key = sets + [Self.slice(type: 20, length: length)]
                let other = [Self.slice(type: 1, length: length), [0x02, 1, 0x00] + pattern(length) + [0x80]]
                let frames = [Self.h265(key, limit: limit), Self.h265(other, limit: limit)]
                let comment = Comment(rawValue: "\(length) bytes, at most \(limit)")
                Self.expectWhole(frames[0], limit: limit, isKeyFrame: true, comment)
                Self.expectWhole(frames[1], limit: limit, isKeyFrame: false, comment)
                let result = Self.assembled(frames, .h265)
                #expect(result.map(\.data) == [key, other].map(Self.annexB), comment)
                #expect(result.map(\.isKeyFrame) == [true, false], comment)
            }
        }
    }

    @Test func delimitersAndEmptyUnitsOfH265AreLeftOut() {
        let picture = Self.slice(type: 1, length: 20)
        // A unit of two bytes is a header without content.
        let payloads = Self.h265([[35 << 1, 1, 0x50], [0x42, 1], picture, [35 << 1, 1, 0x50]], limit: 100)
        #expect(payloads.map(\.bytes) == [picture])
        #expect(payloads.map(\.isLast) == [true])
        #expect(Self.h265([], limit: 100).isEmpty && Self.h265([[35 << 1, 1, 0x50]], limit: 100).isEmpty)
    }

    // MARK: VP9

    /// A key frame (RFC 9628 sends it as it is): frame marker 2, profile 0, shown; or a frame that needs others.
    static func vp9(length: Int, isKeyFrame: Bool) -> [UInt8] {
        [isKeyFrame ? 0x82 : 0x86] + pattern(length - 1)
    }

    static func packetize(
        _ frame: [UInt8], with packetizer: inout VP9Packetizer
    ) -> [Payload] {
        var payloads: [Payload] = []
        frame.withUnsafeBytes { bytes in packetizer.packetize(bytes) { payloads.append(Payload($0)) } }
        return payloads
    }

    @Test func theDescriptorOfVP9SaysWhereAFrameBeginsAndEnds() {
        var packetizer = VP9Packetizer(maximumPayloadLength: 64, firstPictureID: 0x1234)
        let key = Self.packetize(Self.vp9(length: 150, isKeyFrame: true), with: &packetizer)
        // I with B, without P; neither B nor E; E. The picture identifier has 15 bits (RFC 9628, section 4.2).
        #expect(key.map { Array($0.bytes[..<3]) } == [[0x88, 0x92, 0x34], [0x80, 0x92, 0x34], [0x84, 0x92, 0x34]])
        #expect(key.map(\.bytes.count) == [53, 53, 53])
        let small = Self.packetize(Self.vp9(length: 10, isKeyFrame: false), with: &packetizer)
        #expect(small.map { Array($0.bytes[..<3]) } == [[0xCC, 0x92, 0x35]])
    }

    @Test func pictureIdentifiersOfVP9GoRoundAt15Bits() {
        var packetizer = VP9Packetizer(firstPictureID: 0xFFFF)
        let identifiers = (0..<3).compactMap { _ in
            Self.packetize(Self.vp9(length: 9, isKeyFrame: false), with: &packetizer).first.map {
                Array($0.bytes[1..<3])
            }
        }
        #expect(identifiers == [[0xFF, 0xFF], [0x80, 0x00], [0x80, 0x01]])
        // What is not a frame takes no identifier.
        #expect(Self.packetize([], with: &packetizer).isEmpty)
        let next = Self.packetize(Self.vp9(length: 9, isKeyFrame: true), with: &packetizer)
        #expect(next.first.map { Array($0.bytes[1..<3]) } == [0x80, 0x02])
    }

    @Test func framesOfVP9ComeBackAtEveryLengthAroundTheLimit() {
        for limit in [64, 67, 1_160] {
            for length in [1, 2, limit - 4, limit - 3, limit - 2, limit, 2 * (limit - 3), 2 * limit - 5, 7 * limit] {
                var packetizer = VP9Packetizer(maximumPayloadLength: limit, firstPictureID: 0x7FFF)
                let frames = [true, false].map { Self.vp9(length: length, isKeyFrame: $0) }
                let packets = frames.map { Self.packetize($0, with: &packetizer) }
                let comment = Comment(rawValue: "\(length) bytes, at most \(limit)")
                Self.expectWhole(packets[0], limit: limit, isKeyFrame: true, comment)
                Self.expectWhole(packets[1], limit: limit, isKeyFrame: false, comment)
                let result = Self.assembled(packets, .vp9)
                #expect(result.map(\.data) == frames, comment)
                #expect(result.map(\.isKeyFrame) == [true, false], comment)
            }
        }
    }

    // MARK: AV1

    /// A unit with its size, as files have it.
    static func unit(type: UInt8, _ content: [UInt8], extended: UInt8? = nil) -> [UInt8] {
        let head = [type << 3 | (extended == nil ? 0 : 4) | 2] + (extended.map { [$0] } ?? [])
        return head + lengthField(content.count) + content
    }

    static func lengthField(_ length: Int) -> [UInt8] {
        length < 0x80 ? [UInt8(length)] : [UInt8(length & 0x7F) | 0x80] + lengthField(length >> 7)
    }

    static func av1(_ units: [UInt8], limit: Int) -> [Payload] {
        var payloads: [Payload] = []
        units.withUnsafeBytes { bytes in
            AV1Packetizer(maximumPayloadLength: limit).packetize(temporalUnit: bytes) { payloads.append(Payload($0)) }
        }
        return payloads
    }

    static let delimiter = unit(type: 2, [])
    static let sequenceHeader = unit(type: 1, [0, 0, 0, 2, 0xAF, 0xFF, 0x9B, 0x5F])
    /// A shown key frame begins with three clear bits, another one has a type in them.
    static func frame(isKeyFrame: Bool, length: Int) -> [UInt8] {
        unit(type: 6, [isKeyFrame ? 0x10 : 0x30] + pattern(length - 1))
    }

    @Test func unitsOfAV1TravelWithoutTheirSizesAndWithoutDelimiters() {
        let payloads = Self.av1(
            Self.delimiter + Self.sequenceHeader + Self.unit(type: 15, [0, 0])
                + Self.frame(isKeyFrame: true, length: 4),
            limit: 100)
        // N alone: a new sequence begins, and each element has its length (RTP Payload Format For AV1, section 4.4).
        #expect(payloads.map { Array($0.bytes.prefix(11)) } == [[0x08, 9, 0x08, 0, 0, 0, 2, 0xAF, 0xFF, 0x9B, 0x5F]])
        // The frame: its length, its header without `obu_has_size_field`, and its content.
        #expect(payloads.first.map { Array($0.bytes[11...]) } == [5, 0x30, 0x10] + pattern(3))
    }

    @Test func aUnitOfAV1ThatIsTooLongContinuesInTheNextPacket() {
        let payloads = Self.av1(Self.delimiter + Self.frame(isKeyFrame: false, length: 200), limit: 100)
        // Y; Z and Y; Z. No N: the frame begins no sequence.
        #expect(payloads.map { $0.bytes[0] } == [0x40, 0xC0, 0x80])
        #expect(payloads.map(\.bytes.count).allSatisfy { $0 <= 100 })
        #expect(payloads.map(\.isKeyFrame) == [false, false, false])
        // A key frame says so in its first packet only.
        let key = Self.av1(Self.sequenceHeader + Self.frame(isKeyFrame: true, length: 200), limit: 100)
        #expect(key.map { $0.bytes[0] & 0x08 } == [0x08, 0, 0])
    }

    @Test func temporalUnitsOfAV1ComeBackAtEveryLengthAroundTheLimit() {
        for limit in [64, 100, 131, 1_160] {
            let lengths = [
                1, 2, 126, 127, 128, limit - 5, limit - 4, limit - 3, limit - 2, limit, 2 * limit, 9 * limit + 1,
            ]
            for length in lengths where length > 0 {
                let key = Self.sequenceHeader + Self.frame(isKeyFrame: true, length: length)
                // Two frames with the extension's byte, which belongs to the header.
                let other = [1, length].flatMap { Self.unit(type: 6, [0x30] + pattern($0), extended: 0x28) }
                let packets = [Self.av1(Self.delimiter + key, limit: limit), Self.av1(other, limit: limit)]
                let comment = Comment(rawValue: "\(length) bytes, at most \(limit)")
                Self.expectWhole(packets[0], limit: limit, isKeyFrame: true, comment)
                Self.expectWhole(packets[1], limit: limit, isKeyFrame: false, comment)
                let result = Self.assembled(packets, .av1)
                #expect(result.map(\.data) == [key, other], comment)
                #expect(result.map(\.isKeyFrame) == [true, false], comment)
            }
        }
    }

    @Test func whatFollowsAnUnreadableUnitOfAV1IsLeftOut() {
        let whole = Self.frame(isKeyFrame: true, length: 10)
        // A length that reaches beyond the end, an unfinished length, and a header without its extension.
        for broken in [[0x32, 50, 1, 2], [0x32, 0x80, 0x80], [0x34]] as [[UInt8]] {
            let result = Self.assembled([Self.av1(Self.sequenceHeader + whole + broken, limit: 100)], .av1)
            #expect(result.map(\.data) == [Self.sequenceHeader + whole], "\(broken)")
        }
        #expect(Self.av1([], limit: 100).isEmpty && Self.av1(Self.delimiter, limit: 100).isEmpty)
    }

    @Test(arguments: ["h265", "vp9", "av1"]) func damagedFramesNeverTrapAndKeepToTheLimit(codec: String) {
        let corpus = [
            [0, 0, 1] + Self.slice(type: 19, length: 300), [0, 0, 0, 1, 0x40, 1, 9, 0, 0, 1, 2, 1],
            Self.vp9(length: 300, isKeyFrame: true),
            Self.delimiter + Self.sequenceHeader + Self.frame(isKeyFrame: true, length: 300),
        ]
        var packetizer = VP9Packetizer(maximumPayloadLength: 64, firstPictureID: 9)
        for bytes in Mutations(of: corpus, count: 3_000, seed: 21) {
            var payloads: [Payload] = []
            switch codec {
            case "h265":
                bytes.withUnsafeBytes { frame in
                    H265Packetizer(maximumPayloadLength: 64).packetize(annexB: frame) { payloads.append(Payload($0)) }
                }
            case "vp9": payloads = Self.packetize(bytes, with: &packetizer)
            default: payloads = Self.av1(bytes, limit: 64)
            }
            #expect(payloads.allSatisfy { (1...64).contains($0.bytes.count) })
            #expect(payloads.isEmpty || payloads.last?.isLast == true && payloads[0].isFirst)
        }
    }
}
