import ICE
import NetworkSimulator

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

/// What the gateway offers beside its addresses for UDP.
enum Way: CaseIterable {
    case nothing, turnOverUDP, turnOverTCP, turnOverTLS, passiveTCP

    /// Whether a TURN server relays for a gateway behind `access`; false where the gateway has none.
    func relays(for access: Access) -> Bool {
        switch self {
        case .nothing, .passiveTCP: false
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
    /// - Parameter knowsViewer: whether the gateway knows the viewer's candidates.
    static func expected(gateway: Access, viewer: Access, _ way: Way, knowsViewer: Bool) -> Outcome {
        if gateway.passesUDP, viewer.passesUDP, knowsViewer ? meet(gateway, viewer) : gateway.isOpen {
            // Without its candidates, the gateway takes a viewer's address for that of a router.
            let isDirect = gateway == .none && viewer == .none && knowsViewer
            return .path(isDirect ? .direct : .reflexive)
        }
        // Nobody forwards the gateway's TCP port, so only a gateway with an address of its own accepts connections.
        if way == .passiveTCP, gateway == .none, viewer != .onlyHTTPS { return .path(.tcp) }
        // The server lets in only those hosts that the gateway has named to it.
        if way.relays(for: gateway), viewer.passesUDP, knowsViewer { return .path(.relayed) }
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
