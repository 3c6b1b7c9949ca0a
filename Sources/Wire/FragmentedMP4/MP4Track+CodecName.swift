import RTP

extension MP4Track {
    /// The codec with its profile and level, as manifests and `MediaSource.isTypeSupported` take it (RFC 6381), for
    /// example `avc1.64001F`.
    public var codecName: String {
        switch codec {
        case .h264(_, _, let sequence, _):
            return "avc1." + (sequence.first ?? []).dropFirst().prefix(3).map(Self.hexadecimal).joined()
        case .h265(_, _, _, let sequence, _):
            let set = sequence.first?.withUnsafeBytes { H265.SequenceParameterSet(parsing: $0) }
            return set.map(Self.h265Name) ?? "hvc1"
        // VP Codec ISO Media File Format Binding, "Codecs Parameter String": profile, level and bit depth.
        case .vp8: return "vp08.00.10.08"
        case .vp9(let header):
            let level = BoxWriter.vp9Level(pixels: header.width * header.height)
            return ["vp09", Self.decimal(header.profile), Self.decimal(Int(level)), Self.decimal(header.bitDepth)]
                .joined(separator: ".")
        // AV1 Codec ISO Media File Format Binding, section 5: profile, level and tier, bit depth.
        case .av1(let header, _):
            let level = Self.decimal(header.level) + (header.isHighTier ? "H" : "M")
            return "av01.\(header.profile).\(level).\(Self.decimal(header.bitDepth))"
        case .opus: return "opus"
        case .muLaw: return "ulaw"
        case .aLaw: return "alaw"
        case .aac(_, _, let configuration):
            return "mp4a.40.\(AudioSpecificConfig(parsing: configuration)?.objectType ?? 2)"
        }
    }

    /// The width and height of its pictures; nil for sound.
    public var pictureSize: (width: Int, height: Int)? { isVideo ? size : nil }

    /// ISO/IEC 14496-15, annex E.3: profile, compatibility with its bits turned round, tier and level, constraints
    /// without their trailing zeros.
    private static func h265Name(_ set: H265.SequenceParameterSet) -> String {
        let bytes = set.profileTierLevel
        guard bytes.count == 12 else { return "hvc1" }
        let space = ["", "A", "B", "C"][Int(bytes[0] >> 6)]
        let flags = bytes[1...4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var turned: UInt32 = 0
        for bit in 0..<32 where flags >> bit & 1 == 1 { turned |= 1 << (31 - bit) }
        var constraints = Array(bytes[5...10])
        while constraints.last == 0 { constraints.removeLast() }
        let parts =
            ["hvc1", "\(space)\(set.profile)", String(turned, radix: 16, uppercase: true)]
            + [(set.isHighTier ? "H" : "L") + "\(set.level)"]
            + constraints.map { String($0, radix: 16, uppercase: true) }
        return parts.joined(separator: ".")
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0" + text : text
    }

    private static func decimal(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension MP4Track {
    /// Whether the description can be written.
    public var isWritable: Bool { fault == nil }

    /// How many pictures the stream promises at most to decode before one that is shown earlier; nil where it promises
    /// nothing.
    public var reorderedPictures: Int? {
        switch codec {
        case .h264(_, _, let sequence, _):
            let set = sequence.first?.withUnsafeBytes { H264.SequenceParameterSet(parsing: $0) }
            return set.flatMap { $0.mayHoldBFrames ? $0.reorderedFrames : 0 }
        case .h265(_, _, _, let sequence, _):
            return sequence.first?.withUnsafeBytes { H265.SequenceParameterSet(parsing: $0) }?.reorderedPictures
        default: return 0
        }
    }
}
