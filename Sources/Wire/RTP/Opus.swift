/// The Opus payload format (RFC 7587): a payload is one Opus packet (RFC 6716).
public enum Opus {
    /// The RTP clock of Opus, whatever rate the audio was sampled at.
    public static let clockRate = 48_000

    /// What the first byte (and, for a packet of many frames, the second) of an Opus packet says (RFC 6716,
    /// section 3.1).
    public struct TableOfContents: Equatable, Sendable, BitwiseCopyable {
        /// The coding mode.
        public enum Mode: Sendable, BitwiseCopyable { case silk, hybrid, celt }

        /// The coding mode.
        public let mode: Mode
        /// Whether the packet holds two channels.
        public let isStereo: Bool
        /// The samples of one frame and channel at 48 kHz.
        public let samplesPerFrame: Int
        /// The frames in the packet, 1 to 48.
        public let frameCount: Int

        /// The samples of the whole packet and one channel at 48 kHz: how far the RTP timestamp moves.
        public var sampleCount: Int { samplesPerFrame * frameCount }

        /// Reads the head of a packet; nil for an empty packet, a frame count of zero, or more than 120 ms.
        public init?(parsing payload: UnsafeRawBufferPointer) {
            guard let first = payload.first else { return nil }
            let configuration = first >> 3
            isStereo = first & 0x04 != 0
            switch configuration {
            case 0..<12:
                mode = .silk
                samplesPerFrame = [480, 960, 1_920, 2_880][Int(configuration & 3)]
            case 12..<16:
                mode = .hybrid
                samplesPerFrame = configuration & 1 == 0 ? 480 : 960
            default:
                mode = .celt
                samplesPerFrame = 120 << Int(configuration & 3)
            }
            switch first & 3 {
            case 0: frameCount = 1
            case 1, 2: frameCount = 2
            default:
                guard payload.count > 1 else { return nil }
                frameCount = Int(payload[1] & 0x3F)
            }
            guard frameCount > 0, samplesPerFrame * frameCount <= 5_760 else { return nil }
        }
    }
}
