import RTP

/// One packet of a batch with a copy of its payload.
package struct ReceivedPacket: Equatable {
    package var sequenceNumber: UInt16
    package var timestamp: UInt32
    package var flags: PacketBatch.Flags
    package var payload: [UInt8]

    package init(sequenceNumber: UInt16, timestamp: UInt32, flags: PacketBatch.Flags, payload: [UInt8]) {
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.flags = flags
        self.payload = payload
    }
}

/// An RTP packet as a camera sends it.
package func rtpPacket(
    _ sequenceNumber: Int, timestamp: UInt32, payloadType: UInt8 = 96, marker: Bool = false, ssrc: UInt32 = 7,
    _ payload: [UInt8]
) -> [UInt8] {
    let number = UInt16(truncatingIfNeeded: sequenceNumber)
    var bytes: [UInt8] = [0x80, payloadType | (marker ? 0x80 : 0), UInt8(number >> 8), UInt8(number & 0xFF)]
    for value in [timestamp, ssrc] {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
    return bytes + payload
}
