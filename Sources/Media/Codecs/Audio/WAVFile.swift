/// Why a WAV file cannot be used.
public struct WAVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position in the file, in bytes from its start.
    public var offset: Int
    /// What is wrong there.
    public var reason: String

    public var description: String { "WAV file, byte \(offset): \(reason)" }
}

/// A sound file in the RIFF WAVE format: linear samples of 8, 16, 24 or 32 bits, floating point, or G.711.
public struct WAVFile: Sendable {
    /// How the samples are written.
    public enum Encoding: Sendable, Hashable {
        /// Linear samples; unsigned where they have 8 bits, signed where they have more.
        case integer(bits: Int)
        /// IEEE 754 samples between -1 and 1.
        case floatingPoint(bits: Int)
        /// One byte per sample.
        case g711(G711)

        var bytesPerSample: Int {
            switch self {
            case .integer(let bits), .floatingPoint(let bits): bits / 8
            case .g711: 1
            }
        }
    }

    /// How the samples are written.
    public let encoding: Encoding
    /// Samples per second and channel.
    public let sampleRate: Int
    /// The number of channels, interleaved in the file.
    public let channels: Int
    private let sampleBytes: ArraySlice<UInt8>

    /// The number of samples of each channel.
    public var sampleCount: Int { sampleBytes.count / (channels * encoding.bytesPerSample) }

    /// Reads a file's bytes. A truncated file gives the samples that it still holds.
    public init(parsing bytes: [UInt8]) throws(WAVError) {
        guard bytes.count >= 12, Self.text(bytes, at: 0) == "RIFF", Self.text(bytes, at: 8) == "WAVE" else {
            throw WAVError(offset: 0, reason: "does not begin as a RIFF WAVE file")
        }
        var format: (encoding: Encoding, sampleRate: Int, channels: Int)?
        var offset = 12
        while offset + 8 <= bytes.count {
            let name = Self.text(bytes, at: offset)
            let length = Self.integer(bytes, at: offset + 4, size: 4)
            let body = offset + 8
            let end = min(body + length, bytes.count)
            if name == "fmt " {
                format = try Self.parseFormat(bytes, from: body, to: end)
            } else if name == "data" {
                guard let format else {
                    throw WAVError(offset: offset, reason: "samples come before the chunk that describes them")
                }
                (encoding, sampleRate, channels) = format
                sampleBytes = bytes[body..<end]
                return
            }
            offset = body + length + (length & 1)
        }
        throw WAVError(offset: bytes.count, reason: "ends without samples")
    }

    /// The sound as one channel at `rate` hertz: the mean of the channels.
    public func monoSamples(rate: Int = 48_000) throws(WAVError) -> [Int16] {
        guard var converter = SampleRateConverter(from: sampleRate, to: rate) else {
            throw WAVError(offset: 0, reason: "cannot change \(sampleRate) Hz into \(rate) Hz")
        }
        let mono = mixedSamples()
        var output: [Int16] = []
        output.reserveCapacity(mono.count * rate / sampleRate + 1024)
        mono.withUnsafeBufferPointer { converter.convert($0, appendingTo: &output) }
        if sampleRate != rate {
            converter.finish(appendingTo: &output)
        }
        return output
    }

    private func mixedSamples() -> [Int16] {
        let size = encoding.bytesPerSample
        return sampleBytes.withUnsafeBytes { bytes in
            (0..<sampleCount).map { index in
                var sum = 0
                for channel in 0..<channels {
                    sum += Int(sample(bytes, at: (index * channels + channel) * size))
                }
                return Int16(truncatingIfNeeded: sum / channels)
            }
        }
    }

    private func sample(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int16 {
        switch encoding {
        case .g711(let law):
            return law.decode(bytes[offset])
        case .integer(bits: 8):
            return (Int16(bytes[offset]) - 128) << 8
        case .integer(let bits):
            // The two most significant bytes, which are the last.
            let high = offset + bits / 8 - 2
            return Int16(bitPattern: UInt16(bytes[high]) | UInt16(bytes[high + 1]) << 8)
        case .floatingPoint(bits: 64):
            let value = Double(
                bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            return Self.sample(value)
        case .floatingPoint:
            let value = Float(
                bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            return Self.sample(Double(value))
        }
    }

    private static func sample(_ value: Double) -> Int16 {
        value.isFinite ? Int16(min(max((value * 32768).rounded(), -32768), 32767)) : 0
    }

    private static func parseFormat(
        _ bytes: [UInt8], from body: Int, to end: Int
    ) throws(WAVError) -> (Encoding, Int, Int) {
        guard end - body >= 16 else {
            throw WAVError(offset: body, reason: "the description of the samples is shorter than 16 bytes")
        }
        var tag = integer(bytes, at: body, size: 2)
        let channels = integer(bytes, at: body + 2, size: 2)
        let sampleRate = integer(bytes, at: body + 4, size: 4)
        let bits = integer(bytes, at: body + 14, size: 2)
        // The extensible form holds the real tag in the first two bytes of its sub-format.
        if tag == 0xFFFE, end - body >= 26 {
            tag = integer(bytes, at: body + 24, size: 2)
        }
        guard (1...32).contains(channels) else {
            throw WAVError(offset: body + 2, reason: "\(channels) channels; 1 to 32 can be read")
        }
        guard SampleRateConverter.rates.contains(sampleRate) else {
            throw WAVError(offset: body + 4, reason: "\(sampleRate) samples a second; 1,000 to 768,000 can be read")
        }
        switch (tag, bits) {
        case (1, 8), (1, 16), (1, 24), (1, 32): return (.integer(bits: bits), sampleRate, channels)
        case (3, 32), (3, 64): return (.floatingPoint(bits: bits), sampleRate, channels)
        case (6, 8): return (.g711(.aLaw), sampleRate, channels)
        case (7, 8): return (.g711(.muLaw), sampleRate, channels)
        default:
            throw WAVError(
                offset: body,
                reason: "format \(tag) with \(bits) bits a sample; convert it to 16-bit PCM first "
                    + "(for example with ffmpeg -i IN -c:a pcm_s16le OUT.wav)")
        }
    }

    private static func text(_ bytes: [UInt8], at offset: Int) -> String {
        String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    }

    private static func integer(_ bytes: [UInt8], at offset: Int, size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    /// The bytes of a file with 16-bit samples, for recordings and tests.
    public static func encode(_ samples: [Int16], sampleRate: Int, channels: Int = 1) -> [UInt8] {
        func littleEndian(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let length = samples.count * 2
        var bytes = Array("RIFF".utf8) + littleEndian(36 + length, 4) + Array("WAVEfmt ".utf8) + littleEndian(16, 4)
        bytes += littleEndian(1, 2) + littleEndian(channels, 2) + littleEndian(sampleRate, 4)
        bytes += littleEndian(sampleRate * channels * 2, 4) + littleEndian(channels * 2, 2) + littleEndian(16, 2)
        bytes += Array("data".utf8) + littleEndian(length, 4)
        for sample in samples {
            bytes += [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
        return bytes
    }
}
