/// The gateway's half of a transport: what an answer or offer says about ICE and DTLS.
public struct LocalTransportDescription: Hashable, Sendable {
    /// The ICE user name fragment.
    public var usernameFragment: String
    /// The ICE password.
    public var password: String
    /// The hashes of the DTLS certificate.
    public var fingerprints: [Fingerprint]
    /// All candidates, the most preferred first: the first one becomes the default of `c=` and `m=`.
    public var candidates: [ICECandidate]
    /// The words of `a=ice-options`.
    public var iceOptions: [String]
    /// Whether no candidate will follow.
    public var isComplete: Bool

    /// Describes a transport.
    public init(
        usernameFragment: String, password: String, fingerprints: [Fingerprint], candidates: [ICECandidate] = [],
        iceOptions: [String] = ["trickle"], isComplete: Bool = true
    ) {
        self.usernameFragment = usernameFragment
        self.password = password
        self.fingerprints = fingerprints
        self.candidates = candidates
        self.iceOptions = iceOptions
        self.isComplete = isComplete
    }
}

/// The peer's half of a transport.
public struct RemoteTransportDescription: Hashable, Sendable {
    /// The ICE user name fragment.
    public var usernameFragment: String
    /// The ICE password.
    public var password: String
    /// The hashes of the DTLS certificate; it must match one of them (RFC 8122, section 5.1). Never empty.
    public var fingerprints: [Fingerprint]
    /// Who the peer would have open the DTLS association.
    public var setup: DTLSSetup
    /// The candidates of component 1 in order, TCP ones and names included; none at all is usual.
    public var candidates: [ICECandidate]
    /// Whether the peer said that no candidate follows.
    public var isComplete: Bool
    /// Whether the peer is an ICE-lite agent, so that this side must be controlling.
    public var isLite: Bool
    /// Whether the peer takes candidates later (RFC 8840).
    public var supportsTrickle: Bool

    /// Describes a transport.
    public init(
        usernameFragment: String, password: String, fingerprints: [Fingerprint], setup: DTLSSetup,
        candidates: [ICECandidate] = [], isComplete: Bool = false, isLite: Bool = false, supportsTrickle: Bool = false
    ) {
        self.usernameFragment = usernameFragment
        self.password = password
        self.fingerprints = fingerprints
        self.setup = setup
        self.candidates = candidates
        self.isComplete = isComplete
        self.isLite = isLite
        self.supportsTrickle = supportsTrickle
    }

    /// Collects the transport of a bundle: from the first of `sections` that has each value, or the session level.
    /// - Parameter sections: the media descriptions that share the transport, the one that carries it first.
    init(_ description: SessionDescription, sections: [MediaDescription]) throws(NegotiationError) {
        guard
            let usernameFragment = sections.lazy.compactMap(\.iceUsernameFragment).first
                ?? description.iceUsernameFragment,
            let password = sections.lazy.compactMap(\.icePassword).first ?? description.icePassword
        else {
            throw .invalidDescription(
                "no a=ice-ufrag and a=ice-pwd in the media descriptions that can be used, nor at the session level")
        }
        if let fault = ICECredentialRules.fault(
            usernameFragment: usernameFragment, password: password, problems: description.problems)
        {
            throw .invalidDescription(fault)
        }
        let fingerprints = sections.lazy.map(\.fingerprints).first { !$0.isEmpty } ?? description.fingerprints
        guard !fingerprints.isEmpty else {
            throw .invalidDescription("no readable a=fingerprint: media is only sent over DTLS-SRTP")
        }
        let strong = fingerprints.filter(\.isStrong)
        guard !strong.isEmpty else {
            let names = fingerprints.map(\.algorithm).joined(separator: ", ")
            throw .invalidDescription("no a=fingerprint by SHA-256, SHA-384 or SHA-512, only \(names)")
        }
        let source = sections.first { !$0.candidates.isEmpty }
        let options = sections.flatMap(\.iceOptions) + description.iceOptions
        self.init(
            usernameFragment: usernameFragment, password: password, fingerprints: strong,
            setup: sections.lazy.compactMap(\.setup).first ?? description.setup ?? .actpass,
            // Component 2 is RTCP's own port, which no multiplexing peer uses though Echo Show still gathers it.
            candidates: (source?.candidates ?? description.candidates).filter { $0.component == 1 },
            isComplete: source?.hasEndOfCandidates ?? description.hasEndOfCandidates,
            isLite: description.isICELite || sections.contains { $0.hasAttribute("ice-lite") },
            supportsTrickle: options.contains { $0.equalsIgnoringCase("trickle") })
    }
}
