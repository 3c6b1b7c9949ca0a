import Logging
import Transport

/// What was logged.
final class LogLines: Sendable {
    struct Line: Sendable, Equatable {
        let level: Logger.Level
        let message: String
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.all.withLock { $0.append(Line(level: event.level, message: "\(event.message)")) }
            lines.allMetadata.withLock { $0.append(event.metadata ?? [:]) }
        }
    }

    private let all = Locked<[Line]>([])
    private let allMetadata = Locked<[Logger.Metadata]>([])

    var lines: [Line] { all.withLock { $0 } }

    /// What was logged beside the messages, in the order of the lines.
    var metadata: [Logger.Metadata] { allMetadata.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
