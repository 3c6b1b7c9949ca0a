import PortMapping
import Transport

extension DoctorFinding {
    /// Whether the router forwards the media port and the TCP port of media, and lets the media port through its IPv6 firewall; none
    /// where the config does not want it.
    static func portMappings(_ facts: NetworkFacts) -> [DoctorFinding] {
        [mediaPortMapping(facts), tcpPortMapping(facts), pinhole(facts)].compactMap { $0 }
    }

    /// Whether the IPv6 router lets the media port through; nil without such a router, and until it has answered.
    private static func pinhole(_ facts: NetworkFacts) -> DoctorFinding? {
        guard let pinhole = facts.pinhole, let router = pinhole.router?.host else { return nil }
        if let external = pinhole.external {
            return DoctorFinding(
                .portMapping, .good,
                "The router \(router) lets IPv6 datagrams for \(external) through to this machine "
                    + "(\(pinhole.method.rawValue)).")
        }
        guard let failure = pinhole.failure else { return nil }
        if failure == .firewallOff {
            return DoctorFinding(
                .portMapping, .good,
                "The router \(router) reports that its IPv6 firewall is off, so it lets the media port through (UPnP).")
        }
        let words =
            switch failure {
            case .noAnswer: "answers neither PCP nor UPnP over IPv6"
            case .unusableService: "speaks UPnP, but offers no service that opens its IPv6 firewall"
            case .unusableAddress, .refused: failure.description
            }
        // A router without a firewall has nothing to open, and viewers may come over IPv4.
        return DoctorFinding(
            .portMapping, .note,
            "The router \(router) does not report that it lets IPv6 datagrams to the media port through: it \(words).",
            advice: "If the router has an IPv6 firewall, switch on PCP or UPnP in it, or let UDP port \(facts.port) "
                + "through to this machine.")
    }

    private static func mediaPortMapping(_ facts: NetworkFacts) -> DoctorFinding? {
        guard let mapping = facts.portMapping else { return nil }
        guard let router = mapping.router?.host else {
            return DoctorFinding(
                .portMapping, .warning, "This machine has no IPv4 router that could forward the media port.",
                advice: "Connect it to a network, or remove network.portMapping.")
        }
        if let forwarding = forwarding(mapping, to: "the media port") { return forwarding }
        guard let failure = mapping.failure else {
            return DoctorFinding(
                .portMapping, .note, "The router \(router) has not answered yet.", advice: "Ask again in a minute.")
        }
        // A router that does not forward the media port is not asked about the TCP port.
        let tcp = facts.tcpPortMapping == nil ? nil : facts.tcpPort
        let ports = "UDP port \(facts.port)" + (tcp.map { " and TCP port \($0)" } ?? "")
        return DoctorFinding(
            .portMapping, .failure, "The router \(router) does not forward the media port: it \(failure).",
            advice: "Switch on UPnP, PCP or NAT-PMP in the router, or forward \(ports) on the router and name its "
                + "outside address in media.addresses.")
    }

    /// Whether the router forwards the TCP port of media; nil where there is none, and until the router is asked about it. Until
    /// then the finding about the media port says what to do.
    private static func tcpPortMapping(_ facts: NetworkFacts) -> DoctorFinding? {
        guard let mapping = facts.tcpPortMapping, let router = mapping.router?.host, let port = facts.tcpPort else {
            return nil
        }
        if let forwarding = forwarding(mapping, to: "TCP port \(port)") { return forwarding }
        guard let failure = mapping.failure else {
            return DoctorFinding(
                .portMapping, .note, "The router \(router) has not answered yet whether it forwards TCP port \(port).",
                advice: "Ask again in a minute.")
        }
        // Viewers whose network lets UDP through do not need it, so this is a warning.
        return DoctorFinding(
            .portMapping, .warning,
            "The router \(router) does not forward TCP port \(port): it \(failure). Viewers elsewhere whose network blocks "
                + "UDP may be unable to connect.",
            advice: "Forward TCP port \(port) on the router to this machine, under the same number.")
    }

    /// What the router forwards; nil while it forwards nothing.
    private static func forwarding(_ mapping: PortMapping, to port: String) -> DoctorFinding? {
        guard let router = mapping.router?.host, let external = mapping.external else { return nil }
        let words = "The router \(router) forwards \(external) to \(port) (\(mapping.method.rawValue))"
        guard external.isGlobal else {
            return DoctorFinding(
                .portMapping, .warning,
                words + ", but that address is private: another router is between it and the Internet.",
                advice: "Let that router forward the port, too, or name a TURN server in network.turn.")
        }
        return DoctorFinding(.portMapping, .good, words + ".")
    }
}
