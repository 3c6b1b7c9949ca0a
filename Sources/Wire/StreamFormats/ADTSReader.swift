import RTP

/// Finds the frames of AAC in a stream with ADTS headers (ISO/IEC 14496-3, annex 1.A.2).
struct ADTSReader: Sendable {
    /// The configuration that the newest header states; nil before the first.
    private(set) var config: AudioSpecificConfig?
    /// What has come of a frame that is not complete.
    private var rest: [UInt8] = []
    /// When the frame at the beginning of ``rest`` begins, in ticks of 90 kHz.
    private var time: Int64 = 0
    /// Ticks that the division of a frame's length has left, in units of the sample rate.
    private var remainder: Int64 = 0

    /// A header's longest frame has 13 bits, and so has what waits here.
    private static let maximumWaiting = 1 << 14

    /// Takes the bytes of a packet whose first frame begins at `time`, and passes each frame without its header and its
    /// time to `body`.
    mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Int64, _ body: ([UInt8], Int64) -> Void) {
        // The rest of a frame belongs to the time before; what follows it begins at the time of the new packet.
        var isPending = !rest.isEmpty
        if !isPending { begin(at: time) }
        rest.append(contentsOf: bytes)
        var offset = 0
        while rest.count - offset >= 7 {
            guard let header = Header(rest[offset...]) else {
                // A frame was lost or damaged: the next one begins at the next header.
                offset += 1
                continue
            }
            guard rest.count - offset >= header.length else { break }
            config = header.config
            let frame = Array(rest[(offset + header.headerLength)..<(offset + header.length)])
            if !frame.isEmpty { body(frame, self.time) }
            offset += header.length
            if isPending {
                isPending = false
                begin(at: time)
            } else {
                advance(header)
            }
        }
        rest.removeFirst(offset)
        if rest.count > Self.maximumWaiting { rest.removeAll(keepingCapacity: true) }
    }

    /// Bytes were lost.
    mutating func lose() { rest.removeAll(keepingCapacity: true) }

    private mutating func begin(at time: Int64) {
        self.time = time
        remainder = 0
    }

    private mutating func advance(_ header: Header) {
        let ticks = Int64(1024 * header.blocks) * StreamUnit.clockRate + remainder
        let rate = Int64(max(1, header.config.sampleRate))
        time &+= ticks / rate
        remainder = ticks % rate
    }

    /// The fixed and the variable header of a frame.
    private struct Header {
        let config: AudioSpecificConfig
        let headerLength: Int
        let length: Int
        /// Blocks of 1024 samples in the frame.
        let blocks: Int

        init?(_ bytes: ArraySlice<UInt8>) {
            let start = bytes.startIndex
            func byte(_ index: Int) -> UInt8 { bytes[start + index] }
            // Twelve bits of sync word; the layer is always 0.
            guard byte(0) == 0xFF, byte(1) & 0xF6 == 0xF0 else { return nil }
            headerLength = byte(1) & 1 == 1 ? 7 : 9
            let profile = Int(byte(2) >> 6)
            let index = Int(byte(2) >> 2 & 0xF)
            let channels = Int(byte(2) & 1) << 2 | Int(byte(3) >> 6)
            length = Int(byte(3) & 3) << 11 | Int(byte(4)) << 3 | Int(byte(5) >> 5)
            blocks = Int(byte(6) & 3) + 1
            guard let rate = AudioSpecificConfig.rate(ofIndex: index), length >= headerLength else { return nil }
            var config = AudioSpecificConfig(sampleRate: rate, channels: channels)
            config.objectType = profile + 1
            self.config = config
        }
    }
}
