import Transport

/// Assembles the payloads of one stream, which come in order, into frames.
struct FrameBuilder: Sendable {
    /// What became of the payloads, in order.
    enum Result: Sendable {
        case frame(EncodedFrame)
        /// A frame has been lost that later frames may refer to.
        case lostReference
    }

    private let format: FrameAssembler.Format
    private let maximumLength: Int

    var data: [UInt8] = []
    private var timestamp: UInt32 = 0
    private var firstArrival: Instant = .zero
    private var lastArrival: Instant = .zero
    var isKeyFrame = false
    private var isStarted = false
    /// The frame is incomplete and is skipped up to its end.
    private var isDamaged = false

    /// At most a few: a packet can end one frame and be a whole other one.
    private var results: [Result] = []
    var malformedCount: UInt64 = 0
    private var droppedCount: UInt64 = 0

    // VP8.
    private var pictureID: UInt16?
    private var lastPictureID: UInt16?
    private var isAfterGap = false

    // AV1: the unit of which fragments have arrived.
    var fragment: [UInt8] = []

    /// Packets are missing just before the next one.
    private var isGapPending = false
    /// Packets are missing just before the frame, and its beginning may be among them.
    private var startsAfterGap = false

    // H.264, H.265 and AV1.
    var isInFragment = false
    var hasParameters = false
    private var hasSlice = false
    /// Whether the last key frame brought its parameter sets.
    private var keyFramesHaveParameters = false
    private var hasIntraPicture = false

    // JPEG.
    var jpeg = JPEGReassembly()

    init(format: FrameAssembler.Format, maximumLength: Int) {
        self.format = format
        self.maximumLength = maximumLength
    }

    /// Whether a key frame can start with this payload.
    func startsKeyFrame(_ payload: UnsafeRawBufferPointer) -> Bool {
        switch format {
        case .vp8: return VP8.isKeyFrameStart(payload: payload)
        case .h264:
            let info = H264.keyFrameInfo(payload: payload)
            return info.contains(.sequenceParameterSet)
                || info.contains([.instantaneousDecoderRefresh, .startsPicture])
        case .h265:
            let info = H265.info(payload: payload)
            return info.contains(.parameterSet) || info.contains([.randomAccessPoint, .startsPicture])
        case .vp9: return VP9.isKeyFrameStart(payload: payload)
        case .av1: return AV1.isKeyFrameStart(payload: payload)
        case .jpeg: return JPEGPayloadHeader(parsing: payload)?.fragmentOffset == 0
        }
    }

    mutating func takeResult() -> Result? {
        results.isEmpty ? nil : results.removeFirst()
    }

    mutating func takeMalformedCount() -> UInt64 {
        defer { malformedCount = 0 }
        return malformedCount
    }

    mutating func takeDroppedCount() -> UInt64 {
        defer { droppedCount = 0 }
        return droppedCount
    }

    /// Records that packets are missing here.
    mutating func recordGap() {
        isAfterGap = true
        isGapPending = true
        isInFragment = false
        if isStarted {
            damage()
        } else if format != .vp8 || lastPictureID == nil {
            // It is unknown whether the missing packets held frames.
            results.append(.lostReference)
        }
    }

    mutating func append(_ packet: PacketReorderBuffer.Packet) {
        // A packet of padding only continues the numbers and says nothing about frames.
        guard !packet.payload.isEmpty else { return }
        if isStarted, packet.timestamp != timestamp { finish() }
        if !isStarted { start(packet) }
        isGapPending = false
        lastArrival = packet.arrival
        if data.count + fragment.count + packet.payload.count + 4 > maximumLength { damage() }
        if !isDamaged {
            switch format {
            case .vp8: appendVP8(packet.payload)
            case .h264: appendH264(packet.payload)
            case .h265: appendH265(packet.payload)
            case .vp9: appendVP9(packet.payload)
            case .av1: appendAV1(packet.payload)
            case .jpeg: appendJPEG(packet.payload)
            }
        }
        if packet.marker { finish() }
    }

    private mutating func start(_ packet: PacketReorderBuffer.Packet) {
        isStarted = true
        isDamaged = false
        timestamp = packet.timestamp
        firstArrival = packet.arrival
        data.removeAll(keepingCapacity: true)
        fragment.removeAll(keepingCapacity: true)
        isKeyFrame = false
        isInFragment = false
        startsAfterGap = isGapPending
        hasParameters = false
        hasSlice = false
        hasIntraPicture = false
        pictureID = nil
    }

    private mutating func finish() {
        isStarted = false
        if format == .jpeg, !isDamaged { finishJPEG() }
        // The end of a unit is missing.
        if format == .av1, isInFragment { damage() }
        if isKeyFrame, format == .h264 || format == .h265 { checkParameters() }
        guard !isDamaged, !data.isEmpty else { return }
        if format == .h264 { isKeyFrame = isKeyFrame || hasParameters && hasIntraPicture }
        if format == .vp8 { lastPictureID = pictureID }
        isAfterGap = false
        // The frame takes its storage with it. The next one is probably not longer.
        let capacity = data.count
        results.append(
            .frame(
                EncodedFrame(
                    data: data, timestamp: timestamp, isKeyFrame: isKeyFrame, firstArrival: firstArrival,
                    lastArrival: lastArrival)))
        data = []
        data.reserveCapacity(capacity)
    }

