import Transport

/// Makes whole frames from the packets of a track's batches, which come in order. A frame that cannot be decoded is not
/// handed out: after a loss the next frame is a key frame.
///
/// If packets may come out of order, as at a viewer, use ``FrameAssembler``.
public struct VideoFrameAssembler: Sendable {
    /// Frames that were not handed out: incomplete, or not decodable because one before them was lost.
    public private(set) var droppedFrames: UInt64 = 0

    private var builder: FrameBuilder
    private var lastNumber: UInt16?
    private var number: Int64 = 0
    private var needsKeyFrame = true

    /// Starts empty. A frame longer than `maximumFrameLength` bytes is dropped.
    public init(format: FrameAssembler.Format, maximumFrameLength: Int = 8 << 20) {
        builder = FrameBuilder(format: format, maximumLength: maximumFrameLength)
    }

    /// Adds a batch and hands each frame that it completes to `body`.
    public mutating func append(_ batch: PacketBatch, _ body: (EncodedFrame) -> Void) {
        for packet in batch.packets {
            append(packet, payload: batch.payload(of: packet), arrival: batch.arrival, body)
        }
    }

    /// Adds one packet; see ``append(_:_:)``.
    public mutating func append(
        _ packet: PacketBatch.Packet, payload: UnsafeRawBufferPointer, arrival: Instant, _ body: (EncodedFrame) -> Void
    ) {
        if let lastNumber {
            let distance = packet.sequenceNumber &- lastNumber
            if distance != 1 { builder.recordGap() }
            number &+= Int64(max(1, distance))
        }
        lastNumber = packet.sequenceNumber
        builder.append(
            PacketReorderBuffer.Packet(
                number: number, timestamp: packet.timestamp, marker: packet.flags.contains(.marker), payload: payload,
                arrival: arrival))
        while let result = builder.takeResult() {
            switch result {
            case .lostReference:
                needsKeyFrame = true
            case .frame(let frame):
                if frame.isKeyFrame { needsKeyFrame = false }
                if needsKeyFrame { droppedFrames &+= 1 } else { body(frame) }
            }
        }
        droppedFrames &+= builder.takeDroppedCount()
    }
}
