/// A profile and level of H.264 as `profile-level-id` writes them (RFC 6184, section 8.1).
///
/// Several texts name the same profile: `42e01f`, `42c01f` and `4d801f` are all Constrained Baseline. Values compare by
/// the profile that is meant.
public struct H264Profile: Hashable, Sendable {
    /// The sub-profile (RFC 6184, table 5).
    public enum Profile: String, Hashable, Sendable, Codable {
        case constrainedBaseline = "Constrained Baseline"
        case baseline = "Baseline"
        case extended = "Extended"
        case main = "Main"
        case constrainedHigh = "Constrained High"
        case high = "High"
        case high10 = "High 10"
        case high10Intra = "High 10 Intra"
        case high422 = "High 4:2:2"
        case high422Intra = "High 4:2:2 Intra"
        case high444Predictive = "High 4:4:4 Predictive"
        case high444Intra = "High 4:4:4 Intra"
        case cavlc444Intra = "CAVLC 4:4:4 Intra"
    }

    /// The sub-profile.
    public var profile: Profile
    /// The level times ten; level 1b, which lies between 1 and 1.1, is ``level1b``.
    public var level: Level

    /// A level of H.264.
    public struct Level: Hashable, Sendable, Comparable, CustomStringConvertible {
        /// The level times a hundred; 105 for level 1b.
        public let hundredths: Int

        /// The level `tenths / 10`, for example 31 for level 3.1.
        public init(tenths: Int) { hundredths = tenths * 10 }

        private init(hundredths: Int) { self.hundredths = hundredths }

        /// Level 1b, between 1 and 1.1.
        public static let level1b = Level(hundredths: 105)

        public static func < (left: Level, right: Level) -> Bool { left.hundredths < right.hundredths }

        public var description: String {
            self == .level1b
                ? "1b" : hundredths % 100 == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(hundredths / 10 % 10)"
        }
    }

    /// Describes a profile and level.
    public init(profile: Profile, level: Level) {
        self.profile = profile
        self.level = level
    }

    /// Reads six hexadecimal digits; nil for anything else and for profiles that RFC 6184 does not name.
    public init?(profileLevelID text: some StringProtocol) {
        let digits = text.utf8.compactMap(\.hexadecimalDigit)
        guard digits.count == 6, text.utf8.count == 6 else { return nil }
        self.init(
            profileIDC: digits[0] << 4 | digits[1], constraints: digits[2] << 4 | digits[3],
            levelIDC: digits[4] << 4 | digits[5])
    }

    /// The three bytes after the NAL header of a sequence parameter set.
    public init?(profileIDC: UInt8, constraints: UInt8, levelIDC: UInt8) {
        guard let profile = Self.profile(profileIDC, constraints), levelIDC != 0 else { return nil }
        self.profile = profile
        let saysLevel1b = [66, 77, 88].contains(profileIDC) && constraints & 0x10 != 0 && levelIDC == 11
        level = saysLevel1b || levelIDC == 9 ? .level1b : Level(tenths: Int(levelIDC))
    }

    // For Baseline to Extended the last four bits are reserved. They are ignored, since cameras set constraint_set4 and
    // 5.
    private static func profile(_ profileIDC: UInt8, _ constraints: UInt8) -> Profile? {
        switch profileIDC {
        case 0x42: constraints & 0x40 != 0 ? .constrainedBaseline : .baseline
        case 0x4D: constraints & 0x80 != 0 ? .constrainedBaseline : .main
        case 0x58:
            constraints & 0xC0 == 0xC0 ? .constrainedBaseline : constraints & 0x80 != 0 ? .baseline : .extended
        // Constrained High has both constraint_set4 (frames only) and constraint_set5 (no B slices).
        case 0x64: constraints & 0x0C == 0x0C ? .constrainedHigh : .high
        case 0x6E: constraints & 0x10 != 0 ? .high10Intra : .high10
        case 0x7A: constraints & 0x10 != 0 ? .high422Intra : .high422
        case 0xF4: constraints & 0x10 != 0 ? .high444Intra : .high444Predictive
        case 0x2C: .cavlc444Intra
        default: nil
        }
    }

    /// The profile that `a=fmtp` parameters name; nil where they name none, or one that cannot be read.
    public init?(_ parameters: FormatParameters) {
        guard let text = parameters["profile-level-id"] else { return nil }
        self.init(profileLevelID: text)
    }
}

extension H264Profile.Profile {
    /// The other profiles of which a decoder of this profile decodes every stream (H.264, annex A.2).
    public var contained: Set<H264Profile.Profile> {
        switch self {
        case .constrainedBaseline, .cavlc444Intra: []
        case .baseline: [.constrainedBaseline]
        case .extended: [.baseline, .constrainedBaseline]
        case .main: [.constrainedBaseline]
        case .constrainedHigh: [.constrainedBaseline]
        case .high: [.constrainedHigh, .main, .constrainedBaseline]
        case .high10Intra: []
        case .high10: Self.high.containedWithSelf.union([.high10Intra])
        case .high422Intra: [.high10Intra]
        case .high422: Self.high10.containedWithSelf.union([.high422Intra])
        case .high444Intra: [.high10Intra, .high422Intra, .cavlc444Intra]
        case .high444Predictive: Self.high422.containedWithSelf.union([.high444Intra, .cavlc444Intra])
        }
    }

    private var containedWithSelf: Set<H264Profile.Profile> { contained.union([self]) }

    /// How rich the profile is. Among suitable profiles the nearest one is chosen.
    var richness: Int {
        switch self {
        case .constrainedBaseline: 0
        case .baseline: 1
        case .extended: 2
        case .main: 3
        case .constrainedHigh: 4
        case .high: 5
        case .high10, .high10Intra: 6
        case .high422, .high422Intra: 7
        case .high444Predictive, .high444Intra, .cavlc444Intra: 8
        }
    }
}

extension H264Profile: CustomStringConvertible {
    public var description: String { "\(profile.rawValue) level \(level)" }

    /// Six hexadecimal digits in lower case, in the most common spelling.
    public var profileLevelID: String {
        let (idc, constraints): (UInt8, UInt8) =
            switch profile {
            case .constrainedBaseline: (0x42, 0xE0)
            case .baseline: (0x42, 0x00)
            case .extended: (0x58, 0x00)
            case .main: (0x4D, 0x00)
            case .constrainedHigh: (0x64, 0x0C)
            case .high: (0x64, 0x00)
            case .high10: (0x6E, 0x00)
            case .high10Intra: (0x6E, 0x10)
            case .high422: (0x7A, 0x00)
            case .high422Intra: (0x7A, 0x10)
            case .high444Predictive: (0xF4, 0x00)
            case .high444Intra: (0xF4, 0x10)
            case .cavlc444Intra: (0x2C, 0x10)
            }
        let usesConstraintForLevel1b = level == .level1b && [0x42, 0x4D, 0x58].contains(idc)
        let levelIDC: UInt8 =
            level == .level1b ? (usesConstraintForLevel1b ? 11 : 9) : UInt8(clamping: level.hundredths / 10)
        let flags = usesConstraintForLevel1b ? constraints | 0x10 : constraints
        return [idc, flags, levelIDC].map(hexadecimal).joined().lowercased()
    }
}
