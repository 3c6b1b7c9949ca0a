import Foundation
import Glibc
import HomeHub
import Logging
import Transport

/// Writes structured log lines to standard error, redacted.
///
/// Text: `2026-01-02T03:04:05.678Z info gatehouse: message key=value`. JSON: one object per line.
public struct GatewayLogHandler: LogHandler {
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    /// The key under which Hummingbird puts the number of a request.
    static let requestNumber = "hb.request.id"

    private let label: String
    private let format: GatewayConfiguration.Log.Format
    private let redactor: Redactor
    private let names: DeviceNames
    private let identity: GatewayIdentity
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - label: who logs.
    ///   - format: the form of a line.
    ///   - redactor: removes secrets.
    ///   - names: the keys of the devices; a line names a device by its key.
    ///   - identity: which gateway writes, and which of its runs. Each JSON line says so, as soon as it is known.
    ///   - write: receives each line, including its line feed.
    public init(
        label: String, format: GatewayConfiguration.Log.Format, redactor: Redactor,
        names: DeviceNames = DeviceNames(), identity: GatewayIdentity = GatewayIdentity(),
        write: @escaping @Sendable (String) -> Void = { line in
            // One call for each line, so that lines of several threads do not mix.
            let bytes = Array(line.utf8)
            _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
        }
    ) {
        self.label = label
        self.format = format
        self.redactor = redactor
        self.names = names
        self.identity = identity
        self.write = write
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var merged = metadata
        if let provided = metadataProvider?.get() { merged.merge(provided) { $1 } }
        if let given = event.metadata { merged.merge(given) { $1 } }
        let fields = merged.map { key, value in
            // The server's number of the request has the form of a session's identifier and is not a secret. It
            // connects the lines of one request.
            key == Self.requestNumber ? ("request", "\(value)") : (key, redactor.redact(names.readable("\(value)")))
        }.sorted { $0.0 < $1.0 }
        let message = redactor.redact(names.readable("\(event.message)"))
        switch format {
        case .text: write(textLine(event.level, message, fields))
        case .json: write(jsonLine(event.level, message, fields))
        }
    }

    private func textLine(_ level: Logger.Level, _ message: String, _ fields: [(String, String)]) -> String {
        var line = "\(Self.timestamp()) \(level) \(label): \(Self.singleLine(message))"
        for (key, value) in fields {
            let needsQuotes = value.isEmpty || value.contains { $0 == " " || $0 == "\"" || $0 == "=" || $0.isNewline }
            line += " \(key)=" + (needsQuotes ? Self.quoted(value) : Self.singleLine(value))
        }
        return line + "\n"
    }

    private func jsonLine(_ level: Logger.Level, _ message: String, _ fields: [(String, String)]) -> String {
        var line = "{\"time\":\"\(Self.timestamp())\",\"level\":\"\(level)\",\"logger\":\(Self.quoted(label))"
        line += ",\"message\":\(Self.quoted(message))"
        var fields = fields
        if let run = identity.run {
            // A line may name them itself.
            for (key, value) in [("gateway", run.gateway), ("incarnation", "\(run.incarnation)")]
            where !fields.contains(where: { $0.0 == key }) {
                fields.append((key, value))
            }
        }
        for (key, value) in fields { line += ",\(Self.quoted(key)):\(Self.quoted(value))" }
        return line + "}\n"
    }

    /// A viewer's or a camera's text must not forge a line.
    private static func singleLine(_ text: String) -> String {
        text.unicodeScalars.contains(where: \.isControlling)
            ? String(Self.quoted(text).dropFirst().dropLast()) : text
    }

    /// A JSON string.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.isControlling: result += scalar.escaped
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func timestamp() -> String {
        Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
