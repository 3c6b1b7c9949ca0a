extension H265 {
    /// What a sequence parameter set says about the stream (ITU-T H.265, section 7.3.2.2).
    public struct SequenceParameterSet: Equatable, Sendable {
        /// The twelve bytes of the general profile, tier and level (section 7.3.3) unchanged, which files repeat.
        public let profileTierLevel: [UInt8]
        /// How chroma is sampled: 0 not at all, 1 4:2:0, 2 4:2:2, 3 4:4:4.
        public let chromaFormat: Int
        /// The profile: 1 Main, 2 Main 10, 3 Main Still Picture.
        public let profile: Int
        /// Whether the High tier is used.
        public let isHighTier: Bool
        /// Thirty times the level: 93 is level 3.1.
        public let level: Int
        /// The picture's width in pixels, cropped.
        public let width: Int
        /// The picture's height in pixels, cropped.
        public let height: Int
        /// The bits per luma sample.
        public let bitDepth: Int
        /// The bits per chroma sample.
        public let chromaBitDepth: Int
        /// How many pictures may come before one that is shown earlier: 0 where they come in display order.
        public let reorderedPictures: Int

        /// Reads a NAL unit; nil when its type is not 33, when it is cut short, or when it describes an impossible
        /// picture.
        public init?(parsing unit: UnsafeRawBufferPointer) {
            guard unit.count > 15, H265.type(unit[0]) == UnitType.sequenceParameterSet else { return nil }
            var bits = BitReader(unit.from(headerLength))
            guard bits.read(4) != nil, let subLayers = bits.read(3), subLayers < 7, bits.readBit() != nil,
                let general = bits.readBytes(12), Self.skipSubLayers(&bits, count: Int(subLayers)),
                bits.readExpGolomb() != nil,
                let chroma = bits.readExpGolomb(), chroma <= 3
            else { return nil }
            profileTierLevel = general
            profile = Int(general[0] & 0x1F)
            isHighTier = general[0] & 0x20 != 0
            level = Int(general[11])
            chromaFormat = Int(chroma)
            if chroma == 3, bits.readBit() == nil { return nil }
            guard let codedWidth = bits.readExpGolomb(), let codedHeight = bits.readExpGolomb(),
                (1...16_384).contains(codedWidth), (1...16_384).contains(codedHeight), let isCropped = bits.readBit()
            else { return nil }
            var crop = [0, 0, 0, 0]
            if isCropped == 1 {
                for index in crop.indices {
                    guard let value = bits.readExpGolomb(), value < 16_384 else { return nil }
                    crop[index] = Int(value)
                }
            }
            width = Int(codedWidth) - (crop[0] + crop[1]) * (chroma == 1 || chroma == 2 ? 2 : 1)
            height = Int(codedHeight) - (crop[2] + crop[3]) * (chroma == 1 ? 2 : 1)
            guard width > 0, height > 0, let depth = bits.readExpGolomb(), depth <= 8,
                let chromaDepth = bits.readExpGolomb(), chromaDepth <= 8, bits.readExpGolomb() != nil,
                let hasEach = bits.readBit()
            else { return nil }
            bitDepth = 8 + Int(depth)
            chromaBitDepth = 8 + Int(chromaDepth)
            var reordered = 0
            for _ in (hasEach == 1 ? 0 : subLayers)...subLayers {
                guard bits.readExpGolomb() != nil, let count = bits.readExpGolomb(), count <= 16,
                    bits.readExpGolomb() != nil
                else { return nil }
                reordered = Int(count)
            }
            reorderedPictures = reordered
        }

        private static func skipSubLayers(_ bits: inout BitReader, count: Int) -> Bool {
            guard count > 0 else { return true }
            var parts: [(profile: Bool, level: Bool)] = []
            for index in 0..<8 {
                guard let profile = bits.readBit(), let level = bits.readBit() else { return false }
                if index < count { parts.append((profile == 1, level == 1)) }
            }
            for part in parts {
                if part.profile, bits.read(32) == nil || bits.read(32) == nil || bits.read(24) == nil { return false }
                if part.level, bits.read(8) == nil { return false }
            }
            return true
        }
    }
}
