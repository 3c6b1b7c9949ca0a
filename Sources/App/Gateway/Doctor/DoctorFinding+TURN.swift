import MediaRelay
import TURN
import Transport

extension DoctorFinding {
    /// Whether a TURN server relays for the gateway; nil where the config names none.
    /// - Parameter tried: what came of trying all servers of the config.
    static func turnServer(
        _ facts: NetworkFacts, _ configuration: GatewayConfiguration, _ tried: [TriedServer] = []
    ) -> DoctorFinding? {
        guard !configuration.network.turnServers.isEmpty else { return nil }
        guard let turn = facts.turn else {
            return DoctorFinding(
                .turnServer, .warning, "No TURN server of the config has an address so far.",
                advice: "If that does not change, check the names in network.turn, and this machine's name server.")
        }
        let server = "The TURN server \(turn.server) (\(turn.transport.words))"
        if !turn.relayedAddresses.isEmpty {
            let relayed = turn.relayedAddresses.map(\.description).joined(separator: " and ")
            return DoctorFinding(.turnServer, .good, "\(server) relays for the gateway at \(relayed).")
        }
        if turn.isSilent {
            return DoctorFinding(
                .turnServer, .warning, "\(server) has relayed for the gateway, but does not answer at the moment.",
                advice: "Ask again in half a minute. If it stays silent, the gateway continues with the next server.")
        }
        guard let failure = turn.failure else {
            return DoctorFinding(
                .turnServer, .note, "\(server) has not answered yet.", advice: "Ask again in half a minute.")
        }
        // The gateway asks the servers in turn, so it comes to one that relays.
        return DoctorFinding(
            .turnServer, tried.contains { $0.hasAnswered } ? .warning : .failure,
            "\(server) does not relay for the gateway: \(failure).",
            advice: failure.advice(.turn, overUDP: turn.transport == .udp))
    }

    /// Whether the servers of `network.turn` that the gateway does not use at the moment would relay.
    /// - Parameter isRelayed: whether the one in use relays.
    static func otherRelays(_ servers: [TriedServer], isRelayed: Bool) -> [DoctorFinding] {
        let isSpare = isRelayed || servers.contains { $0.hasAnswered }
        return servers.compactMap { server in
            let name = "The TURN server \(server.url) of network.turn"
            let state = isSpare ? DoctorFinding.State.warning : .failure
            switch server.outcome {
            case .answered(let delay):
                return DoctorFinding(
                    .turnServer, .good, "\(name) would relay for the gateway; it answers after \(delay.inWords).")
            case .failed(let failure):
                return DoctorFinding(
                    .turnServer, state, "\(name) would not relay for the gateway: \(failure).",
                    advice: failure.advice(.turn, overUDP: server.transport == .udp))
            case .unknown(let reason):
                return DoctorFinding(
                    .turnServer, state, "\(name) has no address: \(reason).",
                    advice: "Check the name in network.turn, and this machine's name server.")
            // The config is refused with such servers, and the one in use has a finding of its own.
            case .inUse, .malformed, .withoutCredentials, .untried: return nil
            }
        }
    }
}

extension TriedServer {
    /// Whether it serves.
    var hasAnswered: Bool {
        if case .answered = outcome { return true }
        return false
    }
}

/// Where the config names a server.
enum ServerPlace: String {
    /// For the gateway itself.
    case turn = "network.turn"
    /// For viewers.
    case viewers = "media.iceServers"
}

extension TURNFailure {
    /// What to do about a server that does not serve.
    func advice(_ place: ServerPlace, overUDP: Bool, kind: String = "TURN") -> String {
        let section = place.rawValue
        switch self {
        case .wrongCredentials: return "Correct the username and the credential in \(section)."
        case .refused(code: 486), .refused(code: 508):
            return "The server has no room for another allocation: give this user a higher quota, or name another "
                + "server."
        case .refused(code: 300):
            return "The server names another one instead. If you trust that one, name it in \(section)."
        case .refused, .contradictory:
            return "Check that the url in \(section) names a \(kind) server, and look at its log."
        case .noAnswer, .unreachable, .disconnected:
            let check = "Check the name and the port in \(section)"
            switch (place, overUDP) {
            case (.turn, true):
                return check + ". If a firewall blocks UDP, add ?transport=tcp to the url, or use turns:."
            case (.turn, false): return check + ", and that the firewall lets TCP out."
            case (.viewers, _):
                return check + ", and that the server runs. If only this machine's network keeps it from the server, "
                    + "viewers elsewhere reach it."
            }
        case .insecure:
            return place == .turn
                ? "Name the server as its certificate does, or name the authority that signed it in ca."
                : "Name the server as its certificate does, and give it a certificate that browsers trust."
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
