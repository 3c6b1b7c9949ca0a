import Foundation
import Yams

extension SetupAnswers {
    /// The config as YAML.
    /// - Throws: `ConfigurationError` if an answer cannot be in a config: a source without a host, or an invisible
    ///   character in the name.
    public func yaml(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> String {
        let text = (head + cameraLines + recordingLines + networkLines).joined(separator: "\n") + "\n"
        // A variable may have its value only where the gateway runs.
        _ = try GatewayConfiguration(
            yaml: text, environment: environment.merging(variables) { present, _ in present })
        return text
    }

    private var head: [String] {
        var lines = [
            "# Made by gatehouse setup. The document configuration.md explains every key. The gateway applies most",
            "# changes immediately.",
            "http:",
        ]
        if isOpen {
            lines += ["  # Other devices open the page over HTTPS. Plain HTTP is for this machine only."]
            lines += ["  https:", "    host: 0.0.0.0"]
        } else {
            lines += ["  # Only this machine opens the page. Under https, host: 0.0.0.0 lets other devices in."]
            lines += ["  host: 127.0.0.1"]
        }
        return lines
    }

    private var cameraLines: [String] {
        let kind: String
        let address: String
        switch camera {
        case .builtIn: (kind, address) = ("doorbell", "builtin:doorbell")
        case .source(let source):
            (kind, address) = (isDoorbell ?? Self.isDoorbell(name) ? "doorbell" : "camera", source)
        }
        return [
            "", "cameras:", "  - id: \(Self.quoted(key))", "    name: \(Self.quoted(name))", "    type: \(kind)",
            "    source: \(Self.quoted(address))",
        ]
    }

    private var recordingLines: [String] {
        switch recordings {
        case .none: []
        case .standard: ["", "recording:", "  trigger: motion"]
        case .folder(let path):
            ["", "recording:", "  trigger: motion", "  folder: \(Self.quoted(path))"]
        }
    }

    private var networkLines: [String] {
        guard let stunServer else { return [] }
        return [
            "", "# For viewers on other networks.", "network:", "  stun: [\(Self.quoted(stunServer))]", "media:",
            "  iceServers: [{url: \(Self.quoted("stun:\(stunServer)"))}]",
        ]
    }

    /// The key of the camera: the letters and digits of its name.
    var key: String {
        let words = name.lowercased().unicodeScalars.split { scalar in
            !("a"..."z").contains(scalar) && !("0"..."9").contains(scalar)
        }
        let key = words.map(String.init).joined(separator: "-")
        return key.isEmpty ? "camera" : String(key.prefix(64))
    }

    /// The names in `${NAME}` of the source, each with a value that stands for the one it will have.
    private var variables: [String: String] {
        guard case .source(let source) = camera else { return [:] }
        let names = source.matches(of: /\$\{([^}]*)\}/).map { String($0.output.1) }
        return Dictionary(names.map { ($0, "x") }) { first, _ in first }
    }

    /// A text in double quotes, which YAML reads as only that text.
    private static func quoted(_ text: String) -> String {
        let node = Node(text, Tag(.str), .doubleQuoted)
        // Only memory can fail here. Then the check of the whole reports the text without its quotes.
        let written = (try? Yams.serialize(node: node, width: -1, allowUnicode: true)) ?? text
        return written.trimmingCharacters(in: .newlines)
    }
}
