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
