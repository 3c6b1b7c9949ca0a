import Logging

/// Keeps the prefixes at which this gateway has published in the state folder. While the folder does not take them, they are
/// remembered here, so that none is forgotten that was only used meanwhile.
struct KeptPrefixes: Sendable {
    private let directory: StateDirectory?
    private let logger: Logger
    /// Those that were used since the file could not be used, with the one that is in use; nil while the file has them all.
    private var late: PublishedPrefixes?

    /// Remembers no prefix yet.
    /// - Parameter directory: the state folder; nil to keep nothing.
    init(in directory: StateDirectory?, logger: Logger) {
        self.directory = directory
        self.logger = logger
    }

    /// Whether some are not in the file yet.
    var areLate: Bool { late != nil }

    /// Keeps the prefix that the config names. A file that cannot be read is not overwritten, so the prefixes in it count
    /// again once it can be read.
    /// - Returns: the prefix, and those before it.
    mutating func update(for wanted: GatewayConfiguration.MQTT) -> PublishedPrefixes {
        keep(PublishedPrefixes(wanted).adding(late), isFirstAttempt: true)
    }

    /// Tries again to keep what the file did not take. A failure that is known is not reported again.
    mutating func tryAgain() {
        guard let late else { return }
        _ = keep(late, isFirstAttempt: false)
        if !areLate { logger.notice("the topicPrefix of the MQTT broker is kept now") }
    }

    private mutating func keep(_ used: PublishedPrefixes, isFirstAttempt: Bool) -> PublishedPrefixes {
        guard let directory else { return used }
        let read = directory.readJSON(PublishedPrefixes.self, from: PublishedPrefixes.fileName)
        // A file that was set aside just now is news at any attempt.
        if let failure = read.failure, isFirstAttempt || !read.isInTheWay {
            logger.warning(
                "topics below an earlier topicPrefix may stay on the MQTT broker, because the file cannot be used",
                metadata: ["reason": "\(failure)"])
        }
        let all = used.adding(read.value)
        late = used
        guard !read.isInTheWay else { return all }
        if all != read.value {
            do {
                try directory.writeJSON(all, to: PublishedPrefixes.fileName)
            } catch {
                guard isFirstAttempt else { return all }
                logger.warning(
                    "topics below this topicPrefix may stay on the MQTT broker when it changes, because it cannot be kept",
                    metadata: ["reason": "\(error)"])
                return all
            }
        }
        late = nil
        return all
    }
}
