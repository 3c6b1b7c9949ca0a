import MediaRelay
import PortMapping
import STUN
import Transport

extension DoctorFinding {
    /// The path of media, from this machine outwards.
    /// - Parameter relays: what came of trying the servers of `network.turn`; empty where they were not tried.
    static func network(
        _ facts: NetworkFacts, _ configuration: GatewayConfiguration, relays: [TriedServer] = []
    ) -> [DoctorFinding] {
        var findings = mediaPort(facts, configuration)
        if let name = localName(facts, configuration) { findings.append(name) }
        findings += outsideAddresses(facts, configuration)
        findings += portMappings(facts)
        if let server = turnServer(facts, configuration, relays) { findings.append(server) }
        findings += otherRelays(relays, isRelayed: facts.turn?.relayedAddresses.isEmpty == false)
        if let kind = translation(facts, configuration) { findings.append(kind) }
        if let missing = viewerServers(configuration) { findings.append(missing) }
        return findings
    }

    private static func mediaPort(_ facts: NetworkFacts, _ configuration: GatewayConfiguration) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let addresses = facts.hostAddresses.map(\.host) + configuration.media.addresses
        if addresses.isEmpty {
            findings.append(
                DoctorFinding(
                    .mediaPort, .failure, "This machine has no address that other machines can reach.",
                    advice: "Connect it to a network, or name its address in media.addresses."))
        } else {
            let names = addresses.joined(separator: ", ")
            let tcp = facts.tcpPort.map { ", and TCP port \($0) where a network blocks UDP," } ?? ""
            findings.append(
                DoctorFinding(.mediaPort, .good, "Live views use UDP port \(facts.port)\(tcp) at \(names)."))
        }
        if let failure = facts.tcpFailure {
            findings.append(
                DoctorFinding(
                    .mediaPort, .warning,
                    "Viewers whose network blocks UDP cannot connect, because the TCP port cannot be opened: \(failure).",
                    advice: "Stop the program that uses the port, or set network.tcp to another port."))
        }
        if facts.receiveDrops > 0 {
            findings.append(
                DoctorFinding(
                    .mediaPort, .warning, "The kernel has dropped \(facts.receiveDrops) datagrams at the media port.",
                    advice: "Raise net.core.rmem_max to 4194304, or give the gateway more processor time."))
        }
        return findings
    }

    private static func outsideAddresses(
        _ facts: NetworkFacts, _ configuration: GatewayConfiguration
    ) -> [DoctorFinding] {
        guard !configuration.network.stunServers.isEmpty else {
            let hasAddresses = !configuration.media.addresses.isEmpty
            return [
                DoctorFinding(
                    .outsideAddress, .note,
                    facts.portMapping?.external != nil
                        ? "Viewers on other networks are offered the address at which the router forwards the media port."
                        : hasAddresses
                            ? "Viewers on other networks are offered the addresses of media.addresses."
                            : "Viewers on other networks are offered only the addresses of this machine.",
                    advice: "Name STUN servers in network.stun, so that such viewers find a path through the router.")
            ]
        }
        guard !facts.seen.isEmpty else {
            return [
                DoctorFinding(
                    .outsideAddress, .warning, "No STUN server of the config has an address so far.",
                    advice: "If that does not change, check the names in network.stun, and this machine's name server.")
            ]
        }
        let isSilent = facts.seen.allSatisfy { $0.failure == .noAnswer }
        return facts.seen.map { observation in
            if let address = observation.address {
                let time = observation.roundTripTime.map { " after \(Int($0.inMilliseconds.rounded())) ms" } ?? ""
                return DoctorFinding(
                    .outsideAddress, .good,
                    "The STUN server \(observation.server) sees the media port at \(address)\(time).")
            }
            guard let failure = observation.failure else {
                return DoctorFinding(
                    .outsideAddress, .note, "The STUN server \(observation.server) has not answered yet.",
                    advice: "Ask again in half a minute.")
            }
            return DoctorFinding(
                .outsideAddress, isSilent ? .failure : .warning,
                "The STUN server \(observation.server) \(failure).",
                advice: isSilent
                    ? "Allow outgoing UDP and its replies; a firewall may be blocking them."
                    : "Check the name and the port in network.stun, or name another server.")
        }
    }

    /// What kind of NAT there is: the same outside address for all destinations, or another for each (RFC 4787, section
    /// 4.1).
    private static func translation(_ facts: NetworkFacts, _ configuration: GatewayConfiguration) -> DoctorFinding? {
        let seen = facts.seen.compactMap { observation in
            observation.address.map { (server: observation.server, address: $0) }
        }.filter { $0.address.family == .ipv4 }
        guard let first = seen.first else { return nil }
        if seen.allSatisfy({ one in facts.hostAddresses.contains { $0.hasSameHost(as: one.address) } }) {
            return DoctorFinding(.translation, .good, "No router translates addresses.")
        }
        if seen.contains(where: { $0.address != first.address }) {
            let words = "The router uses a different port for each destination (symmetric NAT)"
            // The owner has named an address that is forwarded, the router forwards the port, or a TURN server relays.
            guard configuration.media.addresses.isEmpty, facts.portMapping?.external == nil,
                facts.turn?.relayedAddresses.isEmpty ?? true
            else {
                return DoctorFinding(.translation, .note, words + ".")
            }
            return DoctorFinding(
                .translation, .warning, words + ", so viewers on other networks may be unable to connect.",
                advice:
                    "Forward UDP port \(facts.port) on the router and name its outside address in media.addresses, or "
                    + "name a TURN server in network.turn."
            )
        }
        let servers = Set(seen.map { $0.server.host })
        guard servers.count > 1 else {
            return DoctorFinding(
                .translation, .note, "The gateway is behind NAT; a second STUN server is needed to tell which kind.",
                advice: "Name a second server in network.stun.")
        }
        return DoctorFinding(.translation, .good, "The router shows the same outside address to every destination.")
    }

    private static func viewerServers(_ configuration: GatewayConfiguration) -> DoctorFinding? {
        if !configuration.network.stunServers.isEmpty, configuration.media.iceServers.isEmpty {
            return DoctorFinding(
                .viewerServers, .warning,
                "Viewers get no STUN server, so they cannot report the address at which the gateway reaches them.",
                advice: "Name a server in media.iceServers, too.")
        }
        return nil
    }
}
