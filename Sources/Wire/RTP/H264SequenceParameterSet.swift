extension H264 {
    /// What a sequence parameter set says about the stream (ITU-T H.264, sections 7.3.2.1.1 and annex E).
    public struct SequenceParameterSet: Equatable, Sendable {
        /// The profile: 66 Baseline, 77 Main, 100 High.
        public let profile: UInt8
        /// The constraint flags, the first in the highest bit.
        public let constraints: UInt8
        /// Ten times the level.
        public let level: UInt8
        /// The picture's width in pixels, cropped.
        public let width: Int
        /// The picture's height in pixels, cropped.
        public let height: Int
        /// Frames per second, where the stream states it.
        public let framesPerSecond: Double?
        /// How many pictures a decoder may have to hold back to show them in order: 0 where the stream promises not to
        /// reorder with B-frames, nil where it promises nothing.
        public let reorderedFrames: Int?

        /// The `profile-level-id` of RFC 6184, section 8.1: six hexadecimal digits.
        public var profileLevelID: String {
            let digits = Array("0123456789abcdef".utf8)
            let bytes = [profile, constraints, level].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Whether the stream may hold B-frames, which browsers do not play over WebRTC. This is a hint: the profiles
        /// without B-frames and a promise not to reorder mean no, anything else means maybe.
        public var mayHoldBFrames: Bool {
            if profile == 66 { return false }
            return reorderedFrames.map { $0 > 0 } ?? true
        }

        /// Reads a NAL unit; nil when its type is not 7, when it is cut short, or when it describes an impossible
        /// picture.
        public init?(parsing unit: UnsafeRawBufferPointer) {
            guard unit.count >= 4, unit[0] & 0x1F == UnitType.sequenceParameterSet else { return nil }
            profile = unit[1]
            constraints = unit[2]
            level = unit[3]
            var bits = BitReader(unit.from(4))
            guard let size = PictureSize(&bits, profile: profile) else { return nil }
            width = size.width
            height = size.height
            let usability = UsabilityInformation(&bits)
            framesPerSecond = usability?.framesPerSecond
            reorderedFrames = usability?.reorderedFrames
        }
    }

    /// The part of a sequence parameter set up to the cropping.
    private struct PictureSize {
        let width: Int
        let height: Int

        init?(_ bits: inout BitReader, profile: UInt8) {
            guard bits.readExpGolomb() != nil else { return nil }
            var chroma: UInt32 = 1
            if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) {
                guard let format = Self.readChroma(&bits) else { return nil }
                chroma = format
            }
            guard bits.readExpGolomb() != nil, Self.skipPictureOrder(&bits),
                bits.readExpGolomb() != nil, bits.readBit() != nil,
                let widthInMacroblocks = bits.readExpGolomb(), let heightInMapUnits = bits.readExpGolomb(),
                widthInMacroblocks < 1_024, heightInMapUnits < 1_024, let framesOnly = bits.readBit()
            else { return nil }
            if framesOnly == 0 { _ = bits.readBit() }
            guard bits.readBit() != nil, let isCropped = bits.readBit() else { return nil }
            var crop: [Int] = [0, 0, 0, 0]
            if isCropped == 1 {
                for index in crop.indices {
                    guard let value = bits.readExpGolomb() else { return nil }
                    crop[index] = Int(value)
                }
            }
            let unitX = chroma == 1 || chroma == 2 ? 2 : 1
            let unitY = (chroma == 1 ? 2 : 1) * (framesOnly == 1 ? 1 : 2)
            width = Int(widthInMacroblocks + 1) * 16 - (crop[0] + crop[1]) * unitX
            height = Int(heightInMapUnits + 1) * 16 * (framesOnly == 1 ? 1 : 2) - (crop[2] + crop[3]) * unitY
            guard width > 0, height > 0 else { return nil }
        }

        /// Reads the fields that only the high profiles have, and returns the chroma format.
        private static func readChroma(_ bits: inout BitReader) -> UInt32? {
            guard let chroma = bits.readExpGolomb(), chroma <= 3 else { return nil }
            var separatePlanes: UInt32 = 0
            if chroma == 3 {
                guard let flag = bits.readBit() else { return nil }
                separatePlanes = flag
            }
            guard bits.readExpGolomb() != nil, bits.readExpGolomb() != nil, bits.readBit() != nil,
                let hasScaling = bits.readBit()
            else { return nil }
            if hasScaling == 1 {
                for index in 0..<(chroma == 3 ? 12 : 8) {
                    guard let isPresent = bits.readBit() else { return nil }
                    if isPresent == 1, !skipScalingList(&bits, count: index < 6 ? 16 : 64) { return nil }
                }
            }
            return separatePlanes == 1 ? 0 : chroma
        }

        private static func skipScalingList(_ bits: inout BitReader, count: Int) -> Bool {
            var last: Int32 = 8
            var next: Int32 = 8
            for _ in 0..<count {
                if next != 0 {
                    guard let delta = bits.readSignedExpGolomb() else { return false }
                    next = (last &+ delta &+ 256) & 255
                }
                if next != 0 { last = next }
            }
            return true
        }

        private static func skipPictureOrder(_ bits: inout BitReader) -> Bool {
            switch bits.readExpGolomb() {
            case 0: return bits.readExpGolomb() != nil
            case 1:
                guard bits.readBit() != nil, bits.readExpGolomb() != nil, bits.readExpGolomb() != nil,
                    let count = bits.readExpGolomb(), count < 256
                else { return false }
                for _ in 0..<count {
                    guard bits.readExpGolomb() != nil else { return false }
                }
                return true
            case 2: return true
            default: return false
            }
        }
    }

    /// The usability information (annex E); nil when the set holds none or it is cut short, which does no harm.
    private struct UsabilityInformation {
        var framesPerSecond: Double?
        var reorderedFrames: Int?

        init?(_ bits: inout BitReader) {
            guard bits.readBit() == 1, Self.skipToTiming(&bits), let hasTiming = bits.readBit() else { return nil }
            if hasTiming == 1 {
                guard let unit = bits.read(32), let scale = bits.read(32), bits.readBit() != nil else { return nil }
                // A frame lasts two of the units, one for each field.
                if unit > 0, scale > 0 { framesPerSecond = Double(scale) / Double(unit) / 2 }
            }
            guard let hasNetwork = bits.readBit() else { return }
            if hasNetwork == 1, !Self.skipBuffering(&bits) { return }
            guard let hasVideo = bits.readBit() else { return }
            if hasVideo == 1, !Self.skipBuffering(&bits) { return }
            if hasNetwork == 1 || hasVideo == 1, bits.readBit() == nil { return }
            guard bits.readBit() != nil, bits.readBit() == 1, bits.readBit() != nil else { return }
            for _ in 0..<4 where bits.readExpGolomb() == nil { return }
            reorderedFrames = bits.readExpGolomb().map { Int($0) }
        }

        private static func skipToTiming(_ bits: inout BitReader) -> Bool {
            guard let hasAspect = bits.readBit() else { return false }
            if hasAspect == 1 {
                guard let aspect = bits.read(8) else { return false }
                if aspect == 255, bits.read(32) == nil { return false }
            }
            guard let hasOverscan = bits.readBit() else { return false }
            if hasOverscan == 1, bits.readBit() == nil { return false }
            guard let hasSignal = bits.readBit() else { return false }
            if hasSignal == 1 {
                guard bits.read(4) != nil, let hasColour = bits.readBit() else { return false }
                if hasColour == 1, bits.read(24) == nil { return false }
            }
            guard let hasLocation = bits.readBit() else { return false }
            return hasLocation == 0 || bits.readExpGolomb() != nil && bits.readExpGolomb() != nil
        }

        private static func skipBuffering(_ bits: inout BitReader) -> Bool {
            guard let count = bits.readExpGolomb(), count < 32, bits.read(8) != nil else { return false }
            for _ in 0...count {
                guard bits.readExpGolomb() != nil, bits.readExpGolomb() != nil, bits.readBit() != nil else {
                    return false
                }
            }
            return bits.read(20) != nil
        }
    }
}

