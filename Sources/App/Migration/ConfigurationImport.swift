import Yams

/// Reads the config of another gateway.
///
/// It is read as data only: no program that it names is run, no file or address that it names is opened.
public enum ConfigurationImport {
    /// A gateway whose config can be read.
    public enum Gateway: String, CaseIterable, Sendable {
        case go2rtc
        case mediamtx
        case frigate
    }

    /// The longest file that is read.
    public static let maximumBytes = 1 << 20

    /// Reads a config.
    /// - Parameters:
    ///   - bytes: the file.
    ///   - gateway: whose config it is; nil to tell by its keys.
    ///   - isOpen: whether other devices may open the page.
    public static func read(
        _ bytes: [UInt8], from gateway: Gateway? = nil, isOpen: Bool = false
    ) throws(ImportFailure) -> ImportedConfiguration {
        guard bytes.count <= maximumBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw .notText
        }
        let root: Node
        do {
            root = try Yams.compose(yaml: text) ?? Node([(Node, Node)]())
        } catch let error as YamlError {
            throw failure(error)
        } catch {
            throw .notYAML(line: 1, problem: "\(error)")
        }
        guard root.mapping != nil else { throw .noKeys }
        let top = ForeignNode(root)
        guard let gateway = gateway ?? self.gateway(of: top) else { throw .unknownGateway }
        var builder = ConfigurationBuilder()
        builder.change { $0.isOpen = isOpen }
        switch gateway {
        case .go2rtc: Go2RTCImport.read(top, into: &builder)
        case .mediamtx: MediaMTXImport.read(top, into: &builder)
        case .frigate: FrigateImport.read(top, into: &builder)
        }
        return builder.finished()
    }

    /// Frigate's file may hold a section `go2rtc` with streams of its own, so it is looked for first.
    private static func gateway(of top: ForeignNode) -> Gateway? {
        if top["cameras"]?.entries.isEmpty == false { return .frigate }
        if top["paths"] != nil || top["pathDefaults"] != nil { return .mediamtx }
        if top["streams"] != nil { return .go2rtc }
        return nil
    }

    private static func failure(_ error: YamlError) -> ImportFailure {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            .notYAML(line: mark.line, problem: problem)
        default: .notYAML(line: 1, problem: "it cannot be read")
        }
    }
}
