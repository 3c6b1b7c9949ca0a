import SDP

/// Logarithmic telephone sound (ITU-T G.711), one byte per sample at 8 kHz.
public enum G711: Sendable, Hashable {
    /// North America and Japan; `PCMU` in SDP.
    case muLaw
    /// The rest of the world; `PCMA` in SDP.
    case aLaw

    /// Decodes one sample to 16 bits.
    public func decode(_ byte: UInt8) -> Int16 {
        switch self {
        case .muLaw: Self.muLawSamples[Int(byte)]
        case .aLaw: Self.aLawSamples[Int(byte)]
        }
    }

    /// Encodes one 16-bit sample.
    public func encode(_ sample: Int16) -> UInt8 {
        switch self {
        case .muLaw: Self.encodeMuLaw(sample)
        case .aLaw: Self.encodeALaw(sample)
        }
    }

    /// Decodes a packet's payload.
    ///
    /// - Returns: the number of samples written: as many as both hold.
    @discardableResult
    public func decode(_ bytes: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        let count = min(bytes.count, samples.count)
        let table = self == .muLaw ? Self.muLawSamples : Self.aLawSamples
        table.withUnsafeBufferPointer { table in
            for index in 0..<count {
                samples[index] = table[Int(bytes[index])]
            }
        }
        return count
    }

    /// Encodes samples.
    ///
    /// - Returns: the number of bytes written: as many as both hold.
    @discardableResult
    public func encode(_ samples: UnsafeBufferPointer<Int16>, into bytes: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(bytes.count, samples.count)
        for index in 0..<count {
            bytes[index] = encode(samples[index])
        }
        return count
    }

    // A byte holds a sign, the number of one of eight segments, and the position among the segment's sixteen steps.
    // Each segment's steps are twice as large as those of the one before. µ-law sends all bits inverted and adds a bias
    // so that the segments' bounds are powers of two. A-law inverts every other bit.

    private static let muLawBias = 0x84

    private static let muLawSamples: [Int16] = (0..<256).map { byte in
        let code = ~byte & 0xFF
        let magnitude = ((code & 0xF) << 3 + muLawBias) << (code >> 4 & 7) - muLawBias
        return Int16(code & 0x80 == 0 ? magnitude : -magnitude)
    }

    private static let aLawSamples: [Int16] = (0..<256).map { byte in
        let code = byte ^ 0x55
        let segment = code >> 4 & 7
        let step = (code & 0xF) << 4 + 8
        let magnitude = segment == 0 ? step : (step + 0x100) << (segment - 1)
        return Int16(code & 0x80 == 0 ? -magnitude : magnitude)
    }

    private static func encodeMuLaw(_ sample: Int16) -> UInt8 {
        let magnitude = min(Int(sample.magnitude), 32635) + muLawBias
        // With the bias, the highest set bit is never below bit 7.
        let segment = Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7
        let code = (sample < 0 ? 0x80 : 0) | segment << 4 | (magnitude >> (segment + 3) & 0xF)
        return UInt8(truncatingIfNeeded: ~code)
    }

    private static func encodeALaw(_ sample: Int16) -> UInt8 {
        // A negative sample rounds away from zero, so -1 and 0 fall on different sides.
        let magnitude = sample < 0 ? Int(~sample) : Int(sample)
        let segment = magnitude < 0x100 ? 0 : Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7
        let step = magnitude >> (segment == 0 ? 4 : segment + 3) & 0xF
        let code = (sample < 0 ? 0 : 0x80) | segment << 4 | step
        return UInt8(truncatingIfNeeded: code ^ 0x55)
    }
}

/// Codecs that write each sample separately: G.711 and linear samples (RFC 3551, sections 4.5.11 and 4.5.14).
final class SampleSpeechEncoder: AudioEncoder {
    /// How a sample is written.
    enum Form {
        case g711(G711)
        case linear(isBigEndian: Bool)
    }

    let clockRate: Int
    let ticksPerPacket: Int
    private let form: Form
    private let channels: Int
    private var framer: SpeechFramer
    private var payload: [UInt8] = []

