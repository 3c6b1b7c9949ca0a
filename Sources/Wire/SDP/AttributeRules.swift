/// The form of each attribute whose value the project reads.
enum AttributeRules {
    /// What is wrong with an attribute; nil where nothing is wrong, or where the project does not know the attribute.
    static func fault(in attribute: SessionDescription.Attribute) -> String? {
        let value = attribute.value ?? ""
        switch attribute.name {
        case "": return "has no attribute name"
        case "candidate": return ICECandidate.fault(in: value)
        case "fingerprint" where Fingerprint(parsing: value) == nil:
            return "does not have the form <hash> AA:BB:…, with as many bytes as the hash gives"
        case "setup" where DTLSSetup(rawValue: value.trimmed.lowercased()) == nil:
            return "is not one of actpass, active, passive and holdconn"
        case "rtpmap": return rtpmapFault(value)
        case "fmtp": return fmtpFault(value)
        case "rtcp-fb" where !RTCPFeedback.isReadable(value):
            return "does not have the form <payload type or *> <feedback>"
        case "extmap" where HeaderExtension(parsing: value) == nil:
            return "does not have the form <id from 1 to 255>[/<direction>] <URI>"
        case "ssrc" where !SourceAttribute.isReadable(value):
            return "does not have the form <32-bit number> <attribute>[:<value>]"
        case "ssrc-group" where SourceGroup(parsing: value) == nil:
            return "does not have the form <semantics> <32-bit number>…"
        case "group" where MediaGroup(parsing: value) == nil: return "has no semantics"
        case "mid" where value.words.count != 1: return "is not one identification tag"
        case "ice-ufrag": return ICECredentialRules.fault(usernameFragment: String(value.trimmed))?.reason
        case "ice-pwd": return ICECredentialRules.fault(password: String(value.trimmed))?.reason
        case "rid" where RestrictionIdentifier(parsing: value) == nil:
            return "does not have the form <identifier> send or <identifier> recv"
        case "simulcast" where SimulcastDescription(parsing: value) == nil:
            return "does not have the form send <streams> or recv <streams>"
        case "sctp-port" where UInt16(value.trimmed) == nil: return "is not a port number"
        default: return nil
        }
    }

    private static func rtpmapFault(_ value: String) -> String? {
        guard let payloadType = Int(value.firstWord.word) else { return "has no payload type" }
        guard (0...127).contains(payloadType) else { return "payload type \(payloadType) is not from 0 to 127" }
        return PayloadMapping(parsing: value) == nil
            ? "does not have the form <payload type> <encoding>/<clock rate>[/<channels>]" : nil
    }

    private static func fmtpFault(_ value: String) -> String? {
        // Formats other than RTP may have names that are not numbers, for example `webrtc-datachannel`.
        let word = value.firstWord.word
        if word.isEmpty { return "has no format" }
        if let payloadType = Int(word), !(0...127).contains(payloadType) {
            return "payload type \(payloadType) is not from 0 to 127"
        }
        return nil
    }
}
