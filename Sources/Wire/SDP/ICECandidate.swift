import Transport

/// An ICE candidate as `a=candidate` writes it (RFC 8839, section 5.1).
public struct ICECandidate: Hashable, Sendable {
    /// The transport of a candidate.
    public enum TransportProtocol: Hashable, Sendable {
        case udp, tcp
        /// Another one in lower case, for example `ssltcp`.
        case other(String)

        /// The name in lower case.
        public var name: String {
            switch self {
            case .udp: "udp"
            case .tcp: "tcp"
            case .other(let name): name
            }
        }
    }

    /// How a candidate was found.
    public enum Kind: Hashable, Sendable {
        case host, serverReflexive, peerReflexive, relayed
        /// Another word, as written.
        case other(String)

        /// The word after `typ`.
        public var name: String {
            switch self {
            case .host: "host"
            case .serverReflexive: "srflx"
            case .peerReflexive: "prflx"
            case .relayed: "relay"
            case .other(let name): name
            }
        }
    }

    /// The address that a reflexive or relayed candidate was found from.
    public struct RelatedAddress: Hashable, Sendable {
        /// The address or name.
        public var host: String
        /// The port.
        public var port: UInt16

        /// Describes an address.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// A further pair of words at the end of the line.
    public struct Extension: Hashable, Sendable {
        /// The first word.
        public var name: String
        /// The second word.
        public var value: String

        /// Makes a pair.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Equal for candidates of the same kind, base and server.
    public var foundation: String
    /// 1 for RTP, 2 for RTCP.
    public var component: UInt16
    /// The transport.
    public var transport: TransportProtocol
    /// The priority of RFC 8445, section 5.1.2.
    public var priority: UInt32
    /// A literal address, a host name, or a name ending in `.local` (mDNS).
    public var host: String
    /// The port.
    public var port: UInt16
    /// How it was found.
    public var kind: Kind
    /// What it was found from.
    public var relatedAddress: RelatedAddress?
    /// `active`, `passive` or `so`, for TCP (RFC 6544).
    public var tcpType: String?
    /// Further pairs in order, for example `generation 0`.
    public var extensions: [Extension]

    /// Describes a candidate.
    public init(
        foundation: String, component: UInt16 = 1, transport: TransportProtocol = .udp, priority: UInt32, host: String,
        port: UInt16, kind: Kind = .host, relatedAddress: RelatedAddress? = nil, tcpType: String? = nil,
        extensions: [Extension] = []
    ) {
        self.foundation = foundation
        self.component = component
        self.transport = transport
        self.priority = priority
        self.host = host
        self.port = port
        self.kind = kind
        self.relatedAddress = relatedAddress
        self.tcpType = tcpType
        self.extensions = extensions
    }

    /// A host candidate over UDP for a socket's own address.
    public init(foundation: String, priority: UInt32, address: TransportAddress) {
        self.init(foundation: foundation, priority: priority, host: address.host, port: address.port)
    }

    /// The address, where the host is a literal address. Names are never resolved here.
    public var address: TransportAddress? { TransportAddress(host, port: port) }

    /// Whether the host is a name of multicast DNS, which hides an address from the page's own script.
    public var isMulticastDNSName: Bool { host.lowercased().hasSuffix(".local") }

    /// The user name fragment that the candidate belongs to, where the candidate states it (RFC 8838, section 11).
    public var usernameFragment: String? { extensions.first { $0.name == "ufrag" }?.value }
}
