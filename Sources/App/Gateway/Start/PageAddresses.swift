import DatagramPort
import Transport

/// Where people open the web page.
public struct PageAddresses: Sendable, Equatable, Codable {
    /// For browsers on this machine.
    public var own: [String] = []
    /// For browsers on other devices. HTTPS comes first, because only there does a page get the microphone.
    public var others: [String] = []
    /// The TCP ports that other devices need, in the order of ``others``.
    public var otherPorts: [Int] = []

    /// The addresses of a gateway with this config.
    /// - Parameter hosts: the addresses of this machine that other machines may reach.
    public init(
        _ configuration: GatewayConfiguration,
        hosts: [TransportAddress] = DatagramPort.hostAddresses().map(\.address)
    ) {
        let http = configuration.http
        var listeners = [(scheme: "http", host: http.host, port: http.port)]
        if let https = http.https { listeners.append(("https", https.host ?? http.host, https.port)) }
        own = listeners.map { Self.url($0.scheme, $0.host, $0.port) }
        for listener in listeners.reversed() {
            let reachable = Self.reachableHosts(listener.host, hosts)
            others += reachable.map { Self.url(listener.scheme, $0, listener.port) }
            if !Self.isLoopback(listener.host) { otherPorts.append(listener.port) }
        }
    }

    /// Whether other devices can open the page, if this machine is on a network.
    public var isOpen: Bool { !otherPorts.isEmpty }

    /// Whether a listener on `host` serves this machine only.
    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || TransportAddress(host, port: 1)?.isLoopback == true
    }

    private static func reachableHosts(_ host: String, _ hosts: [TransportAddress]) -> [String] {
        if isLoopback(host) { return [] }
        switch host {
        case "0.0.0.0": return hosts.filter { $0.family == .ipv4 }.map(\.host)
        case "::": return hosts.map(\.host)
        default: return [host]
        }
    }

    private static func url(_ scheme: String, _ host: String, _ port: Int) -> String {
        "\(scheme)://\(LocalGateway.reachableHost(host)):\(port)/"
    }
}
