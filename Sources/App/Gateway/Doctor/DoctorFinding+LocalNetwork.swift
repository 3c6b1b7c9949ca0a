import LocalNetwork
import PortMapping
import Transport

extension DoctorFinding {
    /// Whether the gateway can be reached by its name in the local network; nil where it has none.
    static func localName(_ facts: NetworkFacts, _ configuration: GatewayConfiguration) -> DoctorFinding? {
        guard case .on(let wanted) = configuration.network.multicastDNS, let state = facts.localName else { return nil }
        if let failure = state.failure {
            return DoctorFinding(
                .localName, .warning, "Multicast DNS does not work on an interface: \(failure).",
                advice: "Check that the firewall lets multicast on UDP port 5353 in and out.")
        }
        guard let name = state.name else { return nil }
        guard !state.interfaces.isEmpty else {
            return DoctorFinding(
                .localName, .note, "No interface of this machine supports multicast, so \(name) is not announced.")
        }
        guard state.isAnnounced else {
            return DoctorFinding(
                .localName, .note, "The name \(name) is not announced yet.", advice: "Ask again in a few seconds.")
        }
        let interfaces = state.interfaces.joined(separator: ", ")
        if state.isRenamed {
            return DoctorFinding(
                .localName, .note,
                "Another machine has the name \(wanted).local, so this gateway is \(name) (\(interfaces)).",
                advice: "Set network.mdns to a name of its own.")
        }
        return DoctorFinding(
            .localName, .good, "Machines in the same network reach the gateway as \(name) (\(interfaces)).")
    }

    /// Whether the router forwards the media port; nil where the config does not want it.
    static func portMapping(_ facts: NetworkFacts) -> DoctorFinding? {
        guard let mapping = facts.portMapping else { return nil }
        let remedy = "forward UDP port \(facts.port) on the router and name its outside address in media.addresses"
        guard let router = mapping.router?.host else {
            return DoctorFinding(
                .portMapping, .warning, "This machine has no IPv4 router that could forward the media port.",
                advice: "Connect it to a network, or remove network.portMapping.")
        }
        guard let external = mapping.external else {
            guard let failure = mapping.failure else {
                return DoctorFinding(
                    .portMapping, .note, "The router \(router) has not answered yet.", advice: "Ask again in a minute.")
            }
            return DoctorFinding(
                .portMapping, .failure, "The router \(router) does not forward the media port: it \(failure).",
                advice: "Switch on UPnP, PCP or NAT-PMP in the router, or \(remedy).")
        }
        let words = "The router \(router) forwards \(external) to the media port (\(mapping.method.rawValue))"
        guard external.isGlobal else {
            return DoctorFinding(
                .portMapping, .warning,
                words + ", but that address is private: another router is between it and the Internet.",
                advice: "Let that router forward the port, too, or name a TURN server in network.turn.")
        }
        return DoctorFinding(.portMapping, .good, words + ".")
    }
}
