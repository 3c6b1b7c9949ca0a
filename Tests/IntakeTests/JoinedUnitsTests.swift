import PacketFakes
import RTP
import Testing
import Transport

@testable import Intake

/// Cameras that leave the start codes of their encoder in what they send.
@Suite struct JoinedUnitsTests {
    static let sps: [UInt8] = [0x67, 0x42, 0xE0, 0x1F, 1, 2]
    static let pps: [UInt8] = [0x68, 3, 4]
    static let code: [UInt8] = [0, 0, 0, 1]
    /// A picture without two zeros in a row.
    static func picture(_ count: Int) -> [UInt8] { [0x65, 0x88] + (0..<count).map { UInt8($0 % 250 + 1) } }
    /// A key frame as the encoder wrote it, but for its first start code.
    static func keyFrame(_ count: Int) -> [UInt8] { sps + code + pps + [0, 0, 1] + picture(count) }

    /// Fragments of a unit (RFC 6184, section 5.8), of `size` bytes each.
    static func fragments(_ unit: [UInt8], size: Int, marksEnd: Bool = true) -> [[UInt8]] {
        let content = Array(unit.dropFirst())
        return stride(from: 0, to: content.count, by: size).map { start in
            let end = min(start + size, content.count)
            let marks: UInt8 = (start == 0 ? 0x80 : 0) | (marksEnd && end == content.count ? 0x40 : 0)
            return [unit[0] & 0xE0 | 28, marks | unit[0] & 0x1F] + content[start..<end]
        }
    }

    static func play(_ payloads: [[UInt8]], limit: Int = 100) -> [ReceivedPacket] {
        let harness = TrackHarness(TrackHarness.h264, limit: limit)
        for (index, payload) in payloads.enumerated() {
            harness.receive(rtpPacket(index, timestamp: 0, marker: index == payloads.count - 1, payload))
        }
        return harness.packets()
    }

    /// The units that a viewer puts together.
    static func units(_ packets: [ReceivedPacket]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        for payload in packets.map(\.payload) {
            guard payload[0] & 0x1F == 28 else {
                units.append(payload)
                continue
            }
            if payload[1] & 0x80 != 0 { units.append([payload[0] & 0xE0 | payload[1] & 0x1F]) }
            if !units.isEmpty { units[units.count - 1] += payload[2...] }
        }
        return units
    }

