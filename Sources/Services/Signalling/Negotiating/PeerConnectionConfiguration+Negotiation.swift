import DTLS
import ICE
import PeerConnection
import SDP
import Transport

extension PeerConnectionConfiguration {
    /// What a peer's offer and our answer have agreed on.
    /// - Parameters:
    ///   - negotiated: the agreement.
    ///   - credentials: our ICE credentials, as our description named them.
    ///   - addresses: our addresses, as our description named them.
    ///   - identity: our certificate and key.
    init(
        _ negotiated: NegotiatedSession, credentials: ICECredentials, addresses: [TransportAddress],
        identity: DTLSIdentity
    ) {
        let remote = negotiated.remote
        self.init(
            // The peer, which offered, controls, unless it is a lite agent (RFC 8445, section 6.1.1).
            iceRole: remote.isLite ? .controlling : .controlled, localCredentials: credentials,
            remoteCredentials: ICECredentials(usernameFragment: remote.usernameFragment, password: remote.password),
            remoteIsLite: remote.isLite, hostAddresses: addresses,
            remoteCandidates: remote.candidates.compactMap(RemoteCandidate.init(_:)),
            dtlsRole: negotiated.localSetup == .active ? .client : .server, identity: identity,
            remoteFingerprints: remote.fingerprints.compactMap(DTLSFingerprint.init(_:)))
        remoteCandidatesAreComplete = remote.hasAllCandidates
    }
}

extension LocalTransportDescription {
    /// How this side is reached, for an offer or an answer.
    /// - Parameter addresses: the host candidates, the preferred one first.
    init(credentials: ICECredentials, identity: DTLSIdentity, addresses: [TransportAddress]) {
        self.init(
            usernameFragment: credentials.usernameFragment, password: credentials.password,
            fingerprints: [
                Fingerprint(algorithm: identity.fingerprint.algorithm.rawValue, bytes: identity.fingerprint.bytes)
            ],
            candidates: ICECandidate.hosts(addresses))
    }
}

extension ICECandidate {
    /// Host candidates for `addresses`, preferred in their order (RFC 8445, section 5.1.2.1).
    static func hosts(_ addresses: [TransportAddress]) -> [ICECandidate] {
        addresses.enumerated().map { index, address in
            ICECandidate(
                foundation: "\(index + 1)",
                priority: ICE.candidatePriority(type: .host, localPreference: UInt16(clamping: 65_535 - index)),
                address: address)
        }
    }
}

extension DTLSFingerprint {
    /// The fingerprint of an SDP line, nil when its hash function is not trusted.
    init?(_ fingerprint: Fingerprint) {
        guard let algorithm = Algorithm(rawValue: fingerprint.algorithm) else { return nil }
        self.init(algorithm: algorithm, bytes: fingerprint.bytes)
    }
}

extension RemoteCandidate {
    /// The candidate of an SDP line, nil when it is not a UDP candidate with a literal address. An mDNS name is never
    /// resolved: the peer's own checks show its address sooner than a resolver could.
    init?(_ candidate: ICECandidate) {
        guard candidate.transport == .udp, candidate.component == 1, let address = candidate.address else { return nil }
        self.init(address: address, priority: candidate.priority)
    }
}
