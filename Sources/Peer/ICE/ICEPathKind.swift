import Transport

/// How the two ends of a path reach each other, as far as one end can know.
public enum ICEPathKind: String, Sendable, CaseIterable {
    /// From host to host.
    case direct
    /// Through a router that translates addresses (NAT).
    case reflexive
    /// Through a TURN server, of either end.
    case relayed
    /// Over a TCP connection.
    case tcp

    /// Judges the selected pair.
    /// - Parameters:
    ///   - remote: the peer's address, with its route.
    ///   - remoteType: what the peer said of the address; peer-reflexive where it named no such candidate.
    ///   - local: the own address, nil while it is not known.
    public init(remote: TransportAddress, remoteType: ICECandidateType, local: TransportAddress?) {
        switch (remote.route, remoteType) {
        case (.tcp, _): self = .tcp
        case (.relayed, _), (_, .relayed): self = .relayed
        case (.direct, .serverReflexive): self = .reflexive
        case (.direct, .host):
            // The own router forwards what comes to a private address from elsewhere.
            self = remote.isGlobal && local?.isGlobal == false ? .reflexive : .direct
        case (.direct, .peerReflexive):
            // Browsers hide the addresses of their host behind names, so what was not named may still be one. A global
            // IPv4 address usually belongs to a router, and a global IPv6 address to a host.
            self = remote.isGlobal && remote.family == .ipv4 ? .reflexive : .direct
        }
    }
}
