import RTP
import SDP

/// G.726 (RFC 3551, section 4.5.4) in packets of 20 ms, by libavcodec.
final class G726SpeechEncoder: AudioEncoder {
    let clockRate: Int
    let ticksPerPacket: Int
    private var encoder: LibavEncoder
    private var framer: SpeechFramer

    init(_ variant: G726, sampleRate: Int) throws(CodecError) {
        guard sampleRate == 8000 else {
            throw CodecError(
                codec: variant.name, operation: "make an encoder",
                reason: "a rate of \(sampleRate) Hz: G.726 has 8000 Hz (RFC 3551, section 4.5.4)")
        }
        clockRate = sampleRate
        // Eight code words are a whole number of octets in every variant.
        ticksPerPacket = 160
        encoder = try LibavEncoder(
            .init(
                name: variant.libavName, codec: variant.name, bitsPerSecond: variant.bitsPerSample * sampleRate,
                sampleRate: sampleRate, frameLength: ticksPerPacket))
        framer = try SpeechFramer(to: sampleRate, frameLength: ticksPerPacket, codec: variant.name)
    }

    func encode(
        _ samples: UnsafeBufferPointer<Int16>, _ packet: (UnsafeRawBufferPointer, Int) -> Void
    ) throws(CodecError) {
        try framer.append(samples) { frame throws(CodecError) in
            try encoder.encode(frame) { packet($0, frame.count) }
        }
    }
}

/// AAC-LC in `mpeg4-generic`, one access unit in a packet (RFC 3640, section 3.3.6), by libavcodec.
final class AACSpeechEncoder: AudioEncoder {
    let clockRate: Int
    let ticksPerPacket: Int
    private var encoder: LibavEncoder
    private var framer: SpeechFramer
    private var payload: [UInt8] = []

    init(_ codec: MediaCodec, bitsPerSecond: Int) throws(CodecError) {
        let config = AudioSpecificConfig.bytes(in: codec.formatParameters).flatMap(AudioSpecificConfig.init(parsing:))
        if let config, ![2, 5, 29].contains(config.objectType) {
            throw CodecError(
                codec: codec.name, operation: "make an encoder",
                reason: "\(config.name) is requested, but only AAC-LC can be encoded")
        }
        if let mode = codec.formatParameters["mode"]?.lowercased(), mode != "aac-hbr" {
            throw CodecError(
                codec: codec.name, operation: "make an encoder",
                reason: "the mode \(mode) is requested, but only AAC-hbr can be encoded")
        }
        // If a camera names HE-AAC, its core at half the rate is plain AAC-LC, but then the clock of `a=rtpmap`
        // differs from the sound's. A decoder without parameters would use the rate of `a=rtpmap`.
        let sampleRate = config.flatMap { $0.objectType == 2 ? $0.sampleRate : nil } ?? codec.clockRate
        let channels = min(max(config?.channels ?? codec.channels, 1), 2)
        clockRate = sampleRate
        let options = LibavEncoder.Options(
            name: "aac", codec: "AAC-LC", bitsPerSecond: bitsPerSecond * channels, sampleRate: sampleRate,
            channels: channels)
        encoder = try LibavEncoder(options)
        ticksPerPacket = max(1, encoder.frameLength)
        framer = try SpeechFramer(to: sampleRate, frameLength: ticksPerPacket, codec: "AAC-LC")
    }

    func encode(
        _ samples: UnsafeBufferPointer<Int16>, _ packet: (UnsafeRawBufferPointer, Int) -> Void
    ) throws(CodecError) {
        try framer.append(samples) { frame throws(CodecError) in
            try encoder.encode(frame) { unit in
                // A unit that exceeds the size's 13 bits cannot occur at these rates: a channel has 6,144 bits at most.
                guard unit.count < 8192 else { return }
                let head = MPEG4Generic.singleUnitHeaderLength
                payload.removeAll(keepingCapacity: true)
                payload.append(contentsOf: repeatElement(0, count: head))
                payload.withUnsafeMutableBytes { MPEG4Generic.writeSingleUnitHeader(length: unit.count, into: $0) }
                payload.append(contentsOf: unit)
                payload.withUnsafeBytes { packet($0, frame.count) }
            }
        }
    }
}
