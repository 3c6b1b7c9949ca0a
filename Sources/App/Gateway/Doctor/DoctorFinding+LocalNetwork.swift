import LocalNetwork

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
}
