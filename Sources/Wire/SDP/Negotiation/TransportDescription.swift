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
    /// The peer's choice of which side opens the DTLS association.
    public var setup: DTLSSetup
    /// The candidates of component 1 in order, TCP ones and names included; often empty.
    public var candidates: [ICECandidate]
    /// Whether the peer said that no candidate follows.
    public var isComplete: Bool
    /// Whether the peer is an ICE-lite agent, so that this side must be controlling.
    public var isLite: Bool
    /// Whether the peer accepts candidates later (RFC 8840).
    public var supportsTrickle: Bool

    /// Whether ``candidates`` is complete: the peer has said so, or sends none later.
    public var hasAllCandidates: Bool { isComplete || !supportsTrickle }

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

    /// Collects the transport of a bundle: each value from the first of its media descriptions that has it, or from the
    /// session level.
    /// - Parameter media: the positions of the media descriptions that share the transport; the one that carries it
    ///   comes first.
    public init(_ description: SessionDescription, media: [Int]) throws(NegotiationError) {
        let sections = media.map { description.media[$0] }
        func fault(_ fault: TransportFault, at names: String...) -> NegotiationError {
            // The line that is wrong, or the m= line that lacks one.
            let levels: [Int?] = media.map { $0 } + [nil]
            let line = names.lazy.flatMap { name in
                levels.lazy.compactMap { description.lineNumber(of: name, inMediaAt: $0) }
            }.first
            return .unusableTransport(fault, line: line ?? media.first.flatMap(description.lineNumber(ofMediaAt:)))
        }
        guard
            let usernameFragment = sections.lazy.compactMap(\.iceUsernameFragment).first
                ?? description.iceUsernameFragment,
            let password = sections.lazy.compactMap(\.icePassword).first ?? description.icePassword
        else { throw fault(.noCredentials) }
        if let problem = ICECredentialRules.fault(usernameFragment: usernameFragment)
            ?? ICECredentialRules.fault(password: password)
        {
            throw fault(.unusableCredentials(problem), at: problem.attribute)
        }
        let fingerprints = sections.lazy.map(\.fingerprints).first { !$0.isEmpty } ?? description.fingerprints
        guard !fingerprints.isEmpty else {
            let isWritten = (sections.map { $0.values(of: "fingerprint") } + [description.values(of: "fingerprint")])
                .contains { !$0.isEmpty }
            throw isWritten ? fault(.unreadableFingerprint, at: "fingerprint") : fault(.noFingerprint)
        }
        let strong = fingerprints.filter(\.isStrong)
        guard !strong.isEmpty else {
            throw fault(.weakFingerprint(fingerprints.map(\.algorithm)), at: "fingerprint")
        }
        let source = sections.first { !$0.candidates.isEmpty }
        let options = sections.flatMap(\.iceOptions) + description.iceOptions
        self.init(
            usernameFragment: usernameFragment, password: password, fingerprints: strong,
            setup: sections.lazy.compactMap(\.setup).first ?? description.setup ?? .actpass,
            // Component 2 is a separate port for RTCP. A multiplexing peer does not use it, though Echo Show still
            // gathers it.
            candidates: (source?.candidates ?? description.candidates).filter { $0.component == 1 },
            isComplete: source?.hasEndOfCandidates ?? description.hasEndOfCandidates,
            isLite: description.isICELite || sections.contains { $0.hasAttribute("ice-lite") },
            supportsTrickle: options.contains { $0.equalsIgnoringCase("trickle") })
    }
}
