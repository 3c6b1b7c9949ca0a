/// The prefixes of the topics at which this gateway has published its cameras on one broker. What is left below an
/// earlier one is cleared, also if the connection ended while that was done.
struct PublishedPrefixes: Codable, Equatable, Sendable {
    /// Where they are kept in the state folder.
    static let fileName = "mqtt-prefixes.json"
    /// How many are kept. The gateway subscribes to topics below each.
    static let most = 8

    /// The broker.
    var host: String
    var port: Int
    /// The newest first, which is in use.
    var prefixes: [String]

    /// The prefix of the config, which is in use.
    init(_ wanted: GatewayConfiguration.MQTT) {
        (host, port) = (wanted.host, wanted.port)
        prefixes = [wanted.topicPrefix]
    }

    /// Those that are not in use any more.
    var former: [String] { Array(prefixes.dropFirst()) }

    /// These prefixes and then earlier ones, each once. Those of another broker do not count.
    func adding(_ earlier: PublishedPrefixes?) -> PublishedPrefixes {
        guard let earlier, earlier.host == host, earlier.port == port else { return self }
        var all = self
        all.prefixes += earlier.prefixes.filter { !prefixes.contains($0) }
        all.prefixes = Array(all.prefixes.prefix(Self.most))
        return all
    }
}
