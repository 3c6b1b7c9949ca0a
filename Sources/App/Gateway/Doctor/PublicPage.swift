import DatagramPort
import Foundation
import Transport

/// What the gateway finds where `http.publicURL` leads.
struct PublicPage: Sendable {
    /// What was found at the address.
    enum Served: Sendable, Equatable {
        /// A certificate.
        case certificate(ServedCertificate)
        /// Nothing answers, and why.
        case unreached(String)
        /// Something answers, but shows no certificate, and why.
        case nothing(String)
    }

    /// The address, as the config writes it.
    var url: String
    /// The name or the address of the host in it.
    var host: String
    /// Its port.
    var port: UInt16
    /// Whether it begins with `https`.
    var isSecure: Bool
    /// The addresses of the host, as this machine resolves the name.
    var addresses: [TransportAddress] = []
    /// Why the name could not be resolved.
    var lookUpFailure: String?
    /// What is served there; nil where that was not tried.
    var served: Served?
    /// What the gateway's own HTTPS serves; nil where that was not tried.
    var own: ServedCertificate?

    /// The most addresses of the host that are tried.
    private static let maximumAddresses = 4

    /// Describes an address that was not tried yet; nil for what is not an address of HTTP.
    init?(_ url: String) {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else { return nil }
        self.url = url
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        isSecure = parts.scheme?.lowercased() == "https"
        port = UInt16(clamping: parts.port ?? (isSecure ? 443 : 80))
    }

    /// Looks at the address of the config; nil where it names none.
    /// - Parameter patience: how long the name, a connection, and then TLS may take.
    static func trying(_ http: GatewayConfiguration.HTTP, patience: Duration) async -> PublicPage? {
        guard var page = http.publicURL.flatMap({ PublicPage($0) }) else { return nil }
        do throws(UnknownHostName) {
            page.addresses = try await HostNameLookup.addresses(of: page.host, port: page.port, within: patience)
        } catch {
            page.lookUpFailure = "\(error)"
        }
        guard page.isSecure else { return page }
        let asked = page
        let own = ownAddress(http)
        let found = await DoctorThread.run { () -> (Served?, ServedCertificate?) in
            let served = asked.addresses.isEmpty ? nil : asked.look(patience: patience)
            if case .certificate? = served { return (served, nil) }
            // Without hairpinning at the router, only what the gateway serves itself can be known.
            let certificate = own.flatMap { try? ServedCertificate.look(at: $0, name: asked.host, within: patience) }
            return (served, certificate)
        }
        (page.served, page.own) = found ?? (nil, nil)
        return page
    }

    private func look(patience: Duration) -> Served {
        let attempts = tryConnecting(to: Array(addresses.prefix(Self.maximumAddresses)), within: patience)
        guard let reached = attempts.first(where: { $0.failure == nil })?.address else {
            return .unreached(attempts.map { "\($0.address): \($0.failure ?? "")" }.joined(separator: ", "))
        }
        do throws(ServedCertificate.Failure) {
            return .certificate(try ServedCertificate.look(at: reached, name: host, within: patience))
        } catch {
            return .nothing(error.reason)
        }
    }

    /// Where this machine reaches the gateway's own HTTPS; nil without one.
    private static func ownAddress(_ http: GatewayConfiguration.HTTP) -> TransportAddress? {
        guard let https = http.https, let port = UInt16(exactly: https.port), port > 0 else { return nil }
        let loopback = TransportAddress(ipv4: 0x7F00_0001, port: port)
        guard let address = TransportAddress(https.host ?? http.host, port: port) else { return loopback }
        guard address.isUnspecified else { return address }
        return address.family == .ipv4 ? loopback : TransportAddress(ipv6High: 0, low: 1, port: port)
    }
}
