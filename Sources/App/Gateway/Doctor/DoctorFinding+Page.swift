import Foundation

extension DoctorFinding {
    /// What a certificate states about itself.
    struct CertificateFacts: Sendable, Equatable {
        /// When it ends.
        var end: Date
        /// Whether the gateway made it.
        var isOwn: Bool
    }

    /// Where the page can be reached, and by which protocol.
    static func page(_ http: GatewayConfiguration.HTTP) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let isPlainOpen = !PageAddresses.isLoopback(http.host)
        if let https = http.https, !PageAddresses.isLoopback(https.host ?? http.host) {
            findings.append(
                DoctorFinding(.page, .good, "Other machines reach the page and the API at https port \(https.port)."))
        } else if !isPlainOpen {
            findings.append(
                DoctorFinding(
                    .page, .note, "The page and the API are served to this machine only.",
                    advice: http.https == nil
                        ? "Put a proxy with HTTPS in front if phones and other machines should reach them."
                        : "Set http.https.host to 0.0.0.0 if phones and other machines should reach them."))
        }
        if isPlainOpen {
            findings.append(
                DoctorFinding(
                    .page, .warning,
                    "Other machines reach the page and the API at port \(http.port) without HTTPS, so tokens and "
                        + "pictures travel in the clear.",
                    advice: "Leave http.host at 127.0.0.1, and set http.https.host to 0.0.0.0."))
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

    /// Whether browsers accept the certificate of HTTPS.
    /// - Parameter facts: nil for a certificate that cannot be read.
    static func certificate(_ facts: CertificateFacts?, now: Date) -> DoctorFinding {
        guard let facts else {
            return DoctorFinding(
                .certificate, .failure, "The certificate of HTTPS cannot be read.",
                advice: "Check http.https.certificate in the config: a PEM file, the leaf certificate first.")
        }
        let days = Int((facts.end.timeIntervalSince(now) / 86_400).rounded(.down))
        let remedy = facts.isOwn ? "Restart the gateway, which makes another." : "Renew it, then restart the gateway."
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
