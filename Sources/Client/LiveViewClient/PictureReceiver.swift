import RTP
import SDP
import Transport

/// Assembles the frames of a video track, or only counts them for a load test, which does not need the bytes.
struct PictureReceiver: ~Copyable {
    private var assembler: FrameAssembler?
    private let isH264: Bool
    private var insideKeyFrame = false
    /// Whole frames so far, and key frames among them.
    private(set) var frames: UInt64 = 0
    private(set) var keyFrames: UInt64 = 0
    var nacks: NackGenerator?
    /// The sequence numbers to request, after ``collectRequests(at:)``.
    private(set) var requests: [UInt16] = []

    init(_ media: NegotiatedMedia?, assembles: Bool) {
        isH264 = media?.codec.isNamed("H264") ?? false
        guard let media else { return }
        if media.feedback.contains(.nack) { nacks = NackGenerator() }
        if assembles { assembler = FrameAssembler(format: isH264 ? .h264 : .vp8) }
    }

    /// Another source sends from now on. Its numbers have nothing to do with those before.
    mutating func restart() {
        if nacks != nil { nacks = NackGenerator() }
        if assembler != nil { assembler = FrameAssembler(format: isH264 ? .h264 : .vp8) }
        insideKeyFrame = false
    }

    /// Accepts a packet. Returns true when it ends a key frame and frames are only counted.
    mutating func insert(_ packet: RTPPacketView, at now: Instant) -> Bool {
        _ = nacks?.receive(sequenceNumber: packet.sequenceNumber, at: now)
        return insert(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
            payload: packet.payload, at: now)
    }

    /// Accepts a retransmitted packet, under its original number.
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
        frames += 1
        if insideKeyFrame { keyFrames += 1 }
        return insideKeyFrame
    }

    mutating func nextFrame(at now: Instant) -> EncodedFrame? {
        guard let frame = assembler?.nextFrame(at: now) else { return nil }
        frames += 1
        if frame.isKeyFrame { keyFrames += 1 }
        return frame
    }

    /// Finds out which packets are missing and due to be requested.
    mutating func collectRequests(at now: Instant) {
        nacks?.takeRequests(at: now, into: &requests)
    }

    mutating func removeRequests() {
        requests.removeAll(keepingCapacity: true)
    }

    mutating func takeKeyFrameRequest(at now: Instant) -> Bool { assembler?.takeKeyFrameRequest(at: now) ?? false }

    /// When a frame, a request for packets or a request for a key frame may be due.
    var nextDeadline: Instant? {
        var next = nacks?.nextDeadline
        if let waiting = assemblerDeadline() { next = next.map { min($0, waiting) } ?? waiting }
        return next
    }

    private func assemblerDeadline() -> Instant? {
        switch assembler {
        case .some(let assembler): assembler.nextDeadline
        case .none: nil
        }
    }
}
