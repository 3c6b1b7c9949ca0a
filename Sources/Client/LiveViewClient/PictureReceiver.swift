import RTP
import SDP
import Transport

/// Makes frames of a video track, or only counts them, where a load test has no use for the bytes.
struct PictureReceiver: ~Copyable {
    private var assembler: FrameAssembler?
    private let isH264: Bool
    private var insideKeyFrame = false
    private(set) var counted: (frames: UInt64, keyFrames: UInt64) = (0, 0)
    var nacks: NackGenerator?
    var requests: [UInt16] = []

    init(_ media: NegotiatedMedia?, assembles: Bool) {
        isH264 = media?.codec.isNamed("H264") ?? false
        guard let media else { return }
        if media.feedback.contains(.nack) { nacks = NackGenerator() }
        if assembles { assembler = FrameAssembler(format: isH264 ? .h264 : .vp8) }
    }

    var frames: UInt64 { assembler?.counters.frames ?? counted.frames }
    var keyFrames: UInt64 { assembler?.counters.keyFrames ?? counted.keyFrames }

    /// Takes a packet. Answers true when it ends a key frame and frames are only counted.
    mutating func insert(_ packet: RTPPacketView, at now: Instant) -> Bool {
        _ = nacks?.receive(sequenceNumber: packet.sequenceNumber, at: now)
        return insert(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
            payload: packet.payload, at: now)
    }

    /// Takes a packet that came by retransmission, under its original number.
    mutating func insert(
        sequenceNumber: UInt16, timestamp: UInt32, marker: Bool, payload: UnsafeRawBufferPointer, at now: Instant
    ) -> Bool {
        if assembler != nil {
            assembler?.insert(
                sequenceNumber: sequenceNumber, timestamp: timestamp, marker: marker, payload: payload, at: now)
            return false
        }
        if isH264
            ? H264.keyFrameInfo(payload: payload).contains(.instantaneousDecoderRefresh)
            : VP8.isKeyFrameStart(payload: payload)
        {
            insideKeyFrame = true
        }
        guard marker else { return false }
        defer { insideKeyFrame = false }
        counted.frames += 1
        if insideKeyFrame { counted.keyFrames += 1 }
        return insideKeyFrame
    }

    mutating func nextFrame(at now: Instant) -> EncodedFrame? { assembler?.nextFrame(at: now) }

    mutating func takeKeyFrameRequest(at now: Instant) -> Bool { assembler?.takeKeyFrameRequest(at: now) ?? false }

    var nextDeadline: Instant? {
        switch (assembler?.nextDeadline(), nacks?.nextDeadline()) {
        case (let first?, let second?): min(first, second)
        case (let first, let second): first ?? second
        }
    }
}
