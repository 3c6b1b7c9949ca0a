import DatagramPort
import Transport

/// What the gateway prints when it is ready: where the page is, what is closed, and how to open it. The token is not among
/// it, because standard output often ends in a log.
public struct Greeting: Sendable {
    let configuration: GatewayConfiguration
    /// The config file, nil for the built-in config.
    var configurationFile: String?
    /// The addresses of this machine that other machines may reach.
    var hosts = DatagramPort.hostAddresses().map(\.address)
    var firewall = HostFirewall.active()

    /// The words of a gateway with this config.
    /// - Parameter configurationFile: the config file, nil for the built-in config.
    public init(_ configuration: GatewayConfiguration, configurationFile: String?) {
        self.configuration = configuration
        self.configurationFile = configurationFile
    }

    /// The lines to print.
    public var lines: [String] {
        let addresses = PageAddresses(configuration, hosts: hosts)
        var lines = ["Gatehouse \(GatewayVersion.current) is ready."]
        lines += ["Open the page on this machine:"] + addresses.own.map { "  \($0)" }
        lines += addresses.isOpen ? opened(addresses) : closed
        return lines + ["To sign in, open an address that \"gatehouse token --url\" prints."]
    }

    private func opened(_ addresses: PageAddresses) -> [String] {
        var lines =
            addresses.others.isEmpty
            ? ["Other devices cannot open the page, because this machine is not on a network."]
            : ["Open the page on other devices:"] + addresses.others.map { "  \($0)" }
        if let https = configuration.http.https, https.files == nil {
            lines.append("Browsers warn once about the certificate, because the gateway signs it itself.")
        }
        let ports = Self.ports(
            addresses.otherPorts, media: configuration.media.port, mediaOverTCP: configuration.network.tcp,
            firewall: firewall)
        return lines + [ports]
    }

    /// How the firewall lets other devices in.
    /// - Parameters:
    ///   - page: the TCP ports of the page.
    ///   - media: the UDP port of all live views.
    ///   - mediaOverTCP: where viewers connect whose network blocks UDP.
    public static func ports(
        _ page: [Int], media: Int, mediaOverTCP: GatewayConfiguration.Network.TCP = .mediaPort,
        firewall: HostFirewall? = .active()
    ) -> String {
        var tcp = page
        if let port = mediaOverTCP.number(media: media), !tcp.contains(port) { tcp.append(port) }
        if let firewall {
            return "The firewall \(firewall) is on. To let other devices in: \(firewall.opening(tcp: tcp, udp: media))"
        }
        let names = tcp.map { "TCP port \($0)" }.joined(separator: ", ")
        return "If this machine has a firewall, open \(names) and UDP port \(media) in it."
    }

    private var closed: [String] {
        let how: String
        if let file = configurationFile {
            let first =
                configuration.http.https == nil
                ? "remove https: false and set http.https.host to 0.0.0.0 in" : "set http.https.host to 0.0.0.0 in"
            how = "\(first) \(file)"
        } else {
            how = "run \"gatehouse setup\""
        }
        return ["Other devices cannot open the page. To let them in, \(how), and restart the gateway."] + future
    }

    /// Where other devices will find the page.
    private var future: [String] {
        var opened = configuration
        var https = opened.http.https ?? GatewayConfiguration.HTTPS()
        https.host = "0.0.0.0"
        opened.http.https = https
        guard let first = PageAddresses(opened, hosts: hosts).others.first else { return [] }
        return ["They will then find it at \(first)"]
    }
}
