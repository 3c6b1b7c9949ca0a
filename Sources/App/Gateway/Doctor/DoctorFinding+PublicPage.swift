import Foundation
import PortMapping
import STUN
import Transport

extension DoctorFinding {
    /// What is said of what nobody can see from inside.
    private static let unseen =
        "The gateway itself cannot check whether machines in other networks reach the page and the media port."

    /// What nothing inside can check, and what does.
    /// - Parameter url: the address that viewers use; nil where the config does not name it.
    static func unseenFromInside(_ url: String?) -> DoctorFinding {
        let command = "On a machine in another network, run gatehouse doctor --gateway"
        return DoctorFinding(
            .page, .note, unseen,
            advice: url.map { "\(command) \($0)." } ?? "\(command) URL, with the address that viewers use.")
    }

    /// Whether this finding says that somebody should look from another network, which somebody who does needs not read.
    public var asksForLookFromOutside: Bool { message == Self.unseen }

    /// Where the name of `http.publicURL` leads, and whether the certificate that is served there is good.
    /// - Parameter outside: the addresses at which the gateway is known to be reached.
    static func publicPage(_ page: PublicPage, outside: [TransportAddress], now: Date) -> [DoctorFinding] {
        var findings = [page.name(outside: outside)].compactMap { $0 }
        guard page.isSecure else {
            findings.append(
                DoctorFinding(
                    .certificate, .warning,
                    "\(page.url) (http.publicURL) has no HTTPS, so tokens and pictures travel in the clear, and browsers "
                        + "give the page no microphone.",
                    advice: "Put a proxy with HTTPS in front, or name the gateway's own address with https."))
            return findings
        }
        return findings + page.certificate(now: now)
    }
}

extension PublicPage {
    /// The command that sees what this machine may not.
    fileprivate var lookFromOutside: String { "run gatehouse doctor --gateway \(url) in another network" }

    /// Whether the name resolves, and to what; nil for an address that needs no name and says nothing else.
    fileprivate func name(outside: [TransportAddress]) -> DoctorFinding? {
        if let lookUpFailure {
            let isLocal = host.lowercased().hasSuffix(".local")
            return DoctorFinding(
                .page, isLocal ? .warning : .failure,
                "The name of http.publicURL cannot be resolved: \(lookUpFailure).",
                advice: isLocal
                    ? "Names that end in .local work only in the gateway's own network, and this machine does not resolve "
                        + "them. For viewers elsewhere, name a host that has a record at a DNS provider."
                    : "Check the name in http.publicURL, its record at your DNS provider (A or AAAA), and this machine's "
                        + "name server.")
        }
        let list = addresses.map(\.host).joined(separator: " and ")
        let isLiteral = addresses.count == 1 && addresses[0].host == host
        if addresses.allSatisfy(\.isLoopback) {
            return DoctorFinding(
                .page, .note,
                isLiteral
                    ? "http.publicURL names this machine itself (\(host)), so no other machine can use it."
                    : "On this machine \(host) (http.publicURL) is \(list), which is the machine itself. What other machines "
                        + "get for the name cannot be seen here.",
                advice: "To see what others get, \(lookFromOutside).")
        }
        guard addresses.contains(where: \.isGlobal) else {
            return DoctorFinding(
                .page, .note,
                (isLiteral ? "\(host) (http.publicURL) is" : "\(host) (http.publicURL) has \(list),")
                    + " an address of the local network, so viewers elsewhere cannot use it.",
                advice: "If viewers elsewhere use no VPN, point the name at the outside address of the router.")
        }
        guard !isLiteral else { return nil }
        let known = outside.filter { one in addresses.contains { $0.family == one.family && $0.isGlobal } }
        if !known.isEmpty, !known.contains(where: { one in addresses.contains { $0.hasSameHost(as: one) } }) {
            var seen: [String] = []
            for address in known where !seen.contains(address.host) { seen.append(address.host) }
            return DoctorFinding(
                .page, .note,
                "\(host) (http.publicURL) has the address \(list), but the gateway is seen from outside at "
                    + "\(seen.joined(separator: " and ")).",
                advice: "If no proxy or tunnel on another machine serves \(host), correct its record at your DNS "
                    + "provider (A or AAAA).")
        }
        return DoctorFinding(.page, .good, "\(host) (http.publicURL) has the address \(list).")
    }

