import COpus

/// Encodes sound as Opus (RFC 6716) at 48 kHz.
public struct OpusEncoder: ~Copyable {
    /// What the encoder should favour.
    public enum Application: Sendable, Hashable {
        /// Intelligible speech.
        case voice
        /// Faithful sound of any kind.
        case audio
    }

    /// How to encode.
    public struct Configuration: Sendable, Hashable {
        /// 1 or 2.
        public var channels: Int
        /// The target bit rate, in bits per second.
        public var bitsPerSecond: Int
        /// What to favour.
        public var application: Application
        /// The effort, 0 to 10.
        public var complexity: Int
        /// Whether packets carry the sound before their own for a receiver that loses some (in-band FEC, RFC 6716, section
        /// 2.1.7). How much of it depends on ``OpusEncoder/setExpectedLoss(percent:)``; without loss there is none.
        public var carriesRedundancy = false

        /// Describes an encoder.
        public init(
            channels: Int = 1, bitsPerSecond: Int = 32_000, application: Application = .voice, complexity: Int = 5
        ) {
            self.channels = channels
            self.bitsPerSecond = bitsPerSecond
            self.application = application
            self.complexity = complexity
        }
    }

    /// The largest packet that ``encode(_:into:)`` makes (RFC 6716, section 3.2.1, for one frame).
    public static let maximumPacketSize = 1275
    private let encoder: OpaquePointer
    private let channels: Int
    private let bitsPerSecond: Int
    private let carriesRedundancy: Bool

    /// Makes an encoder.
    public init(_ configuration: Configuration = Configuration()) throws(CodecError) {
        var result: Int32 = 0
        let application = configuration.application == .voice ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO
        guard (1...2).contains(configuration.channels),
            let created = opus_encoder_create(48_000, Int32(configuration.channels), application, &result)
        else {
            throw CodecError(
                codec: "Opus", operation: "make an encoder",
                reason: result == 0 ? "\(configuration.channels) channels" : String(cString: opus_strerror(result)))
        }
        for setting in [
            gatehouse_opus_set_bitrate(created, Int32(clamping: configuration.bitsPerSecond)),
            gatehouse_opus_set_complexity(created, Int32(clamping: configuration.complexity)),
            gatehouse_opus_set_inband_fec(created, configuration.carriesRedundancy ? 1 : 0),
        ] where setting != OPUS_OK {
            opus_encoder_destroy(created)
            throw CodecError(
                codec: "Opus", operation: "make an encoder",
                reason: "\(configuration): " + String(cString: opus_strerror(setting)))
        }
        // Assigned last, so that a throw above does not run `deinit`.
        encoder = created
        channels = configuration.channels
        bitsPerSecond = configuration.bitsPerSecond
        carriesRedundancy = configuration.carriesRedundancy
    }

    deinit {
        opus_encoder_destroy(encoder)
    }

    /// Sets how many of a hundred packets the receiver loses. The encoder spends more bits on redundancy the more there are.
    ///
    /// With redundancy and loss the bit rate is a quarter higher: at 32 kbit/s libopus gives no redundancy for 5 % loss or
    /// less, and beyond that takes the bits from the sound.
    public mutating func setExpectedLoss(percent: Int) throws(CodecError) {
        let isRedundant = carriesRedundancy && percent > 0
        for result in [
            gatehouse_opus_set_packet_loss(encoder, Int32(min(max(percent, 0), 100))),
            gatehouse_opus_set_bitrate(encoder, Int32(clamping: isRedundant ? bitsPerSecond / 4 * 5 : bitsPerSecond)),
        ] where result != OPUS_OK {
            throw CodecError(
                codec: "Opus", operation: "expect \(percent) % loss", reason: String(cString: opus_strerror(result)))
        }
    }

    /// Encodes one frame of 2.5, 5, 10, 20, 40 or 60 ms (120 to 2,880 samples per channel, interleaved).
    ///
    /// - Returns: the packet's length in bytes.
    public mutating func encode(
        _ samples: UnsafeBufferPointer<Int16>, into packet: UnsafeMutableRawBufferPointer
    ) throws(CodecError) -> Int {
        guard let input = samples.baseAddress, let output = packet.bindMemory(to: UInt8.self).baseAddress else {
            throw CodecError(codec: "Opus", operation: "encode", reason: "no samples, or no room for the packet")
        }
        let length = opus_encode(
            encoder, input, Int32(clamping: samples.count / channels), output, Int32(clamping: packet.count))
        guard length > 0 else {
            throw CodecError(
                codec: "Opus", operation: "encode",
                reason: "\(samples.count / channels) samples: " + String(cString: opus_strerror(length)))
        }
        return Int(length)
    }

    /// Encodes one frame into a new packet; see ``encode(_:into:)``.
    public mutating func encode(_ samples: [Int16]) throws(CodecError) -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: Self.maximumPacketSize)
        let length = try samples.withUnsafeBufferPointer { samples throws(CodecError) in
            try packet.withUnsafeMutableBufferPointer { packet throws(CodecError) in
                try encode(samples, into: UnsafeMutableRawBufferPointer(packet))
            }
        }
        packet.removeLast(packet.count - length)
        return packet
    }
}

/// Decodes Opus packets (RFC 6716) to sound at 48 kHz.
public struct OpusDecoder: ~Copyable {
    /// The most samples per channel that one packet can hold (120 ms).
    public static let maximumSamplesPerPacket = 5760
    private let decoder: OpaquePointer
    private let channels: Int

