extension AV1 {
    /// What a sequence header says about the stream (AV1 bitstream specification, section 5.5).
    public struct SequenceHeader: Equatable, Sendable {
        /// The profile: 0 Main, 1 High, 2 Professional.
        public private(set) var profile = 0
        /// The level's index: 8 is level 4.0. Of several operating points it is that of the first one, which includes
        /// all layers.
        public private(set) var level = 0
        /// Whether the High tier is used.
        public private(set) var isHighTier = false
        /// The largest picture's width in pixels.
        public private(set) var width = 0
        /// The largest picture's height in pixels.
        public private(set) var height = 0
        /// The bits per sample: 8, 10 or 12.
        public private(set) var bitDepth = 8
        /// Whether the stream has no colours.
        public private(set) var isMonochrome = false
        /// Whether chroma is sampled half as often as the luma, horizontally.
        public private(set) var isSubsampledHorizontally = true
        /// Whether chroma is sampled half as often as the luma, vertically.
        public private(set) var isSubsampledVertically = true
        /// Where the chroma samples are: 0 unknown, 1 next to the luma samples, 2 on them.
        public private(set) var chromaSamplePosition = 0

        /// Finds and reads the sequence header of a temporal unit whose units have their sizes.
        /// - Returns: the header and its unit with header and size; nil when the temporal unit has no readable one.
        public static func find(
            inTemporalUnit bytes: UnsafeRawBufferPointer
        ) -> (header: SequenceHeader, unit: UnsafeRawBufferPointer)? {
            var rest = bytes
            while let first = rest.first, first & 0x82 == 0x02 {
                let headerLength = first & 0x04 == 0 ? 1 : 2
                guard rest.count > headerLength, let (length, size) = lengthField(rest.from(headerLength)),
                    headerLength + size + length <= rest.count
                else { return nil }
                let offset = headerLength + size
                let unit = UnsafeRawBufferPointer(rebasing: rest[..<(offset + length)])
                if type(first) == UnitType.sequenceHeader {
                    return SequenceHeader(parsing: unit.from(offset)).map { ($0, unit) }
                }
                rest = rest.from(offset + length)
            }
            return nil
        }

        /// Reads a sequence header without the unit's header; nil when it is cut short or impossible.
        public init?(parsing payload: UnsafeRawBufferPointer) {
            var bits = PlainBitReader(payload)
            guard let profile = bits.read(3), profile <= 2, bits.skip(1), let isReduced = bits.read(1) else {
                return nil
            }
            self.profile = Int(profile)
            if isReduced == 1 {
                guard let level = bits.read(5) else { return nil }
                self.level = Int(level)
            } else if !readOperatingPoints(&bits) {
                return nil
            }
            guard readSize(&bits), skipTools(&bits, isReduced: isReduced == 1), readColor(&bits) else { return nil }
        }

        private mutating func readOperatingPoints(_ bits: inout PlainBitReader) -> Bool {
            guard let hasTiming = bits.read(1) else { return false }
            var delayLength: Int?
            if hasTiming == 1 {
                guard bits.skip(64), let isEqual = bits.read(1), isEqual == 0 || skipVariableLength(&bits),
                    let hasDecoderModel = bits.read(1)
                else { return false }
                if hasDecoderModel == 1 {
                    guard let length = bits.read(5), bits.skip(42) else { return false }
                    delayLength = Int(length) + 1
                }
            }
            guard let hasDisplayDelay = bits.read(1), let last = bits.read(5) else { return false }
            for point in 0...last {
                guard bits.skip(12), let level = bits.read(5) else { return false }
                var tier: UInt32 = 0
                if level > 7 {
                    guard let bit = bits.read(1) else { return false }
                    tier = bit
                }
                if point == 0 {
                    self.level = Int(level)
                    isHighTier = tier == 1
                }
                if let delayLength {
                    guard let isPresent = bits.read(1) else { return false }
                    if isPresent == 1, !bits.skip(2 * delayLength + 1) { return false }
                }
                if hasDisplayDelay == 1 {
                    guard let isPresent = bits.read(1) else { return false }
                    if isPresent == 1, !bits.skip(4) { return false }
                }
            }
            return true
        }

        private mutating func readSize(_ bits: inout PlainBitReader) -> Bool {
            guard let widthBits = bits.read(4), let heightBits = bits.read(4),
                let width = bits.read(Int(widthBits) + 1), let height = bits.read(Int(heightBits) + 1)
            else { return false }
            self.width = Int(width) + 1
            self.height = Int(height) + 1
            return true
        }

        /// Skips the frame numbers and the coding tools, up to the colours.
        private func skipTools(_ bits: inout PlainBitReader, isReduced: Bool) -> Bool {
            if !isReduced {
                guard let hasFrameNumbers = bits.read(1), hasFrameNumbers == 0 || bits.skip(7) else { return false }
            }
            guard bits.skip(3) else { return false }
            if !isReduced {
                guard bits.skip(4), let hasOrderHint = bits.read(1), hasOrderHint == 0 || bits.skip(2),
                    let choosesScreenTools = bits.read(1)
                else { return false }
                var forcesScreenTools: UInt32 = 2
                if choosesScreenTools == 0 {
                    guard let forced = bits.read(1) else { return false }
                    forcesScreenTools = forced
                }
                if forcesScreenTools > 0 {
                    guard let choosesWholeMotion = bits.read(1), choosesWholeMotion == 1 || bits.skip(1) else {
                        return false
                    }
                }
                if hasOrderHint == 1, !bits.skip(3) { return false }
            }
            return bits.skip(3)
        }

        private mutating func readColor(_ bits: inout PlainBitReader) -> Bool {
            guard let isDeep = bits.read(1) else { return false }
            bitDepth = isDeep == 1 ? 10 : 8
            if profile == 2, isDeep == 1 {
                guard let isTwelve = bits.read(1) else { return false }
                if isTwelve == 1 { bitDepth = 12 }
            }
            if profile != 1 {
                guard let bit = bits.read(1) else { return false }
                isMonochrome = bit == 1
            }
            guard let isDescribed = bits.read(1) else { return false }
            // Primaries, transfer and matrix; 2 is unspecified.
            var description: [UInt32] = [2, 2, 2]
            if isDescribed == 1 {
                for index in description.indices {
                    guard let value = bits.read(8) else { return false }
                    description[index] = value
                }
            }
            if isMonochrome { return bits.skip(1) }
            if description == [1, 13, 0] {
                // sRGB.
                (isSubsampledHorizontally, isSubsampledVertically) = (false, false)
                return true
            }
            guard bits.skip(1) else { return false }
            switch profile {
            case 0: break
            case 1: (isSubsampledHorizontally, isSubsampledVertically) = (false, false)
            default:
                (isSubsampledHorizontally, isSubsampledVertically) = (true, false)
                if bitDepth == 12 {
                    guard let horizontal = bits.read(1) else { return false }
                    isSubsampledHorizontally = horizontal == 1
                    if horizontal == 1 {
                        guard let vertical = bits.read(1) else { return false }
                        isSubsampledVertically = vertical == 1
                    }
                }
            }
            if isSubsampledHorizontally, isSubsampledVertically {
                guard let position = bits.read(2) else { return false }
                chromaSamplePosition = Int(position)
            }
            return true
        }

        /// Skips a variable-length number (section 4.10.3).
        private func skipVariableLength(_ bits: inout PlainBitReader) -> Bool {
            var zeros = 0
            while let bit = bits.read(1) {
                if bit == 1 { return bits.skip(zeros) }
                zeros += 1
                if zeros == 32 { return true }
            }
            return false
        }
    }
}