    /// Whether the certificate that is served is for the name, valid now and for two weeks, and trusted.
    fileprivate func certificate(now: Date) -> [DoctorFinding] {
        switch served {
        case nil: return ownCertificate
        case .certificate(let certificate)?: return findings(about: certificate, now: now)
        case .nothing(let reason)?:
            return [
                DoctorFinding(
                    .certificate, .failure,
                    "What answers at \(url) (http.publicURL) presents no certificate: \(reason).",
                    advice: "Check that HTTPS is served at port \(port). If this machine reaches something else there "
                        + "than viewers do, \(lookFromOutside).")
            ]
        case .unreached(let reason)?:
            // Many routers do not support hairpinning, so this is not a failure.
            return [
                DoctorFinding(
                    .certificate, .note,
                    "This machine does not reach \(url) (\(reason)), so the certificate that is served there is unknown. "
                        + "Many routers do not let the network inside reach their outside address.",
                    advice: "To see the certificate, \(lookFromOutside).")
            ] + ownCertificate
        }
    }

    private func findings(about certificate: ServedCertificate, now: Date) -> [DoctorFinding] {
        let subject = "The certificate that is served at \(url)"
        let elsewhere = "If this machine reaches something else there than viewers do, \(lookFromOutside)."
        var found: [DoctorFinding] = []
        if !certificate.coversName {
            found.append(
                DoctorFinding(
                    .certificate, .failure, "\(subject) is not for \(host), so browsers and apps refuse it.",
                    advice: "Serve a certificate for \(host), in http.https or by the proxy in front. \(elsewhere)"))
        }
        let days = Int((certificate.end.timeIntervalSince(now) / 86_400).rounded(.down))
        let remedy = "Renew it, then restart what serves it."
        if certificate.end <= now {
            found.append(DoctorFinding(.certificate, .failure, "\(subject) has expired.", advice: remedy))
        } else if certificate.begin > now {
            found.append(
                DoctorFinding(
                    .certificate, .failure, "\(subject) is not valid yet.",
                    advice: "Check the clocks of this machine and of the one that made the certificate."))
        } else if days < 14 {
            let time = days == 0 ? "in less than a day" : days == 1 ? "in 1 day" : "in \(days) days"
            found.append(DoctorFinding(.certificate, .warning, "\(subject) expires \(time).", advice: remedy))
        }
        if let distrust = certificate.distrust, found.isEmpty {
            found.append(
                DoctorFinding(
                    .certificate, .warning, "This machine does not trust the certificate at \(url): \(distrust).",
                    advice: "Serve a certificate of an authority that browsers and apps trust, with its whole chain. "
                        + elsewhere))
        }
        guard found.isEmpty else { return found }
        return [
            DoctorFinding(
                .certificate, .good,
                "\(subject) is for \(host), this machine trusts it, and it is valid for \(days) days.")
        ]
    }

    /// What the gateway's own HTTPS serves, where nobody sees what is served at the address. Its end has a finding already.
    private var ownCertificate: [DoctorFinding] {
        guard let own else { return [] }
        guard own.coversName else {
            return [
                DoctorFinding(
                    .certificate, .note, "The certificate that the gateway itself serves is not for \(host).",
                    advice: "If no proxy with a certificate of its own is in front, name a certificate for \(host) in "
                        + "http.https.")
            ]
        }
        return [DoctorFinding(.certificate, .good, "The certificate that the gateway itself serves is for \(host).")]
    }
}

extension NetworkFacts {
    /// The addresses at which the gateway is known to be reached from everywhere.
    func outsideAddresses(_ configuration: GatewayConfiguration) -> [TransportAddress] {
        let named = configuration.media.addresses.compactMap { TransportAddress($0, port: port) }
        let mapped = portMapping?.external.map { [$0] } ?? []
        return (seen.compactMap(\.address) + named + mapped + hostAddresses).filter(\.isGlobal)
    }
}
