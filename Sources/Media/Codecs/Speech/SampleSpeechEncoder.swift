import SDP

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