    init(_ form: Form, _ codec: MediaCodec) throws(CodecError) {
        guard (1...2).contains(codec.channels) else {
            throw CodecError(
                codec: codec.name, operation: "make an encoder", reason: "\(codec.channels) channels are not 1 or 2")
        }
        self.form = form
        clockRate = codec.clockRate
        channels = codec.channels
        let bytesPerSample = if case .linear = form { 2 } else { 1 }
        // 20 ms, as RFC 3551 recommends, or less where that would not fit a datagram.
        var ticks = codec.clockRate / 50
        while ticks * bytesPerSample * channels > 1000 { ticks /= 2 }
        ticksPerPacket = max(1, ticks)
        framer = try SpeechFramer(to: clockRate, frameLength: ticksPerPacket, codec: codec.name)
    }

    func encode(
        _ samples: UnsafeBufferPointer<Int16>, _ packet: (UnsafeRawBufferPointer, Int) -> Void
    ) throws(CodecError) {
        try framer.append(samples) { frame in
            payload.removeAll(keepingCapacity: true)
            for sample in frame {
                for _ in 0..<channels { append(sample) }
            }
            payload.withUnsafeBytes { packet($0, frame.count) }
        }
    }

    private func append(_ sample: Int16) {
        switch form {
        case .g711(let law):
            payload.append(law.encode(sample))
        case .linear(let isBigEndian):
            let high = UInt8(truncatingIfNeeded: sample >> 8)
            let low = UInt8(truncatingIfNeeded: sample)
            payload.append(isBigEndian ? high : low)
            payload.append(isBigEndian ? low : high)
        }
    }
}

/// PCMU and PCMA (RFC 3551, section 4.5.14), also at rates other than 8 kHz.
final class G711SpeechDecoder: AudioDecoder {
    private let law: G711
    private let sampleRate: Int
    private let channels: Int
    private var resampler: SpeechResampler

    init(_ law: G711, sampleRate: Int, channels: Int) throws(CodecError) {
        let codec = law == .muLaw ? "PCMU" : "PCMA"
        guard (1...8).contains(channels) else {
            throw CodecError(codec: codec, operation: "make a decoder", reason: "\(channels) channels")
        }
        self.law = law
        self.sampleRate = sampleRate
        self.channels = channels
        resampler = try SpeechResampler(from: sampleRate, codec: codec)
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        let (law, channels) = (law, channels)
        try resampler.convert(
            payload.count / channels, at: sampleRate,
            { index in
                var sum = 0
                for channel in 0..<channels { sum += Int(law.decode(payload[index * channels + channel])) }
                return Int16(truncatingIfNeeded: sum / channels)
            }, output)
    }
}

/// Plain samples of 16 bits: L16 (RFC 3551, section 4.5.11), and the same with the least significant byte first.
final class LinearSpeechDecoder: AudioDecoder {
    private let isBigEndian: Bool
    private let sampleRate: Int
    private let channels: Int
    private var resampler: SpeechResampler

    init(isBigEndian: Bool, sampleRate: Int, channels: Int) throws(CodecError) {
        guard (1...8).contains(channels) else {
            throw CodecError(codec: "L16", operation: "make a decoder", reason: "\(channels) channels")
        }
        self.isBigEndian = isBigEndian
        self.sampleRate = sampleRate
        self.channels = channels
        resampler = try SpeechResampler(from: sampleRate, codec: "L16")
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        let (channels, isBigEndian) = (channels, isBigEndian)
        try resampler.convert(
            payload.count / (2 * channels), at: sampleRate,
            { index in
                var sum = 0
                for channel in 0..<channels {
                    let raw = payload.loadUnaligned(fromByteOffset: (index * channels + channel) * 2, as: Int16.self)
                    sum += Int(isBigEndian ? Int16(bigEndian: raw) : Int16(littleEndian: raw))
                }
                return Int16(truncatingIfNeeded: sum / channels)
            }, output)
    }
}