    private func expectKeyFrame(_ packets: [ReceivedPacket], _ count: Int) {
        #expect(Self.units(packets) == [Self.sps, Self.pps, Self.picture(count)])
        #expect(packets.allSatisfy { $0.flags.contains(.keyFrame) && $0.payload.count <= 100 })
        #expect(packets.map { $0.flags.contains(.marker) } == packets.indices.map { $0 == packets.count - 1 })
        #expect(packets.first?.flags.contains(.startsFrame) == true)
        // The last fragment is marked, whatever the camera did.
        if let last = packets.last?.payload, last[0] & 0x1F == 28 { #expect(last[1] & 0x40 != 0) }
    }

    @Test(arguments: [1, 2, 3, 5, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18, 30, 50, 400, 2000], [true, false])
    func aKeyFrameInFragmentsOfAParameterSet(size: Int, marksEnd: Bool) {
        let fragments = Self.fragments(Self.keyFrame(1000), size: size, marksEnd: marksEnd)
        // One packet of 2,000 bytes would be its first and its last fragment at once.
        expectKeyFrame(Self.play(fragments), 1000)
    }

    @Test(arguments: [3, 40, 1000]) func aKeyFrameAsOneParameterSet(count: Int) {
        expectKeyFrame(Self.play([Self.keyFrame(count)]), count)
    }

    @Test(arguments: [3, 40, 1000]) func aPayloadThatBeginsWithAStartCode(count: Int) {
        expectKeyFrame(Self.play([Self.code + Self.keyFrame(count)]), count)
        expectKeyFrame(Self.play([[0, 0, 1] + Self.keyFrame(count)]), count)
    }

    @Test func fragmentsOfAPayloadThatBeginsWithAStartCode() {
        expectKeyFrame(Self.play(Self.fragments(Self.code + Self.keyFrame(300), size: 50)), 300)
    }

    @Test func partsOfAnAggregationMayBeJoined() {
        let joined = Self.sps + Self.code + Self.pps
        let picture = Self.picture(20)
        let payload = [0x78, 0, UInt8(joined.count)] + joined + [0, UInt8(picture.count)] + picture
        expectKeyFrame(Self.play([payload]), 20)
    }

    @Test(arguments: [30, 140]) func fragmentsWithoutAnEndLoseNothing(size: Int) {
        let (first, second) = (Self.picture(300), [0x41, 0x9A] + [UInt8](repeating: 7, count: 300))
        let payloads =
            [Self.sps, Self.pps] + Self.fragments(first, size: size, marksEnd: false)
            + Self.fragments(second, size: size, marksEnd: false)
        let packets = Self.play(payloads)
        #expect(Self.units(packets) == [Self.sps, Self.pps, first, second])
        #expect(packets.last?.flags.contains(.marker) == true)
        #expect(packets.last.map { $0.payload[1] & 0x40 } == 0x40)
    }

    @Test func aFrameWithoutAMarkerIsFinishedByTheNext() {
        let harness = TrackHarness(TrackHarness.h264, limit: 100)
        let picture = Self.picture(300)
        for (index, payload) in Self.fragments(picture, size: 140, marksEnd: false).enumerated() {
            harness.receive(rtpPacket(index, timestamp: 0, payload))
        }
        harness.receive(rtpPacket(3, timestamp: 10, marker: true, [0x41, 0x9A, 1]))
        let packets = harness.packets()
        #expect(Self.units(packets) == [picture, [0x41, 0x9A, 1]])
        #expect(packets.dropLast().allSatisfy { $0.timestamp == packets[0].timestamp })
    }

    @Test func aLostFragmentIsNotGlued() {
        let harness = TrackHarness(TrackHarness.h264, limit: 100)
        for (index, payload) in Self.fragments(Self.keyFrame(500), size: 10).enumerated() where index != 2 {
            harness.receive(rtpPacket(index, timestamp: 0, marker: index == 51, payload))
        }
        #expect(!harness.packets().contains { $0.flags.contains(.keyFrame) })
    }

    @Test func whatIsCollectedIsBounded() {
        let harness = TrackHarness(TrackHarness.h264, limit: 100)
        // A message of half a megabyte in front of a picture.
        let message = [0x06] + [UInt8](repeating: 5, count: 500_000)
        for (index, payload) in Self.fragments(message, size: 1000).enumerated() {
            harness.receive(rtpPacket(index, timestamp: 0, payload))
        }
        #expect(harness.packets().isEmpty && harness.track.unusablePackets == 1)
        let following = [Self.sps, Self.pps, Self.picture(3)]
        for (index, payload) in following.enumerated() {
            harness.receive(rtpPacket(500 + index, timestamp: 0, marker: index == 2, payload))
        }
        #expect(Self.units(harness.packets()) == following)
    }

    @Test func hostileJoinsNeverTrap() {
        let harness = TrackHarness(TrackHarness.h264, limit: 200)
        var random = RandomSource.seeded(5)
        let starts: [[UInt8]] = [
            [0x7C, 0x87], [0x7C, 0x07], [0x7C, 0x47], [0x1C, 0x80], [0x7C, 0x9F], [0, 0, 0, 1], [0, 0, 1], [0], [0x67],
            [0x7C, 0x85], [0x7C, 0x05], [0x78, 0, 9],
        ]
        for number in 0..<6000 {
            let skipped = Int.random(in: 0..<30, using: &random) == 0 ? 1 : 0
            let start = starts[Int.random(in: 0..<starts.count, using: &random)]
            // Few values, so that start codes are frequent.
            let rest = (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                [0, 0, 0, 1, 0x65, 0x67, 0x68, 0x88][Int.random(in: 0..<8, using: &random)] as UInt8
            }
            let timestamp = UInt32(number / Int.random(in: 3...9, using: &random)) * 3000
            harness.receive(
                rtpPacket(number + skipped, timestamp: timestamp, marker: Bool.random(using: &random), start + rest))
        }
        #expect(harness.packets().allSatisfy { !$0.payload.isEmpty && $0.payload.count <= 200 })
    }
}