extension H264 {
    /// The kinds of slices (ITU-T H.264, table 7-6).
    public enum SliceType: UInt8, Sendable {
        case predicted, bidirectional, intra, switchingPredicted, switchingIntra
    }

    /// The kind of a NAL unit that is a slice; nil for another unit, or one that is cut short.
    public static func sliceType(ofUnit unit: UnsafeRawBufferPointer) -> SliceType? {
        guard let header = unit.first, isSlice(header & 0x1F) else { return nil }
        var bits = BitReader(UnsafeRawBufferPointer(rebasing: unit[1..<min(unit.count, 16)]))
        guard bits.readExpGolomb() != nil, let type = bits.readExpGolomb(), type < 10 else { return nil }
        return SliceType(rawValue: UInt8(type % 5))
    }

    /// Whether a payload starts a B-slice: a single unit, or the first fragment of one.
    public static func startsBidirectionalSlice(payload: UnsafeRawBufferPointer) -> Bool {
        guard let first = payload.first else { return false }
        guard first & 0x1F == UnitType.fragmentationUnit else {
            return sliceType(ofUnit: payload) == .bidirectional
        }
        // The fragment's header holds the unit's type, so it reads like the unit's own header.
        guard payload.count > 2, payload[1] & 0x80 != 0 else { return false }
        return sliceType(ofUnit: payload.from(1)) == .bidirectional
    }
}
