/// Candidates that come after the offer or answer, or the new credentials of an ICE restart: a body of type
/// `application/trickle-ice-sdpfrag` (RFC 8840, section 9).
public struct TrickleFragment: Hashable, Sendable {
    /// What belongs to one media description.
    public struct Section: Hashable, Sendable {
        /// The identification tag.
        public var mid: String?
        /// The user name fragment, where the section has its own.
        public var usernameFragment: String?
        /// The password, where the section has its own.
        public var password: String?
        /// The candidates.
        public var candidates: [ICECandidate]
        /// Whether no further candidate follows for this section.
        public var isComplete: Bool

        /// Describes a section.
        public init(
            mid: String?, usernameFragment: String? = nil, password: String? = nil, candidates: [ICECandidate] = [],
            isComplete: Bool = false
        ) {
            self.mid = mid
            self.usernameFragment = usernameFragment
            self.password = password
            self.candidates = candidates
            self.isComplete = isComplete
        }
    }

    /// The user name fragment of the generation that the candidates belong to.
    public var usernameFragment: String?
    /// The password of that generation.
    public var password: String?
    /// The words of `a=ice-options`.
    public var iceOptions: [String]
    /// Candidates before any `m=` line.
    public var candidates: [ICECandidate]
    /// Whether no further candidate follows for any section.
    public var isComplete: Bool
    /// The sections in order.
    public var sections: [Section]
    /// What could not be understood.
    public var problems: [SessionDescription.Problem]

    /// Describes a fragment.
    public init(
        usernameFragment: String? = nil, password: String? = nil, iceOptions: [String] = [],
        candidates: [ICECandidate] = [], isComplete: Bool = false, sections: [Section] = []
    ) {
        self.usernameFragment = usernameFragment
        self.password = password
        self.iceOptions = iceOptions
        self.candidates = candidates
        self.isComplete = isComplete
        self.sections = sections
        self.problems = []
    }

    /// Reads a fragment. A candidate that cannot be understood is listed in ``problems``.
    public init(parsing text: String) throws(SDPError) {
        let description = try SessionDescription(parsing: text, isFragment: true)
        self.init(
            usernameFragment: description.iceUsernameFragment, password: description.icePassword,
            iceOptions: description.iceOptions, candidates: description.candidates,
            isComplete: description.hasEndOfCandidates,
            sections: description.media.map {
                Section(
                    mid: $0.mid, usernameFragment: $0.iceUsernameFragment, password: $0.icePassword,
                    candidates: $0.candidates, isComplete: $0.hasEndOfCandidates)
            })
        problems = description.problems
    }

    /// The candidates of all sections in order, those of component 1 only, each once. In a bundle they all belong to
    /// the one transport.
    public var allCandidates: [ICECandidate] {
        var seen: Set<ICECandidate> = []
        return (candidates + sections.flatMap(\.candidates)).filter { $0.component == 1 && seen.insert($0).inserted }
    }

    /// The credentials of the fragment: the session level's, or the first section's.
    public var credentials: (usernameFragment: String, password: String)? {
        let levels = [(usernameFragment, password)] + sections.map { ($0.usernameFragment, $0.password) }
        for case (let usernameFragment?, let password?) in levels { return (usernameFragment, password) }
        return nil
    }

    /// Whether no candidate follows for the transport of a bundle.
    public var endsCandidates: Bool { isComplete || sections.contains(where: \.isComplete) }

    /// The text with every line ended by CRLF. The `m=` lines are fillers, as RFC 8840 says.
    public func encoded() -> String {
        var description = SessionDescription(lines: [], media: [], problems: [])
        description.appendICE(usernameFragment, password, iceOptions, candidates, isComplete)
        for section in sections {
            var media = MediaDescription(kind: .audio, port: 9, transportProtocol: "UDP/TLS/RTP/SAVPF", formats: ["0"])
            if let mid = section.mid { media.append("mid", mid) }
            media.appendICE(section.usernameFragment, section.password, [], section.candidates, section.isComplete)
            description.media.append(media)
        }
        return description.encoded()
    }
}

extension DescriptionSection {
    fileprivate mutating func appendICE(
        _ usernameFragment: String?, _ password: String?, _ options: [String], _ candidates: [ICECandidate],
        _ isComplete: Bool
    ) {
        if let usernameFragment { append("ice-ufrag", usernameFragment) }
        if let password { append("ice-pwd", password) }
        if !options.isEmpty { append("ice-options", options.joined(separator: " ")) }
        for candidate in candidates { append("candidate", candidate.text) }
        if isComplete { append("end-of-candidates") }
    }
}
