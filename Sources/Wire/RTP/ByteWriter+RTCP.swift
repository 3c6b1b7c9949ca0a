import Transport

/// RTCP packets are written one after the other into one ``ByteWriter``: together they are a compound packet (RFC 3550,
/// section 6.1), a single one is a reduced-size packet (RFC 5506). Check ``ByteWriter/overflowed`` at the end: where it
/// is set, the bytes must not be sent.
extension ByteWriter {
    /// Writes a sender report with at most 31 blocks; further blocks are left out.
    public mutating func writeSenderReport(_ report: RTCPSenderReport, blocks: [RTCPReportBlock] = []) {
        let blocks = blocks.prefix(31)
        writeRTCPHeader(
            format: blocks.count, type: RTCP.PacketType.senderReport,
            bodyLength: 24 + blocks.count * RTCPReportBlock.length)
        write(report.ssrc)
        write(report.ntp.rawValue)
        write(report.rtpTimestamp)
        write(report.packetCount)
        write(report.octetCount)
        for block in blocks { write(block) }
    }

    /// Writes a receiver report with at most 31 blocks; further blocks are left out.
    public mutating func writeReceiverReport(ssrc: UInt32, blocks: [RTCPReportBlock] = []) {
        let blocks = blocks.prefix(31)
        writeRTCPHeader(
            format: blocks.count, type: RTCP.PacketType.receiverReport,
            bodyLength: 4 + blocks.count * RTCPReportBlock.length)
        write(ssrc)
        for block in blocks { write(block) }
    }

    /// Writes a source description with the first 255 bytes of a canonical name.
    public mutating func writeSourceDescription(ssrc: UInt32, canonicalName: String) {
        let name = canonicalName.utf8.prefix(255)
        // The item's head has two bytes, and at least one zero byte ends the chunk.
        let itemsLength = (2 + name.count + 1 + 3) & ~3
        writeRTCPHeader(format: 1, type: RTCP.PacketType.sourceDescription, bodyLength: 4 + itemsLength)
        write(ssrc)
        write(RTCPSourceDescription.Item.canonicalName)
        write(UInt8(name.count))
        for byte in name { write(byte) }
        for _ in (2 + name.count)..<itemsLength { write(UInt8(0)) }
    }

    /// Writes a goodbye for at most 31 sources; further sources are left out.
    public mutating func writeGoodbye(ssrcs: [UInt32], reason: String? = nil) {
        let ssrcs = ssrcs.prefix(31)
        let text = (reason ?? "").utf8.prefix(255)
        let reasonLength = text.isEmpty ? 0 : (1 + text.count + 3) & ~3
        writeRTCPHeader(
            format: ssrcs.count, type: RTCP.PacketType.goodbye, bodyLength: ssrcs.count * 4 + reasonLength)
        for ssrc in ssrcs { write(ssrc) }
        guard reasonLength > 0 else { return }
        write(UInt8(text.count))
        for byte in text { write(byte) }
        for _ in (1 + text.count)..<reasonLength { write(UInt8(0)) }
    }

    /// Asks for packets again. `sequenceNumbers` rise (on their circle); numbers within 16 of one another share an
    /// entry of four bytes. Nothing is written for an empty list.
    public mutating func writeNack(
        senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumbers: some Collection<UInt16>
    ) {
        guard !sequenceNumbers.isEmpty else { return }
        let start = count
        writeFeedbackHeader(
            format: 1, type: RTCP.PacketType.transportFeedback, bodyLength: 0, senderSSRC: senderSSRC,
            mediaSSRC: mediaSSRC)
        var base: UInt16?
        var following: UInt16 = 0
        for number in sequenceNumbers {
            if let first = base {
                let distance = number &- first
                if distance == 0 { continue }
                if distance <= 16 {
                    following |= 1 << (distance - 1)
                    continue
                }
                write(first)
                write(following)
            }
            base = number
            following = 0
        }
        if let base {
            write(base)
            write(following)
        }
        guard !overflowed else { return }
        overwrite(UInt16(truncatingIfNeeded: (count - start) / 4 - 1), at: start + 2)
    }

    /// Asks for a key frame (RFC 4585, section 6.3.1).
    public mutating func writePictureLossIndication(senderSSRC: UInt32, mediaSSRC: UInt32) {
        writeFeedbackHeader(
            format: 1, type: RTCP.PacketType.payloadFeedback, bodyLength: 8, senderSSRC: senderSSRC,
            mediaSSRC: mediaSSRC)
    }

    /// Asks for a key frame by a numbered request (RFC 5104, section 4.3.1).
    public mutating func writeFullIntraRequest(senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumber: UInt8) {
        // The header's media source is unused and zero: the entry names the stream.
        writeFeedbackHeader(
            format: 4, type: RTCP.PacketType.payloadFeedback, bodyLength: 16, senderSSRC: senderSSRC, mediaSSRC: 0)
        write(mediaSSRC)
        write(sequenceNumber)
        write(UInt8(0))
        write(UInt16(0))
    }

    /// Writes an estimate of what the path carries, for at most 255 streams together.
    public mutating func writeReceiverEstimatedMaximumBitrate(
        senderSSRC: UInt32, bitsPerSecond: UInt64, ssrcs: [UInt32]
    ) {
        let ssrcs = ssrcs.prefix(255)
        writeFeedbackHeader(
            format: 15, type: RTCP.PacketType.payloadFeedback, bodyLength: 16 + ssrcs.count * 4,
            senderSSRC: senderSSRC, mediaSSRC: 0)
        write(RTCPReceiverEstimatedMaximumBitrate.identifier)
        let exponent = max(0, 64 - bitsPerSecond.leadingZeroBitCount - 18)
        let mantissa = UInt32(truncatingIfNeeded: bitsPerSecond >> UInt64(exponent))
        write(UInt32(ssrcs.count) << 24 | UInt32(exponent) << 18 | mantissa)
        for ssrc in ssrcs { write(ssrc) }
    }

    /// Writes the header of a packet whose body has `bodyLength` bytes, a multiple of four.
    mutating func writeRTCPHeader(format: Int, type: UInt8, bodyLength: Int) {
        write(0x80 | UInt8(truncatingIfNeeded: format & 0x1F))
        write(type)
        write(UInt16(truncatingIfNeeded: bodyLength / 4))
    }

    mutating func writeFeedbackHeader(
        format: Int, type: UInt8, bodyLength: Int, senderSSRC: UInt32, mediaSSRC: UInt32
    ) {
        writeRTCPHeader(format: format, type: type, bodyLength: bodyLength)
        write(senderSSRC)
        write(mediaSSRC)
    }

    private mutating func write(_ block: RTCPReportBlock) {
        write(block.ssrc)
        // RFC 3550, appendix A.3: what 24 bits cannot hold is clamped.
        let lost = min(max(block.cumulativeLost, -0x80_0000), 0x7F_FFFF)
        write(UInt32(block.fractionLost) << 24 | UInt32(bitPattern: lost) & 0xFF_FFFF)
        write(block.extendedHighestSequenceNumber)
        write(block.jitter)
        write(block.lastSenderReport)
        write(block.delaySinceLastSenderReport)
    }
}
