import SDP

/// What this API needs to know of an offer.
enum Go2RTCOffer {
    /// Whether the viewer sends sound: a microphone.
    static func sendsSound(_ offer: String) -> Bool {
        sections(offer).contains { section in
            section.first?.hasPrefix("m=audio") == true
                && !section.contains("a=recvonly") && !section.contains("a=inactive")
        }
    }

    /// A candidate as a fragment for trickle ICE (RFC 8840), with the credentials of the offer; nil if the offer has none.
    static func fragment(_ candidate: String, of offer: String) -> String? {
        let sections = sections(offer)
        let lines = sections.flatMap { $0 }
        guard let user = lines.first(where: { $0.hasPrefix("a=ice-ufrag:") }),
            let password = lines.first(where: { $0.hasPrefix("a=ice-pwd:") }),
            let media = sections.first(where: { $0.first?.hasPrefix("m=") == true }),
            let identification = media.first(where: { $0.hasPrefix("a=mid:") })
        else { return nil }
        // Browsers write `candidate:…`; the end of the candidates is an empty text.
        let text = candidate.hasPrefix("a=") ? String(candidate.dropFirst(2)) : candidate
        let line = text.isEmpty ? "a=end-of-candidates" : "a=\(text)"
        guard !line.contains(where: \.isNewline) else { return nil }
        return [user, password, media[0], identification, line].map { $0 + "\r\n" }.joined()
    }

    /// The lines before the first `m=`, and those of each section.
    private static func sections(_ text: String) -> [[String]] {
        var sections: [[String]] = [[]]
        for line in text.split(whereSeparator: \.isNewline).map(String.init) {
            if line.hasPrefix("m=") { sections.append([]) }
            sections[sections.count - 1].append(line)
        }
        return sections
    }
}
