import DTLS
import ICE
import SDP
import Transport

extension PeerConnectionConfiguration {
    /// Which side of the negotiation this peer is on (RFC 3264).
    public enum NegotiationRole: Sendable, BitwiseCopyable {
        /// This side wrote the offer.
        case offerer
        /// This side wrote the answer.
        case answerer
    }

    /// The connection that an offer and its answer have agreed on.
    /// - Parameters:
    ///   - negotiated: the agreement.
    ///   - role: whether this side offered or answered.
    ///   - credentials: our ICE credentials, as our description named them.
    ///   - addresses: our addresses, as our description named them.
    ///   - identity: our certificate and key.
    public init(
        _ negotiated: NegotiatedSession, as role: NegotiationRole, credentials: ICECredentials,
        addresses: ICEAddresses, identity: DTLSIdentity
    ) {
        let remote = negotiated.remote
        self.init(
            // The offerer controls, unless its peer alone is a lite agent (RFC 8445, section 6.1.1). We are never lite.
            iceRole: role == .offerer || remote.isLite ? .controlling : .controlled, localCredentials: credentials,
            remoteCredentials: ICECredentials(usernameFragment: remote.usernameFragment, password: remote.password),
            remoteIsLite: remote.isLite, addresses: addresses,
            remoteCandidates: remote.candidates.compactMap(RemoteCandidate.init(_:)),
            dtlsRole: negotiated.localSetup == .active ? .client : .server, identity: identity,
            remoteFingerprints: remote.fingerprints.compactMap(DTLSFingerprint.init(_:)))
        remoteCandidatesAreComplete = remote.hasAllCandidates
        carriesMedia = negotiated.media.contains { $0.direction != .inactive } || negotiated.dataChannels == nil
        carriesData = negotiated.dataChannels != nil
    }
}

extension LocalTransportDescription {
    /// How this side is reached, for an offer or an answer.
    /// - Parameters:
    ///   - credentials: our ICE credentials.
    ///   - identity: our certificate and key.
    ///   - addresses: our addresses.
    public init(credentials: ICECredentials, identity: DTLSIdentity, addresses: ICEAddresses) {
        self.init(
            usernameFragment: credentials.usernameFragment, password: credentials.password,
            fingerprints: [
                Fingerprint(algorithm: identity.fingerprint.algorithm.rawValue, bytes: identity.fingerprint.bytes)
            ],
            candidates: ICECandidate.all(addresses))
    }
}

extension ICECandidate {
    /// The port of TLS. Networks that look at what goes to it are the reason for the transport `ssltcp`.
    private static let portOfTLS: UInt16 = 443

    /// The lines of the candidates of an agent with these addresses.
    ///
    /// A passive candidate at the port of TLS is named a second time, with the transport `ssltcp`: a connection that begins as
    /// TLS does (`PseudoTLSOpening`), for networks that let nothing else through. Chromium knows it; other peers ignore a
    /// transport that they do not know (RFC 8839, section 5.1). It comes right after the one without the hello.
    public static func all(_ addresses: ICEAddresses) -> [ICECandidate] {
        ICELocalCandidate.all(addresses).flatMap { candidate in
            var line = ICECandidate(
                foundation: candidate.foundation, priority: candidate.priority, address: candidate.address)
            if candidate.route == .tcp {
                line.transport = .tcp
                line.tcpType = "passive"
            }
            if let base = candidate.base {
                line.kind = candidate.type == .relayed ? .relayed : .serverReflexive
                line.relatedAddress = .init(host: base.host, port: base.port)
            }
            guard line.transport == .tcp, candidate.address.port == portOfTLS else { return [line] }
            var disguised = line
            disguised.transport = .other("ssltcp")
            disguised.foundation += "s"
            // The lowest byte is the component's, so no other candidate has this priority.
            disguised.priority -= 1
            return [line, disguised]
        }
    }
}

extension DTLSFingerprint {
    /// The fingerprint of an SDP line; nil if its hash function is not trusted.
    public init?(_ fingerprint: Fingerprint) {
        guard let algorithm = Algorithm(rawValue: fingerprint.algorithm) else { return nil }
        self.init(algorithm: algorithm, bytes: fingerprint.bytes)
    }
}

extension RemoteCandidate {
    /// The candidate of an SDP line; nil if it is not a UDP candidate with a literal address. A candidate with a name comes
    /// later, when the name has been looked up: ``init(_:at:)``.
    public init?(_ candidate: ICECandidate) {
        guard let address = candidate.address else { return nil }
        self.init(candidate, at: address)
    }

    /// The candidate of an SDP line, with the address that belongs to its name; nil if it is not a UDP candidate.
    /// - Parameter address: the address. Its port does not count: the candidate has one.
    public init?(_ candidate: ICECandidate, at address: TransportAddress) {
        guard candidate.transport == .udp, candidate.component == 1 else { return nil }
        let type: ICECandidateType =
            switch candidate.kind {
            case .host, .other: .host
            case .serverReflexive: .serverReflexive
            case .peerReflexive: .peerReflexive
            case .relayed: .relayed
            }
        self.init(address: address.withPort(candidate.port), priority: candidate.priority, type: type)
    }
}
