extension VP9 {
    /// What a key frame says about the stream in its uncompressed header (VP9 bitstream specification, section 6.2).
    public struct FrameHeader: Equatable, Sendable, BitwiseCopyable {
        /// The profile, from 0 to 3.
        public let profile: Int
        /// The bits per sample: 8, 10 or 12.
        public let bitDepth: Int
        /// Whether chroma is sampled half as often as the luma, horizontally.
        public let isSubsampledHorizontally: Bool
        /// Whether chroma is sampled half as often as the luma, vertically.
        public let isSubsampledVertically: Bool
        /// Whether samples use the full range instead of the studio range.
        public let isFullRange: Bool
        /// The picture's width in pixels.
        public let width: Int
        /// The picture's height in pixels.
        public let height: Int

        /// Reads the header of a whole key frame; nil for other frames and for one that is cut short.
        public init?(parsing frame: UnsafeRawBufferPointer) {
            var bits = PlainBitReader(frame)
            guard bits.read(2) == 2, let low = bits.read(1), let high = bits.read(1) else { return nil }
            profile = Int(high << 1 | low)
            if profile == 3, bits.read(1) != 0 { return nil }
            // Not a repeated frame; a key frame; whether it is shown; the error-resilient mode.
            guard bits.read(1) == 0, bits.read(1) == 0, bits.skip(2), bits.read(24) == 0x49_8342 else { return nil }
            var depth = 8
            if profile >= 2 {
                guard let isTwelve = bits.read(1) else { return nil }
                depth = isTwelve == 1 ? 12 : 10
            }
            bitDepth = depth
            guard let colorSpace = bits.read(3) else { return nil }
            let isOdd = profile & 1 == 1
            if colorSpace == 7 {
                // RGB, which only the odd profiles have, always with full range and full chroma resolution.
                guard isOdd, bits.skip(1) else { return nil }
                isFullRange = true
                (isSubsampledHorizontally, isSubsampledVertically) = (false, false)
            } else {
                guard let range = bits.read(1) else { return nil }
                isFullRange = range == 1
                if isOdd {
                    guard let horizontal = bits.read(1), let vertical = bits.read(1), bits.skip(1) else { return nil }
                    (isSubsampledHorizontally, isSubsampledVertically) = (horizontal == 1, vertical == 1)
                } else {
                    (isSubsampledHorizontally, isSubsampledVertically) = (true, true)
                }
            }
            guard let width = bits.read(16), let height = bits.read(16) else { return nil }
            self.width = Int(width) + 1
            self.height = Int(height) + 1
        }
    }
}
