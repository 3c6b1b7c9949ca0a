import RTP
import Testing
import Transport

@Suite struct RTCPTests {
    static let report = RTCPSenderReport(
        ssrc: 0x1111_1111, ntp: NTPTimestamp(rawValue: 0xE000_0000_8000_0000), rtpTimestamp: 90_000, packetCount: 7,
        octetCount: 8_000)
    static let block = RTCPReportBlock(
        ssrc: 0x2222_2222, fractionLost: 64, cumulativeLost: -2, extendedHighestSequenceNumber: 0x1_0005, jitter: 12,
        lastSenderReport: 0xAAAA_BBBB, delaySinceLastSenderReport: 0x8000)

    static let compound = written { writer in
        writer.writeSenderReport(report, blocks: [block, block])
        writer.writeSourceDescription(ssrc: 0x1111_1111, canonicalName: "gatehouse")
        writer.writeNack(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [65_534, 65_535, 0, 14, 15, 200])
        writer.writePictureLossIndication(senderSSRC: 3, mediaSSRC: 4)
        writer.writeFullIntraRequest(senderSSRC: 5, mediaSSRC: 6, sequenceNumber: 7)
        writer.writeReceiverEstimatedMaximumBitrate(senderSSRC: 8, bitsPerSecond: 2_500_000, ssrcs: [9, 10])
        writer.writeGoodbye(ssrcs: [11, 12], reason: "over")
    }

    @Test func readsBackACompoundOfEveryKind() {
        Self.compound.withUnsafeBytes { bytes in
            #expect(RTCP.isRTCP(bytes))
            var packets = RTCPPackets(bytes)
            guard case .senderReport(let report, let blocks) = packets.next() else { return wrong("SR") }
            #expect(report == Self.report)
            #expect(Array(blocks) == [Self.block, Self.block])
            guard case .sourceDescription(let description) = packets.next() else { return wrong("SDES") }
            #expect(description.canonicalName == "gatehouse")
            guard case .nack(let nack) = packets.next() else { return wrong("NACK") }
            #expect(nack.senderSSRC == 1)
            #expect(nack.mediaSSRC == 2)
            #expect(Array(nack) == [65_534, 65_535, 0, 14, 15, 200])
            guard case .pictureLossIndication(3, 4) = packets.next() else { return wrong("PLI") }
            guard case .fullIntraRequest(let request) = packets.next() else { return wrong("FIR") }
            #expect(request.senderSSRC == 5)
            #expect(request.map(\.ssrc) == [6])
            #expect(request.map(\.sequenceNumber) == [7])
            guard case .receiverEstimatedMaximumBitrate(let estimate) = packets.next() else { return wrong("REMB") }
            #expect(estimate.bitsPerSecond == 2_500_000)
            #expect(Array(estimate) == [9, 10])
            guard case .goodbye(let goodbye) = packets.next() else { return wrong("BYE") }
            #expect(Array(goodbye) == [11, 12])
            #expect(goodbye.reason == "over")
            #expect(packets.next() == nil)
            #expect(packets.problem == nil)
        }
    }

    private func wrong(_ expected: String) {
        Issue.record("expected \(expected)")
    }

    @Test func oneNackEntryReachesSixteenPacketsPastItsFirst() {
        let sixteen = written { $0.writeNack(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: Array(100...116)) }
        #expect(sixteen.count == 16)
        #expect(Array(sixteen[12...]) == [0, 100, 0xFF, 0xFF])
        let seventeen = written { $0.writeNack(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [100, 117]) }
        #expect(Array(seventeen[12...]) == [0, 100, 0, 0, 0, 117, 0, 0])
        #expect(written { $0.writeNack(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [UInt16]()) }.isEmpty)
    }

