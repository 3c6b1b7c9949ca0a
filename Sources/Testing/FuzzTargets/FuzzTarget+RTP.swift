import RTP
import Transport

extension FuzzTarget {
    static let rtp = FuzzTarget(
        "rtp", "one RTP packet with its header extensions", maximumLength: 1500,
        seeds: {
            [
                rtpPacket(1, 0, marker: true, [1, 2, 3]),
                [0x92, 0x60] + [UInt8](repeating: 0, count: 18) + [
                    0xBE, 0xDE, 0, 2, 0x10, 0x30, 0x22, 1, 2, 3, 0, 0, 9,
                ],
                [0xB0, 0x60] + [UInt8](repeating: 0, count: 10) + [0x10, 0, 0, 2, 1, 2, 9, 9, 0, 3, 1, 7, 5, 0, 0, 3],
            ]
        }
    ) { bytes throws(FuzzFailure) in
        observe((RTCP.isRTCP(bytes), Opus.TableOfContents(parsing: bytes), H264.keyFrameInfo(payload: bytes)))
        guard let packet = try? RTPPacketView(parsing: bytes) else { return }
        try require(
            packet.headerLength + packet.payload.count + packet.paddingLength == bytes.count,
            "bytes are unaccounted for")
        for index in 0..<16 {
            try require(
                (packet.contributingSource(index) != nil) == (index < packet.contributingSourceCount), "sources")
        }
        var count = 0
        for element in packet.headerExtensions {
            count += 1
            try require(count <= bytes.count, "extensions that never end")
            observe(HeaderExtensionValue.transportSequenceNumber(element.value))
            observe(HeaderExtensionValue.absoluteSendTime(element.value))
            observe(HeaderExtensionValue.audioLevel(element.value))
            observe(HeaderExtensionValue.playoutDelay(element.value))
            try require(packet.headerExtension(element.identifier) != nil, "an extension that is there is not found")
        }
    }

    static let rtcp = FuzzTarget(
        "rtcp", "a compound RTCP packet: every value of every report", maximumLength: 1500, seeds: { rtcpSeeds }
    ) { bytes throws(FuzzFailure) in
        var steps = 0
        func step() throws(FuzzFailure) {
            steps += 1
            // A NACK asks for 17 packets in four bytes; transport feedback reports 8,191 in two.
            try require(steps <= 64 * 1024 * (1 + bytes.count / 20), "a report that never ends")
        }
        for packet in RTCPPackets(bytes) {
            try step()
            switch packet {
            case .senderReport(_, let blocks), .receiverReport(_, let blocks):
                for block in blocks { observe(CompactTime.duration(block.delaySinceLastSenderReport)) }
            case .sourceDescription(let items):
                observe(items.canonicalName)
                for item in items {
                    try step()
                    observe(item.text)
                }
            case .goodbye(let goodbye): observe((Array(goodbye), goodbye.reason))
            case .nack(let nack): for _ in nack { try step() }
            case .fullIntraRequest(let request): observe(Array(request))
            case .receiverEstimatedMaximumBitrate(let estimate): observe((Array(estimate), estimate.bitsPerSecond))
            case .transportFeedback(let feedback):
                var count = 0
                for _ in feedback {
                    count += 1
                    try step()
                }
                try require(count <= feedback.statusCount, "more statuses than there are")
            case .pictureLossIndication, .unknown, .malformed: break
            }
        }
    }

    private static let rtcpSeeds: [[UInt8]] = {
        func packet(_ write: (inout ByteWriter) -> Void) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 1500)
            let count = bytes.withUnsafeMutableBytes { buffer in
                var writer = ByteWriter(buffer)
                write(&writer)
                return writer.count
            }
            return Array(bytes.prefix(count))
        }
        let block = RTCPReportBlock(
            ssrc: 7, fractionLost: 1, cumulativeLost: 2, extendedHighestSequenceNumber: 3, jitter: 4,
            lastSenderReport: 5, delaySinceLastSenderReport: 6)
        let report = RTCPSenderReport(
            ssrc: 7, ntp: NTPTimestamp(unixNanoseconds: 1_700_000_000_000_000_000), rtpTimestamp: 9, packetCount: 1,
            octetCount: 2)
        return [
            packet { writer in
                writer.writeSenderReport(report, blocks: [block])
                writer.writeSourceDescription(ssrc: 7, canonicalName: "camera")
                writer.writeGoodbye(ssrcs: [7, 8], reason: "bye")
            },
            packet { writer in
                writer.writeReceiverReport(ssrc: 1, blocks: [block, block])
                writer.writePictureLossIndication(senderSSRC: 1, mediaSSRC: 2)
                writer.writeFullIntraRequest(senderSSRC: 1, mediaSSRC: 2, sequenceNumber: 3)
            },
            packet { $0.writeReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: 900_000, ssrcs: [2, 3]) },
            // A NACK of 17 packets, and transport-wide feedback with a run, a vector and both sizes of deltas.
            [0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0xFF, 0xFF],
            [
                0x8F, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0, 10, 0, 0, 5, 1, 0x20, 3, 0xD4, 0x10, 1, 2, 3, 0, 4, 5,
                0, 0,
            ],
        ]
    }()

    /// An RTP packet of payload type 96.
    static func rtpPacket(
        _ number: UInt16, _ timestamp: UInt32, marker: Bool, _ payload: [UInt8], type: UInt8 = 96
    ) -> [UInt8] {
        var bytes: [UInt8] = [0x80, type | (marker ? 0x80 : 0), UInt8(number >> 8), UInt8(number & 0xFF)]
        for value in [timestamp, 7] {
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        return bytes + payload
    }
}
