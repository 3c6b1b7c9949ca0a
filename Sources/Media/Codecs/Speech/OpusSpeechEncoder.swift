/// Opus (RFC 7587) in frames of 20 ms.
final class OpusSpeechEncoder: AudioEncoder {
    let clockRate = 48_000
    let ticksPerPacket = 960
    private var encoder: OpusEncoder
    private var framer: SpeechFramer
    private var packetBytes = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)

    init(bitsPerSecond: Int) throws(CodecError) {
        encoder = try OpusEncoder(.init(bitsPerSecond: min(max(bitsPerSecond, 6000), 510_000)))
        framer = try SpeechFramer(to: 48_000, frameLength: 960, codec: "Opus")
    }

    func encode(
        _ samples: UnsafeBufferPointer<Int16>, _ packet: (UnsafeRawBufferPointer, Int) -> Void
    ) throws(CodecError) {
        try framer.append(samples) { frame throws(CodecError) in
            let length = try packetBytes.withUnsafeMutableBufferPointer { bytes throws(CodecError) in
                try encoder.encode(frame, into: UnsafeMutableRawBufferPointer(bytes))
            }
            packetBytes.withUnsafeBytes { packet(UnsafeRawBufferPointer(rebasing: $0[..<length]), frame.count) }
        }
    }
}
