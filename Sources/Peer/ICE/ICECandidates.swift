import Transport

/// How a candidate was found (RFC 8445, section 4).
public enum ICECandidateType: UInt8, Sendable, BitwiseCopyable {
    /// An address of one of the host's interfaces.
    case host
    /// An address that a check came from.
    case peerReflexive
    /// An address that a STUN server saw.
    case serverReflexive
    /// An address of a TURN server.
    case relayed

    /// The recommended type preference (RFC 8445, section 5.1.2.2).
    public var preference: UInt8 {
        switch self {
        case .host: 126
        case .peerReflexive: 110
        case .serverReflexive: 100
        case .relayed: 0
        }
    }
}

/// One of the agent's own addresses, in the form for a session description.
public struct ICELocalCandidate: Hashable, Sendable {
    /// The address and the port.
    public let address: TransportAddress
    /// The candidate's priority; the order of the configured addresses decides.
    public let priority: UInt32
    /// Candidates with equal foundations are likely to work or fail together (RFC 8445, section 5.1.1.3).
    public let foundation: String
    /// How the candidate was found.
    public let type: ICECandidateType
    /// The own address that a reflexive or relayed candidate was found from; nil for a host candidate.
    public let base: TransportAddress?

    /// The way by which datagrams come to the candidate and leave from it.
    public var route: TransportAddress.Route { type == .relayed ? .relayed : address.route }

    /// Host candidates for `addresses`, preferred in their order (RFC 8445, section 5.1.2.1). Each address has a
    /// foundation of its own.
    ///
    /// The priority of a pair follows mainly from the lower one of its two candidates' priorities, which is the peer's if ours
    /// are all high. Then the peer's order decides: Chromium, whose local preferences are 30 for IPv4 and 40 or 50 for IPv6,
    /// checks every IPv6 address before the one that it has just reached by IPv4, with 50 ms between two checks. So if some
    /// addresses are known to be reached, the others have the lowest local preferences of all, and our order decides.
    ///
    /// - Parameter reached: how many of the first ones the peer reaches; see ``ICEAddresses/reachedHosts``.
    public static func hosts(_ addresses: [TransportAddress], reached: Int = 0) -> [ICELocalCandidate] {
        addresses.enumerated().map { index, address in
            let localPreference = reached == 0 || index < reached ? 65_535 - index : addresses.count - 1 - index
            return ICELocalCandidate(
                address: address,
                priority: ICE.candidatePriority(type: .host, localPreference: UInt16(clamping: localPreference)),
                foundation: String(index + 1), type: .host, base: nil)
        }
    }

    /// Passive TCP candidates for `addresses`, preferred in their order and numbered from `first` (RFC 6544, sections 4.2
    /// and 4.5). Every direct path over UDP comes before them, and every relayed one after.
    static func passive(_ addresses: [TransportAddress], from first: Int) -> [ICELocalCandidate] {
        addresses.enumerated().map { index, address in
            let localPreference = passiveDirection << 13 | (maximumOtherPreference - UInt16(clamping: min(index, 8191)))
            return ICELocalCandidate(
                address: address.by(.tcp),
                priority: ICE.candidatePriority(preference: tcpHostPreference, localPreference: localPreference),
                foundation: String(first + index), type: .host, base: nil)
        }
    }

    /// The type preference of a host candidate over TCP. It is below that of every direct candidate over UDP: on a lossy
    /// path one lost segment holds up all that follow it. It is above that of relayed candidates.
    private static let tcpHostPreference: UInt8 = 90
    /// The direction preference of a passive host candidate (RFC 6544, section 4.2).
    private static let passiveDirection: UInt16 = 4
    /// The largest of the 13 bits that distinguish the addresses.
    private static let maximumOtherPreference: UInt16 = 8191

    /// The candidates of an agent: its host candidates, then the addresses at which STUN servers see its socket, then those
    /// at which it accepts TCP connections, then those at which TURN servers relay for it (RFC 8445, section 5.1.1.2).
    /// Addresses that a candidate has already are left out, and so are reflexive ones whose family no host candidate has, and
    /// loopback addresses, which a server on this host gives, unless a host candidate is one. A TURN server may relay between
    /// the versions of the Internet Protocol (RFC 8656, section 1).
    public static func all(_ addresses: ICEAddresses) -> [ICELocalCandidate] {
        let hosts = addresses.hosts
        var candidates = Self.hosts(hosts, reached: Int(addresses.reachedHosts))
        let hasLoopback = hosts.contains { $0.isLoopback }
        let others =
            addresses.reflexive.map { ($0, ICECandidateType.serverReflexive) }
            + addresses.relayed.map { ($0, .relayed) }
        for (address, type) in others
        where !candidates.contains(where: { $0.address == address }) && (hasLoopback || !address.isLoopback) {
            // The base is on the interface that leads to the server, and only the kernel's routes know which one that is.
            let base = hosts.first { $0.family == address.family } ?? (type == .relayed ? hosts.first : nil)
            guard let base else { continue }
            let index = candidates.count
            candidates.append(
                ICELocalCandidate(
                    address: address,
                    priority: ICE.candidatePriority(
                        type: type, localPreference: UInt16(clamping: 65_535 - index)),
                    foundation: String(index + 1), type: type, base: base))
        }
        let place = candidates.firstIndex { $0.type == .relayed } ?? candidates.endIndex
        candidates.insert(contentsOf: Self.passive(addresses.passive, from: candidates.count + 1), at: place)
        return candidates
    }
}

extension ICELocalCandidate {
    /// Whether a TURN server relays from this candidate to an address.
    func relays(to address: TransportAddress) -> Bool { type == .relayed && self.address.family == address.family }
}

/// A candidate that the peer named. Only UDP over an address reaches an agent: TCP candidates are ignored when the session
/// description is read, and names are looked up first.
public struct RemoteCandidate: Hashable, Sendable, BitwiseCopyable {
    /// The address and the port.
    public var address: TransportAddress
    /// The priority that the peer gave it.
    public var priority: UInt32
    /// What kind of candidate it is.
    public var type: ICECandidateType

    /// Describes a candidate.
    public init(address: TransportAddress, priority: UInt32, type: ICECandidateType = .host) {
        self.address = address
        self.priority = priority
        self.type = type
    }
}

/// What became of a candidate that the peer named.
public enum RemoteCandidateOutcome: Hashable, Sendable {
    /// It is checked, or it was known already.
    case accepted
    /// Nothing may be sent there: port 0, or an unspecified, broadcast, multicast or reserved address.
    case unusableDestination
    /// It is one of the agent's own addresses; checks would come back to the same socket.
    case ownAddress
    /// It is a loopback address, and the agent itself offers none. A session description from elsewhere must not make
    /// the gateway send to its own host.
    case loopback
    /// A link-local IPv6 address without the interface that it belongs to.
    case linkLocalWithoutScope
    /// A link-local address, and the peer is not known to be on the link; see ``ICEReach``.
    case linkLocal
    /// A port below 1024; see ``ICEReach``.
    case privilegedPort
    /// The agent has no address of this version of the Internet Protocol.
    case familyNotAvailable
    /// The check list is full of better candidates.
    case tooMany
    /// A pair is selected, the agent failed, or the session ended: the agent no longer checks.
    case notChecking
}
