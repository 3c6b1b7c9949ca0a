import Foundation
import Transport

extension DoctorFinding {
    /// What a certificate says of itself.
    struct CertificateFacts: Sendable, Equatable {
        /// When it ends.
        var end: Date
        /// Whether the gateway made it.
        var isOwn: Bool
    }

    /// Where the page can be reached, and by which protocol.
    static func page(_ http: GatewayConfiguration.HTTP) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let hosts = [http.host, http.https.map { $0.host ?? http.host }].compactMap { $0 }
        if hosts.allSatisfy({ isLoopback($0) }) {
            findings.append(
                DoctorFinding(
                    .page, .note, "The page and the API are served to this machine only.",
                    advice: "Set http.host to 0.0.0.0 if phones and other machines should reach them."))
        } else {
            findings.append(DoctorFinding(.page, .good, "The page and the API are served on port \(http.port)."))
        }
        if http.https == nil {
            findings.append(
                DoctorFinding(
                    .certificate, .warning,
                    "HTTPS is off, so browsers on other machines give the page no microphone.",
                    advice: "Remove https: false from the config, or put a proxy with HTTPS in front."))
        }
        return findings
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || TransportAddress(host, port: 1)?.isLoopback == true
    }

    /// Whether browsers accept the certificate of HTTPS.
    /// - Parameter facts: nil for a certificate that cannot be read.
    static func certificate(_ facts: CertificateFacts?, now: Date) -> DoctorFinding {
        guard let facts else {
            return DoctorFinding(
                .certificate, .failure, "The certificate of HTTPS cannot be read.",
                advice: "Check http.https.certificate in the config: a PEM file, the leaf certificate first.")
        }
        let days = Int((facts.end.timeIntervalSince(now) / 86_400).rounded(.down))
        let remedy = facts.isOwn ? "Start the gateway again, which makes another." : "Renew it."
        if facts.end <= now {
            return DoctorFinding(.certificate, .failure, "The certificate of HTTPS has expired.", advice: remedy)
        }
        if days < 14 {
            return DoctorFinding(
                .certificate, .warning, "The certificate of HTTPS expires in \(days) days.", advice: remedy)
        }
        guard facts.isOwn else {
            return DoctorFinding(.certificate, .good, "The certificate of HTTPS is valid for \(days) days.")
        }
        return DoctorFinding(
            .certificate, .note,
            "The gateway has signed its certificate itself, so browsers warn once. It is valid for \(days) days.",
            advice: "Name a certificate in http.https to end the warning.")
    }
}
