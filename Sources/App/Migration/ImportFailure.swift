/// Why a file cannot be imported.
public enum ImportFailure: Error, Equatable {
    /// It is not YAML.
    case notYAML(line: Int, problem: String)
    /// It does not begin with keys and values.
    case noKeys
    /// None of the known gateways has such keys at the top.
    case unknownGateway
    /// It is longer than ``ConfigurationImport/maximumBytes``, or not UTF-8.
    case notText
}

extension ImportFailure: CustomStringConvertible {
    /// The failure in words.
    public var description: String {
        switch self {
        case .notYAML(let line, let problem): "line \(line) is not valid YAML: \(problem)"
        case .noKeys: "the file does not begin with keys and values"
        case .unknownGateway:
            "this does not look like a config of go2rtc (streams), MediaMTX (paths) or Frigate (cameras with ffmpeg); "
                + "name the gateway with --from if it is one"
        case .notText: "the file is not UTF-8 text of at most 1 MiB"
        }
    }
}
