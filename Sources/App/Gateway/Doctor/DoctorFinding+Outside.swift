import HomeTypes
import Transport

extension DoctorFinding {
    /// What a look from another machine says, in the order in which a packet meets it.
    public static func outside(_ facts: OutsideFacts) -> [DoctorFinding] {
        let name = facts.name
        if name?.state == .failure { return [name].compactMap { $0 } }
        var findings = [name].compactMap { $0 } + facts.page
        guard facts.failure == nil else { return findings }
        findings.append(facts.mediaOverUDP)
        if let overTCP = facts.mediaOverTCP { findings.append(overTCP) }
        return findings
    }
}

extension HomeError {
    /// Whether the gateway could not be reached because of its certificate.
    fileprivate var concernsCertificate: Bool {
        switch subtype {
        case .connection(.untrustedCertificate), .connection(.certificateOfAnotherName): true
        default: false
        }
    }
}

extension OutsideFacts {
    /// Whether the name of the gateway leads to an address that can be reached from elsewhere; nil if it has no name.
    fileprivate var name: DoctorFinding? {
        if let lookUpFailure {
            return DoctorFinding(
                .page, .failure, "The name of the gateway cannot be resolved: \(lookUpFailure).",
                advice: host.lowercased().hasSuffix(".local")
                    ? "Names that end in .local work only in the gateway's own network."
                    : "Check the name, and its record at your DNS provider (A or AAAA).")
        }
        guard !addresses.isEmpty else { return nil }
        let list = addresses.map(\.host).joined(separator: " and ")
        let isLiteral = addresses.count == 1 && addresses[0].host == host
        if addresses.allSatisfy(\.isLoopback) {
            return DoctorFinding(
                .page, .note, "\(host) is this machine itself, so this does not test access from outside.",
                advice: "Run the command on another machine, with the address that viewers use.")
        }
        if !addresses.contains(where: \.isGlobal) {
            return DoctorFinding(
                .page, .note,
                isLiteral
                    ? "\(list) is an address of the local network, so viewers elsewhere cannot use it."
                    : "\(host) is \(list), an address of the local network, so viewers elsewhere cannot use it.",
                advice: "To check the path from outside, run the command in another network with the outside address.")
        }
        return isLiteral ? nil : DoctorFinding(.page, .good, "\(host) has the address \(list).")
    }

    /// Whether the page and the API answer, and the certificate fits.
    fileprivate var page: [DoctorFinding] {
        guard let failure else {
            let answers = DoctorFinding(.page, .good, "The page and the API answer at \(url).")
            if isSecure {
                return [
                    answers,
                    DoctorFinding(.certificate, .good, "The certificate is for \(host), and this machine trusts it."),
                ]
            }
            guard !addresses.allSatisfy(\.isLoopback) else { return [answers] }
            return [
                DoctorFinding(
                    .page, .warning,
                    "The page and the API answer at \(url), and tokens and pictures travel in the clear.",
                    advice: "Use the gateway's address with https, or a proxy with HTTPS in front.")
            ]
        }
        let message = "\(failure.message.prefix(1).uppercased())\(failure.message.dropFirst())."
        switch failure.code {
        case .unauthenticated, .permissionDenied:
            return [
                DoctorFinding(
                    .page, .failure, message, advice: "Give a token that is valid: gatehouse token shows one.")
            ]
        case _ where failure.concernsCertificate:
            return [
                DoctorFinding(
                    .certificate, .failure, message,
                    advice: "Name a certificate for \(host) in http.https, or use a name that the certificate has. "
                        + "For the certificate that the gateway signed itself, add --certificate.")
            ]
        default:
            return [
                DoctorFinding(
                    .page, .failure, message,
                    advice: "Forward TCP port \(port) on the router to the gateway, let its firewall accept it, and "
                        + "check http.host and http.https in the config.")
            ]
        }
    }

    fileprivate var mediaOverUDP: DoctorFinding {
        switch view {
        case .notTried(let reason):
            return DoctorFinding(.mediaPort, .note, "Media over UDP was not tried: \(reason).")
        case .connected(let path, let delay):
            let milliseconds = max(1, delay / .milliseconds(1))
            let time = "after \(Int(milliseconds.rounded())) ms"
            guard path == "relayed" else {
                let way = path == "reflexive" ? " through a router" : ""
                return DoctorFinding(.mediaPort, .good, "Media comes over UDP\(way), \(time).")
            }
            return DoctorFinding(
                .mediaPort, .note, "Media comes only through the TURN server, \(time).",
                advice: "For a direct path, forward the gateway's UDP port on its router and name the outside address "
                    + "in media.addresses.")
        case .failed(let reason):
            return DoctorFinding(
                .mediaPort, tcp.contains { $0.failure == nil } ? .warning : .failure,
                "No media comes over UDP to this machine: \(reason).",
                advice: "Forward the gateway's UDP port on its router and name the outside address in "
                    + "media.addresses, or name a TURN server in network.turn. If this machine's own network may "
                    + "block UDP, try another one.")
        }
    }

    /// Whether viewers get media over TCP; nil if no view showed the addresses.
    fileprivate var mediaOverTCP: DoctorFinding? {
        if case .notTried = view { return nil }
        guard !tcp.isEmpty else {
            return DoctorFinding(
                .mediaPort, .note, "The gateway offers no media over TCP.",
                advice: "Viewers whose network blocks UDP get the picture over a WebSocket, which is slower. "
                    + "network.tcp switches TCP on.")
        }
        let reached = tcp.filter { $0.failure == nil }.map(\.address.description)
        guard reached.isEmpty else {
            return DoctorFinding(
                .mediaPort, .good,
                "Viewers whose network blocks UDP reach the gateway over TCP at \(reached.joined(separator: " and ")).")
        }
        let attempts = tcp.map { "\($0.address) (\($0.failure ?? ""))" }.joined(separator: ", ")
        let ports = Set(tcp.map(\.address.port)).sorted().map(String.init).joined(separator: " or ")
        return DoctorFinding(
            .mediaPort, .warning, "None of the gateway's addresses for media over TCP is reached: \(attempts).",
            advice: "Forward TCP port \(ports) on the router as well, for viewers whose network blocks UDP.")
    }
}