    /// Makes a decoder; packets of one or two channels are decoded to `channels`.
    public init(channels: Int = 1) throws(CodecError) {
        var result: Int32 = 0
        guard (1...2).contains(channels), let created = opus_decoder_create(48_000, Int32(channels), &result) else {
            throw CodecError(codec: "Opus", operation: "make a decoder", reason: "\(channels) channels")
        }
        decoder = created
        self.channels = channels
    }

    deinit {
        opus_decoder_destroy(decoder)
    }

    /// Decodes one packet.
    ///
    /// - Returns: the number of samples per channel that were written to `samples`.
    public mutating func decode(
        _ packet: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Int16>
    ) throws(CodecError) -> Int {
        guard let input = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0 else {
            throw CodecError(codec: "Opus", operation: "decode", reason: "the packet is empty")
        }
        guard let output = samples.baseAddress else {
            throw CodecError(codec: "Opus", operation: "decode", reason: "no room for the samples")
        }
        let count = opus_decode(
            decoder, input, Int32(clamping: packet.count), output, Int32(clamping: samples.count / channels), 0)
        guard count >= 0 else {
            throw CodecError(codec: "Opus", operation: "decode", reason: String(cString: opus_strerror(count)))
        }
        return Int(count)
    }

    /// Conceals a lost packet with substitute sound.
    ///
    /// - Parameter samples: as many as were lost, a multiple of 2.5 ms.
    /// - Returns: the number of samples per channel that were written.
    public mutating func conceal(into samples: UnsafeMutableBufferPointer<Int16>) throws(CodecError) -> Int {
        guard let output = samples.baseAddress else { return 0 }
        let count = opus_decode(decoder, nil, 0, output, Int32(clamping: samples.count / channels), 0)
        guard count >= 0 else {
            throw CodecError(codec: "Opus", operation: "conceal a loss", reason: String(cString: opus_strerror(count)))
        }
        return Int(count)
    }

    /// Restores the sound of a lost packet from the one after it, which must be decoded next. A packet without redundancy
    /// (``OpusPacket/hasRedundancy(_:)``) only helps to conceal the loss.
    ///
    /// - Parameter samples: as many as were lost, a multiple of 2.5 ms.
    /// - Returns: the number of samples per channel that were written.
    public mutating func restore(
        before packet: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Int16>
    ) throws(CodecError) -> Int {
        guard let input = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0,
            let output = samples.baseAddress
        else { return 0 }
        let count = opus_decode(
            decoder, input, Int32(clamping: packet.count), output, Int32(clamping: samples.count / channels), 1)
        guard count >= 0 else {
            throw CodecError(codec: "Opus", operation: "restore a loss", reason: String(cString: opus_strerror(count)))
        }
        return Int(count)
    }

    /// Decodes one packet into a new array of interleaved samples; see ``decode(_:into:)``.
    public mutating func decode(_ packet: [UInt8]) throws(CodecError) -> [Int16] {
        var samples = [Int16](repeating: 0, count: Self.maximumSamplesPerPacket * channels)
        let count = try packet.withUnsafeBufferPointer { packet throws(CodecError) in
            try samples.withUnsafeMutableBufferPointer { samples throws(CodecError) in
                try decode(UnsafeRawBufferPointer(packet), into: samples)
            }
        }
        samples.removeLast(samples.count - count * channels)
        return samples
    }

    /// Makes `samples` substitute samples per channel for a lost packet; see ``conceal(into:)``.
    public mutating func conceal(samples: Int) throws(CodecError) -> [Int16] {
        var output = [Int16](
            repeating: 0, count: min(max(samples, 0), Self.maximumSamplesPerPacket) * channels)
        let count = try output.withUnsafeMutableBufferPointer { output throws(CodecError) in
            try conceal(into: output)
        }
        output.removeLast(output.count - count * channels)
        return output
    }
}

/// What an Opus packet states about itself, without being decoded (RFC 6716, section 3).
public enum OpusPacket {
    /// How many samples per channel it holds at 48 kHz; nil if it is malformed.
    public static func sampleCount(_ packet: UnsafeRawBufferPointer) -> Int? {
        guard let bytes = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0 else { return nil }
        let count = opus_packet_get_nb_samples(bytes, Int32(clamping: packet.count), 48_000)
        return count > 0 ? Int(count) : nil
    }

    /// Whether it also holds the sound before its own, coded more coarsely (low bit-rate redundancy, section 4.2.5).
    public static func hasRedundancy(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard let bytes = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0 else { return false }
        // Configurations from 16 on are CELT alone, which has none (section 3.1).
        guard bytes[0] >> 3 < 16 else { return false }
        var sizes = [Int16](repeating: 0, count: 48)
        var frames = [UnsafePointer<UInt8>?](repeating: nil, count: 48)
        let count = opus_packet_parse(bytes, Int32(clamping: packet.count), nil, &frames, &sizes, nil)
        guard count > 0, sizes[0] > 0, let frame = frames[0] else { return false }
        // The SILK layer begins with a flag for each 20 ms of voice activity and one for redundancy, for each channel
        // (section 4.2.3). The first bits of a range coder's output are its first symbols where each is as likely as not.
        let parts = max(1, Int(opus_packet_get_samples_per_frame(bytes, 48_000)) / 960)
        let flags = Int(frame[0])
        if flags >> (7 - parts) & 1 == 1 { return true }
        let isStereo = opus_packet_get_nb_channels(bytes) == 2
        return isStereo && flags >> (6 - 2 * parts) & 1 == 1
    }
}