    /// A key frame that lacks the parameter sets which this stream sends with each has lost them in the gap before it.
    private mutating func checkParameters() {
        if startsAfterGap, keyFramesHaveParameters, !hasParameters { damage() }
        // A stream that sends them only at its start is noticed here, so that a loss costs it one key frame at most.
        keyFramesHaveParameters = hasParameters
    }

    /// Takes the first bytes of a slice of H.264 or H.265. The first slice after a gap is the picture's first, or that one
    /// is lost.
    mutating func recordSlice(startsPicture: Bool) {
        if startsAfterGap, !hasSlice, !startsPicture { damage() }
        hasSlice = true
    }

    /// The frame cannot be completed. Frames that refer to it cannot be decoded.
    mutating func damage() {
        guard !isDamaged else { return }
        isDamaged = true
        results.append(.lostReference)
        droppedCount &+= 1
    }

    private mutating func appendVP8(_ payload: UnsafeRawBufferPointer) {
        guard let descriptor = VP8PayloadDescriptor(parsing: payload) else {
            malformedCount &+= 1
            damage()
            return
        }
        if data.isEmpty {
            guard descriptor.startsFrame else {
                damage()
                return
            }
            pictureID = descriptor.pictureID
            isKeyFrame = payload[descriptor.length] & 1 == 0
            if isAfterGap, !continues(descriptor) { results.append(.lostReference) }
        }
        data.append(contentsOf: payload.from(descriptor.length))
    }

    /// Whether the frame follows the last one although packets between them are missing. If so, those held only
    /// padding.
    private func continues(_ descriptor: VP8PayloadDescriptor) -> Bool {
        guard let lastPictureID, let pictureID = descriptor.pictureID else { return false }
        return pictureID == (lastPictureID &+ 1) & (descriptor.hasLongPictureID ? 0x7FFF : 0x7F)
    }

    private mutating func appendH264(_ payload: UnsafeRawBufferPointer) {
        switch payload[0] & 0x1F {
        case 1...23: appendUnit(payload)
        case H264.UnitType.singleTimeAggregation: appendAggregation(payload)
        case H264.UnitType.fragmentationUnit: appendFragment(payload)
        case 0 where payload.count > 4 && AnnexBUnits(payload).contains { _ in true }:
            // Some cameras leave the start codes of their encoder in the payload.
            for unit in AnnexBUnits(payload) { appendUnit(unit) }
        default:
            // The interleaved mode is never negotiated. The types 30 and 31 are undefined.
            malformedCount &+= 1
            damage()
        }
    }

    private mutating func appendAggregation(_ payload: UnsafeRawBufferPointer) {
        var offset = 1
        while offset < payload.count {
            guard payload.count - offset > 2 else { break }
            let length = Int(payload.bigEndian16(at: offset))
            offset += 2
            guard length > 0, payload.count - offset >= length else {
                malformedCount &+= 1
                damage()
                return
            }
            appendUnit(UnsafeRawBufferPointer(rebasing: payload[offset..<offset + length]))
            offset += length
        }
    }

    private mutating func appendFragment(_ payload: UnsafeRawBufferPointer) {
        guard payload.count > 2 else {
            malformedCount &+= 1
            damage()
            return
        }
        let header = payload[1]
        if header & 0x80 != 0 {
            // An earlier fragment without an end counts as complete: some cameras never set the end bit, and a missing
            // packet would have shown as a gap.
            recordUnit(type: header & 0x1F, startingWith: payload.from(1))
            appendStartCode()
            data.append(payload[0] & 0xE0 | header & 0x1F)
            isInFragment = true
        } else if !isInFragment {
            damage()
            return
        }
        data.append(contentsOf: payload.from(2))
        if header & 0x40 != 0 { isInFragment = false }
    }

    private mutating func appendUnit(_ unit: UnsafeRawBufferPointer) {
        isInFragment = false
        recordUnit(type: unit[0] & 0x1F, startingWith: unit)
        appendStartCode()
        data.append(contentsOf: unit)
    }

    mutating func appendStartCode() {
        data.append(0)
        data.append(0)
        data.append(0)
        data.append(1)
    }

    /// `start` reads as the unit's beginning; only the type in its first byte counts.
    private mutating func recordUnit(type: UInt8, startingWith start: UnsafeRawBufferPointer) {
        if H264.isSlice(type) { recordSlice(startsPicture: H264.info(ofUnit: start).contains(.startsPicture)) }
        switch type {
        case H264.UnitType.instantaneousDecoderRefresh: isKeyFrame = true
        case H264.UnitType.sequenceParameterSet: hasParameters = true
        case H264.UnitType.slice where H264.sliceType(ofUnit: start) == .intra: hasIntraPicture = true
        default: break
        }
    }
}
