import Logging

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

    /// The prefixes after the config was read.
    /// - Parameter kept: those before; they count on the same broker.
    init(after kept: PublishedPrefixes?, for wanted: GatewayConfiguration.MQTT) {
        (host, port) = (wanted.host, wanted.port)
        var earlier: [String] = []
        if let kept, kept.host == wanted.host, kept.port == wanted.port {
            earlier = kept.prefixes.filter { $0 != wanted.topicPrefix }
        }
        prefixes = [wanted.topicPrefix] + earlier.prefix(Self.most - 1)
    }

    /// Those that are not in use any more.
    var former: [String] { Array(prefixes.dropFirst()) }

    /// Reads what is kept, and keeps what follows from the config. A file that cannot be read is not overwritten, so the
    /// prefixes in it count again once it can be read.
    /// - Parameter directory: the state folder; nil to keep nothing.
    static func update(
        in directory: StateDirectory?, for wanted: GatewayConfiguration.MQTT, logger: Logger
    ) -> PublishedPrefixes {
        let read = directory?.readJSON(PublishedPrefixes.self, from: fileName)
        if let failure = read?.failure {
            logger.warning(
                "topics below an earlier topicPrefix may stay on the MQTT broker, because the file cannot be used",
                metadata: ["reason": "\(failure)"])
        }
        let updated = PublishedPrefixes(after: read?.value, for: wanted)
        guard let directory, read?.isInTheWay != true, updated != read?.value else { return updated }
        do {
            try directory.writeJSON(updated, to: fileName)
        } catch {
            logger.warning(
                "topics below this topicPrefix may stay on the MQTT broker when it changes, because it cannot be kept",
                metadata: ["reason": "\(error)"])
        }
        return updated
    }
}
