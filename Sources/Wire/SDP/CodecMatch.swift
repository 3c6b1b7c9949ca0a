/// How well a payload type of a receiver suits a stream.
struct CodecMatch: Sendable {
    /// 0 for a perfect match; the lowest is chosen.
    var rank: Int
    /// What a person should know about the choice; empty for a match by the rules.
    var doubts: [CodecDoubt] = []

    /// Compares a stream's codec with one that a receiver accepts.
    ///
    /// H.264 profiles compare by meaning (RFC 6184). If the receiver accepts no profile that contains the stream's,
    /// the nearest one is used anyway, with a doubt: browsers decode Main and High up to level 4 though they offer
    /// only 3.1 Baseline. Parameters of other codecs follow RFC 9628 (VP9), the AV1 payload format and RFC 7798
    /// (H.265).
    /// - Returns: nil where the receiver cannot play the stream.
    static func match(sending stream: MediaCodec, accepting offered: MediaCodec) -> CodecMatch? {
        guard stream.isNamed(offered.name) else { return nil }
        // All video has the same clock (RFC 6184, section 8.2.1, and the other formats' counterparts). Another clock
        // means another codec.
        if stream.isVideo, stream.clockRate != 90_000 || offered.clockRate != 90_000 { return nil }
        switch stream.name.lowercased() {
        case "h264": return matchH264(stream.formatParameters, offered.formatParameters)
        case "vp9": return sameParameter("profile-id", default: "0", stream, offered)
        case "av1": return matchAV1(stream.formatParameters, offered.formatParameters)
        case "h265": return matchH265(stream.formatParameters, offered.formatParameters)
        // The clock of Opus is 48 kHz and its channels are 2, whatever a camera writes (RFC 7587, section 7).
        case "opus": return CodecMatch(rank: 0)
        default:
            return stream.clockRate == offered.clockRate && stream.channels == offered.channels
                ? CodecMatch(rank: 0) : nil
        }
    }

    private static func sameParameter(
        _ name: String, default value: String, _ stream: MediaCodec, _ offered: MediaCodec
    ) -> CodecMatch? {
        let profile = stream.formatParameters[name] ?? value
        return profile == offered.formatParameters[name] ?? value ? CodecMatch(rank: 0) : nil
    }

    /// AV1's payload format, section 7.2.3: a decoder of a profile decodes the profiles below it, in its tier. A level
    /// that the stream exceeds becomes a doubt, since browsers decode more than they name.
    private static func matchAV1(_ stream: FormatParameters, _ offered: FormatParameters) -> CodecMatch? {
        func number(_ parameters: FormatParameters, _ name: String, default value: Int) -> Int {
            parameters[name].flatMap { Int($0) } ?? value
        }
        let (own, theirs) = (number(stream, "profile", default: 0), number(offered, "profile", default: 0))
        guard own <= theirs, number(stream, "tier", default: 0) <= number(offered, "tier", default: 0) else {
            return nil
        }
        var match = CodecMatch(rank: own == theirs ? 0 : 10)
        let (level, theirLevel) = (number(stream, "level-idx", default: 5), number(offered, "level-idx", default: 5))
        if stream["level-idx"] != nil, level > theirLevel {
            match.rank += 1
            match.doubts = [.av1Level(own: level, theirs: theirLevel)]
        }
        return match
    }

    /// RFC 7798, sections 7.1 and 7.2.2: the receiver's profile must contain the stream's, and so must its tier. A
    /// level that the stream exceeds becomes a doubt, since browsers decode more than they name.
    private static func matchH265(_ stream: FormatParameters, _ offered: FormatParameters) -> CodecMatch? {
        func number(_ parameters: FormatParameters, _ name: String, default value: Int) -> Int {
            parameters[name].flatMap { Int($0) } ?? value
        }
        // This side never sends several streams or uses several transports.
        guard offered["tx-mode"].map({ $0.equalsIgnoringCase("SRST") }) ?? true else { return nil }
        let own = number(stream, "profile-id", default: 1)
        let theirs = number(offered, "profile-id", default: 1)
        // A decoder of Main 10 decodes Main and Main Still Picture as well (H.265, annex A.3.3).
        guard own == theirs || theirs == 2 && (own == 1 || own == 3) || theirs == 1 && own == 3 else { return nil }
        guard number(stream, "tier-flag", default: 0) <= number(offered, "tier-flag", default: 0) else { return nil }
        var match = CodecMatch(rank: own == theirs ? 0 : 10)
        let level = number(stream, "level-id", default: 93)
        let theirLevel = number(offered, "level-id", default: 93)
        if stream["level-id"] != nil, level > theirLevel {
            match.rank += 1
            match.doubts = [.h265Level(own: level, theirs: theirLevel)]
        }
        return match
    }

    private static func matchH264(_ stream: FormatParameters, _ offered: FormatParameters) -> CodecMatch? {
        var match = CodecMatch(rank: 0)
        switch offered["packetization-mode"] {
        case "1": break
        // Interleaved units need a receiver that puts them back in order. This side never sends them.
        case "2": return nil
        default:
            // A stream of mode 0 has single units only, which every mode carries.
            let isSingle = stream["packetization-mode"] == "0"
            match.rank += 1000
            if !isSingle { match.doubts.append(.packetizationModeZero) }
        }
        // A stream without a profile is treated as the one that every receiver supports.
        let own = H264Profile(stream) ?? H264Profile(profile: .constrainedBaseline, level: .init(tenths: 31))
        if let theirs = H264Profile(offered) {
            if own.profile == theirs.profile {
                match.rank += 0
            } else if theirs.profile.contained.contains(own.profile) {
                match.rank += 10 * (1 + abs(theirs.profile.richness - own.profile.richness))
            } else {
                match.rank += 10 * (20 + abs(theirs.profile.richness - own.profile.richness))
                match.doubts.append(.h264Profile(own: own.profile, theirs: theirs.profile))
            }
            if own.level > theirs.level, H264Profile(stream) != nil {
                match.rank += 1
                match.doubts.append(.h264Level(own: own.level, theirs: theirs.level))
            }
        } else {
            match.rank += 150
            if offered["profile-level-id"] != nil { match.doubts.append(.unreadableH264Profile) }
        }
        return match
    }
}

extension RTPPayload {
    /// The payload as an answer writes it: the peer's own parameters where they must be the same on both sides.
    var answering: RTPPayload {
        var answer = self
        switch codec.name.lowercased() {
        case "h264":
            // Profile and packetization mode must be the peer's (RFC 6184, section 8.2.2); parameters that only
            // describe the peer's own decoder or stream are not repeated.
            let kept = ["level-asymmetry-allowed", "packetization-mode", "profile-level-id"]
            answer.codec.formatParameters.parameters.removeAll { !kept.contains($0.name) }
        case "opus":
            let kept = ["minptime", "useinbandfec"]
            answer.codec.formatParameters.parameters.removeAll { !kept.contains($0.name) }
        case "vp9", "av1", "h265":
            let kept = ["profile-id", "profile", "level-id", "tier-flag", "tx-mode", "level-idx", "tier"]
            answer.codec.formatParameters.parameters.removeAll { !kept.contains($0.name) }
        default:
            answer.codec.formatParameters = []
        }
        return answer
    }
}
