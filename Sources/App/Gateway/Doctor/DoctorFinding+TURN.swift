import MediaRelay
import TURN
import Transport

extension DoctorFinding {
    /// Whether a TURN server relays for the gateway; nil where the config names none.
    static func turnServer(_ facts: NetworkFacts, _ configuration: GatewayConfiguration) -> DoctorFinding? {
        guard !configuration.network.turnServers.isEmpty else { return nil }
        guard let turn = facts.turn else {
            return DoctorFinding(
                .turnServer, .warning, "No TURN server of the config has an address so far.",
                advice: "If that stays so, check the names in network.turn, and this machine's name server.")
        }
        let server = "The TURN server \(turn.server) (\(turn.transport.words))"
        if !turn.relayedAddresses.isEmpty {
            let relayed = turn.relayedAddresses.map(\.description).joined(separator: " and ")
            return DoctorFinding(.turnServer, .good, "\(server) relays for the gateway at \(relayed).")
        }
        guard let failure = turn.failure else {
            return DoctorFinding(
                .turnServer, .note, "\(server) has not answered yet.", advice: "Ask again in half a minute.")
        }
        return DoctorFinding(
            .turnServer, .failure, "\(server) does not relay for the gateway: \(failure).",
            advice: advice(about: failure, turn.transport))
    }

    private static func advice(about failure: TURNFailure, _ transport: TURNServer.Transport) -> String {
        switch failure {
        case .wrongCredentials: "Correct the username and the credential in network.turn."
        case .refused(code: 486), .refused(code: 508):
            "The server has no room for another allocation: give this user a higher quota, or name another server."
        case .refused(code: 300):
            "The server names another one instead. If you trust that one, name it in network.turn."
        case .refused, .contradictory: "Check that the url in network.turn names a TURN server, and look at its log."
        case .noAnswer, .unreachable, .disconnected:
            transport == .udp
                ? "Check the name and the port in network.turn. If a firewall blocks UDP, add ?transport=tcp to the url, or "
                    + "use turns:."
                : "Check the name and the port in network.turn, and that the firewall lets TCP out."
        case .insecure: "Name the server as its certificate does, or name the authority that signed it in ca."
        }
    }
}

extension TURNServer.Transport {
    /// The name of the transport, for people.
    var words: String {
        switch self {
        case .udp: "UDP"
        case .tcp: "TCP"
        case .tls: "TLS"
        }
    }
}
