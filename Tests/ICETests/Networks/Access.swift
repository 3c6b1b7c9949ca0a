import ICE
import NetworkSimulator
import Transport

/// What stands between a host and the Internet.
enum Access: CaseIterable {
    case none, fullCone, addressRestricted, portRestricted, symmetric
    /// TCP alone is let out.
    case blocksUDP
    /// TCP to port 443 alone is let out.
    case onlyHTTPS

    /// The router; nil for a host with an address of its own.
    var nat: (kind: NATKind, firewall: Firewall)? {
        switch self {
        case .none: nil
        case .fullCone: (.fullCone, .open)
        case .addressRestricted: (.addressRestricted, .open)
        case .portRestricted: (.portRestricted, .open)
        case .symmetric: (.symmetric, .open)
        case .blocksUDP: (.portRestricted, .blocksUDP)
        case .onlyHTTPS: (.portRestricted, .onlyHTTPS)
        }
    }

    var passesUDP: Bool { self != .blocksUDP && self != .onlyHTTPS }

    /// Whether anybody may send to the host, at the address that a STUN server sees.
    var isOpen: Bool { self == .none || self == .fullCone }
}

/// What a host offers besides its addresses for UDP. Only the gateway accepts connections over TCP.
enum Way: CaseIterable {
    case nothing, turnOverUDP, turnOverTCP, turnOverTLS, passiveTCP
    /// At the port of HTTPS, which a firewall that permits only the web lets through.
    case passiveTCPAt443

    /// Each transport to a TURN server.
    static let servers = [Way.turnOverUDP, .turnOverTCP, .turnOverTLS]

    /// Where the TURN server whose address for UDP is `udp` is reached; nil where the host uses none.
    func server(at udp: TransportAddress) -> TransportAddress? {
        switch self {
        case .nothing, .passiveTCP, .passiveTCPAt443: nil
        case .turnOverUDP: udp
        case .turnOverTCP: udp.by(.tcp)
        case .turnOverTLS: udp.withPort(443).by(.tcp)
        }
    }

    /// Where the host accepts TCP connections; nil if it accepts none.
    var passivePort: UInt16? {
        switch self {
        case .nothing, .turnOverUDP, .turnOverTCP, .turnOverTLS: nil
        case .passiveTCP: 8190
        case .passiveTCPAt443: 443
        }
    }

    /// Whether a TURN server relays for a host behind `access`; false where the host has none.
    func relays(for access: Access) -> Bool {
        switch self {
        case .nothing, .passiveTCP, .passiveTCPAt443: false
        case .turnOverUDP: access.passesUDP
        case .turnOverTCP: access != .onlyHTTPS
        case .turnOverTLS: true
        }
    }
}

/// How the attempt to connect ends.
enum Outcome: Equatable {
    case path(ICEPathKind)
    case failure(ICEFailure)

    /// By the rules of RFC 4787, without regard to how the agents work.
    /// - Parameters:
    ///   - viewerServer: the viewer's own TURN server.
    ///   - knowsViewer: whether the gateway knows the viewer's candidates.
    static func expected(
        gateway: Access, viewer: Access, _ way: Way, viewerServer: Way = .nothing, knowsViewer: Bool
    ) -> Outcome {
        if gateway.passesUDP, viewer.passesUDP, knowsViewer ? meet(gateway, viewer) : gateway.isOpen {
            // Without its candidates, the gateway takes a viewer's address for that of a router.
            let isDirect = gateway == .none && viewer == .none && knowsViewer
            return .path(isDirect ? .direct : .reflexive)
        }
        // Nobody forwards the gateway's TCP port, so only a gateway with an address of its own accepts connections.
        if let port = way.passivePort, gateway == .none, viewer != .onlyHTTPS || port == 443 { return .path(.tcp) }
        let viewerIsRelayed = viewerServer.relays(for: viewer)
        // The viewer's server sends from one address to everybody, and lets in each host that the viewer has named to
        // it, whatever its port. So every gateway that knows the address opens its router for it.
        if viewerIsRelayed, gateway.passesUDP, knowsViewer || gateway.isOpen {
            return .path(knowsViewer ? .relayed : .reflexive)
        }
        // The gateway's server lets in only those hosts that the gateway has named to it.
        if way.relays(for: gateway), viewer.passesUDP || viewerIsRelayed, knowsViewer { return .path(.relayed) }
        return .failure(knowsViewer ? .noResponse : .noCandidates)
    }

    /// Whether two hosts that know each other's reflexive addresses reach each other. A symmetric NAT sends from another port
    /// than the STUN server saw, which matters to a filter that looks at ports.
    private static func meet(_ one: Access, _ other: Access) -> Bool {
        func fails(_ one: Access, _ other: Access) -> Bool {
            one == .symmetric && (other == .symmetric || other == .portRestricted)
        }
        return !fails(one, other) && !fails(other, one)
    }
}