    @Test func aNackSurvivesTheRoundTripForRandomLosses() {
        var random = RandomSource.seeded(3)
        for _ in 0..<200 {
            var number = UInt16.random(in: 0...65_535, using: &random)
            var lost: [UInt16] = []
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                number &+= UInt16.random(in: 1...30, using: &random)
                lost.append(number)
            }
            let bytes = written { $0.writeNack(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: lost) }
            bytes.withUnsafeBytes {
                var packets = RTCPPackets($0)
                guard case .nack(let nack) = packets.next() else { return wrong("NACK") }
                #expect(Array(nack) == lost)
            }
        }
    }

    @Test(arguments: [0, 1, 262_143, 262_144, 30_000_000, UInt64.max])
    func bitrateEstimatesKeepEighteenBits(bitsPerSecond: UInt64) {
        let bytes = written {
            $0.writeReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: bitsPerSecond, ssrcs: [])
        }
        bytes.withUnsafeBytes {
            var packets = RTCPPackets($0)
            guard case .receiverEstimatedMaximumBitrate(let estimate) = packets.next() else { return wrong("REMB") }
            #expect(estimate.bitsPerSecond <= bitsPerSecond)
            #expect(bitsPerSecond - estimate.bitsPerSecond <= bitsPerSecond >> 17)
        }
    }

    @Test func anEstimateBeyondSixtyFourBitsMeansNoLimit() {
        let bytes = hex("8f ce 00 04 00 00 00 01 00 00 00 00 52 45 4d 42 00 ff ff ff")
        bytes.withUnsafeBytes {
            var packets = RTCPPackets($0)
            guard case .receiverEstimatedMaximumBitrate(let estimate) = packets.next() else { return wrong("REMB") }
            #expect(estimate.bitsPerSecond == .max)
        }
    }

    @Test func paddingAndUnknownKindsArePassedOver() {
        // An extended report, an application packet, a receiver report with eight bytes of padding.
        let bytes = hex(
            """
            80 cf 00 02 00 00 00 01 04 00 00 00
            81 cc 00 02 00 00 00 01 41 42 43 44
            a0 c9 00 03 00 00 00 05 00 00 00 00 00 00 00 08
            """)
        bytes.withUnsafeBytes {
            var packets = RTCPPackets($0)
            guard case .unknown(207, 0, let body) = packets.next() else { return wrong("XR") }
            #expect(body.count == 8)
            guard case .unknown(204, 1, _) = packets.next() else { return wrong("APP") }
            guard case .receiverReport(5, let blocks) = packets.next() else { return wrong("RR") }
            #expect(blocks.isEmpty)
            #expect(packets.next() == nil)
            #expect(packets.problem == nil)
        }
    }

    @Test func aMalformedPacketDoesNotHideTheNext() {
        // A sender report that counts a block that is not there, then a picture loss indication.
        let bytes =
            hex("81 c8 00 06") + [UInt8](repeating: 0, count: 24)
            + written { $0.writePictureLossIndication(senderSSRC: 1, mediaSSRC: 2) }
        bytes.withUnsafeBytes {
            var packets = RTCPPackets($0)
            guard case .malformed(200, 1, _) = packets.next() else { return wrong("malformed SR") }
            guard case .pictureLossIndication(1, 2) = packets.next() else { return wrong("PLI") }
        }
    }

    @Test(arguments: [
        ("80 c9 00", RTCPProblem.truncatedHeader(offset: 0)),
        ("40 c9 00 01 00 00 00 01", .unsupportedVersion(offset: 0)),
        ("80 c9 00 02 00 00 00 01", .truncatedPacket(offset: 0, type: 201)),
        ("a0 c9 00 01 00 00 00 00", .invalidPadding(offset: 0, type: 201)),
        ("a0 c9 00 01 00 00 00 08", .invalidPadding(offset: 0, type: 201)),
        ("a0 c9 00 01 00 00 00 05", .invalidPadding(offset: 0, type: 201)),
    ])
    func saysWhyTheRestCannotBeRead(text: String, expected: RTCPProblem) {
        hex(text).withUnsafeBytes {
            var packets = RTCPPackets($0)
            while packets.next() != nil {}
            #expect(packets.problem == expected)
        }
    }

    @Test func sourceDescriptionsWithOddEndsAreRead() {
        // Two chunks; the first has an empty item and ends exactly at a multiple of four with four zero bytes.
        let bytes = hex(
            "82 ca 00 06 00 00 00 01 01 02 61 62 00 00 00 00 00 00 00 02 01 03 78 79 7a 00 00 00")
        bytes.withUnsafeBytes {
            var packets = RTCPPackets($0)
            guard case .sourceDescription(let description) = packets.next() else { return wrong("SDES") }
            #expect(description.map(\.ssrc) == [1, 2])
            #expect(description.map(\.text) == ["ab", "xyz"])
        }
    }

    @Test func whatDoesNotFitIsReported() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 20, alignment: 4)
        defer { memory.deallocate() }
        var writer = ByteWriter(memory)
        writer.writeSenderReport(Self.report)
        #expect(writer.overflowed)
    }

    @Test func distinguishesRTCPFromRTPByTheSecondByte() {
        #expect(hex("80c8 0006").withUnsafeBytes(RTCP.isRTCP))
        #expect(hex("81ce 0002").withUnsafeBytes(RTCP.isRTCP))
        #expect(!hex("80e0 0006").withUnsafeBytes(RTCP.isRTCP))
        #expect(!hex("8060 0006").withUnsafeBytes(RTCP.isRTCP))
        #expect(!hex("16fe ff00").withUnsafeBytes(RTCP.isRTCP))
        #expect(!hex("80c8").withUnsafeBytes(RTCP.isRTCP))
    }

    @Test func noMutationTraps() {
        let feedback = hex(
            "8f cd 00 07 00 00 00 01 00 00 00 02 00 05 00 09 00 00 01 00 20 03 d0 40 04 08 0c ff f0 01 02 03")
        let corpus = [Self.compound, feedback]
        var kinds: Set<String> = []
        for bytes in Mutations(of: corpus, count: 6_000, seed: 2) {
            bytes.withUnsafeBytes {
                var packets = RTCPPackets($0)
                var count = 0
                while let packet = packets.next() {
                    count += 1
                    switch packet {
                    case .senderReport(_, let blocks): kinds.insert("SR \(Array(blocks).count)")
                    case .receiverReport(_, let blocks): kinds.insert("RR \(Array(blocks).count)")
                    case .sourceDescription(let description): kinds.insert("SDES \(description.map(\.text).count)")
                    case .goodbye(let goodbye): kinds.insert("BYE \(Array(goodbye).count) \(goodbye.reason ?? "")")
                    case .nack(let nack): kinds.insert("NACK \(Array(nack).count)")
                    case .pictureLossIndication: kinds.insert("PLI")
                    case .fullIntraRequest(let request): kinds.insert("FIR \(Array(request).count)")
                    case .receiverEstimatedMaximumBitrate(let estimate): kinds.insert("REMB \(Array(estimate).count)")
                    case .transportFeedback(let feedback):
                        #expect(feedback.reduce(0) { sum, _ in sum + 1 } == feedback.statusCount)
                        kinds.insert("TWCC")
                    case .unknown, .malformed: break
                    }
                }
                #expect(count <= bytes.count / 4)
            }
        }
        #expect(kinds.count > 20)
    }
}
