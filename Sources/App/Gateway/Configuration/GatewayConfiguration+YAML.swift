import DatagramPort
import Foundation
import HomeTypes
import Transport
import Yams

extension GatewayConfiguration {
    /// The largest config file that is read.
    static let maximumFileSize = 1 << 20

    /// Reads a config file. Relative paths in it are relative to the folder that the file is in.
    public init(
        contentsOfFile path: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) {
        let bytes: [UInt8]
        do throws(RegularFile.Failure) {
            bytes = try RegularFile.read(path, limit: Self.maximumFileSize)
        } catch {
            throw ConfigurationError(file: path, problems: [.init(line: 0, key: "", reason: error.words)])
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(file: path, problems: [.init(line: 0, key: "", reason: "is not UTF-8 text")])
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try self.init(yaml: text, file: path, directory: folder, environment: environment)
    }

    /// Reads the text of a config file.
    /// - Parameters:
    ///   - yaml: the text.
    ///   - file: the file's name for messages.
    ///   - directory: the folder that relative paths start from.
    ///   - environment: where `${NAME}` in a camera's source is looked up.
    public init(
        yaml: String, file: String = "config", directory: String = ".", environment: [String: String] = [:]
    ) throws(ConfigurationError) {
        try self.init(
            yaml: yaml, file: file, directory: directory, environment: environment, keys: ConfigurationLoader.keys)
    }

    /// Reads a text that may contain only `keys`.
    init(
        yaml: String, file: String, directory: String, environment: [String: String], keys: [String]
    ) throws(ConfigurationError) {
        let root: Node
        do {
            root = try Yams.compose(yaml: yaml) ?? Node([(Node, Node)]())
        } catch {
            throw ConfigurationError(file: file, problems: [Self.problem(of: error, in: yaml)])
        }
        let reader = YAMLReader()
        var loader = ConfigurationLoader(reader: reader, directory: directory, environment: environment)
        self = loader.configuration(.init(node: root, path: ""), keys: keys)
        guard reader.problems.isEmpty else {
            throw ConfigurationError(file: file, problems: reader.problems.sorted { $0.line < $1.line })
        }
    }

    private static func problem(of error: any Error, in yaml: String) -> ConfigurationError.Problem {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            // The parser's words for a tab do not name it.
            let lines = yaml.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            let line = lines.dropFirst(max(0, mark.line - 1)).first ?? ""
            let indent = line.prefix { $0 == " " || $0 == "\t" }
            let advice = indent.contains("\t") ? "; the line begins with a tab, and YAML permits only spaces there" : ""
            return .init(line: mark.line, key: "", reason: "is not valid YAML: \(problem)\(advice)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return .init(
                line: context.mark.line, key: duplicates.map(String.init(describing:)).sorted().joined(separator: ", "),
                reason: "appears more than once in one mapping")
        case .reader(let problem, _, _, _):
            return .init(line: 0, key: "", reason: "is not valid YAML: \(problem)")
        default:
            return .init(line: 0, key: "", reason: "is not valid YAML")
        }
    }
}

/// Turns the nodes of a config into values.
struct ConfigurationLoader {
    /// The keys of a config file.
    static let keys = [
        "http", "media", "network", "stateDirectory", "sessions", "events", "log", "rtsp", "rtmp", "go2rtc",
        "recording",
        "history", "push",
        "automations", "oauth", "cloudToCloud", "mqtt", "cameras", "devices",
    ]

    let reader: YAMLReader
    let directory: String
    let environment: [String: String]

    mutating func configuration(_ root: YAMLReader.Place, keys known: [String]) -> GatewayConfiguration {
        let keys = reader.mapping(root, keys: known)
        var result = GatewayConfiguration()
        if let place = keys["http"] { result.http = http(place) }
        if let place = keys["media"] { result.media = media(place) }
        if let place = keys["network"] { result.network = network(place) }
        if let path = reader.string(keys["stateDirectory"]) { result.stateDirectory = self.path(path) }
        if let place = keys["sessions"] { result.sessions = sessions(place) }
        if let place = keys["events"] { result.events = events(place) }
        if let place = keys["log"] { result.log = log(place) }
        if let place = keys["rtsp"] { result.rtsp = rtsp(place) }
        if let place = keys["rtmp"] { result.rtmp = rtmp(place) }
        if let offers = reader.boolean(keys["go2rtc"]) { result.offersGo2RTC = offers }
        if let place = keys["recording"] { result.recording = recording(place) }
        if let place = keys["history"] { result.history = history(place) }
        if let place = keys["push"] { result.push = push(place) }
        if let place = keys["automations"] { result.automations = automations(place) }
        if let place = keys["oauth"] { result.oauthClients = oauthClients(place) }
        if let place = keys["cloudToCloud"] { result.reportState = reportState(place, clients: result.oauthClients) }
        if let place = keys["mqtt"] { result.mqtt = mqtt(place) }
        result.cameras = cameras(keys["cameras"])
        result.cameraEntries = CameraEntry.written(in: keys["cameras"]?.node)
        result.devices = devices(keys["devices"])
        let taken = Set(result.cameras.map(\.id))
        if let device = result.devices.first(where: { taken.contains($0.key) }), let place = keys["devices"] {
            reader.report("\(device.key) is also the id of a camera; a key names one device", at: place)
        }
        requireDistinctPorts(result, keys)
        return result
    }

    private func http(_ place: YAMLReader.Place) -> GatewayConfiguration.HTTP {
        let keys = reader.mapping(place, keys: ["host", "port", "https", "publicURL", "origins", "frameAncestors"])
        var result = GatewayConfiguration.HTTP()
        if let host = self.host(keys["host"]) { result.host = host }
        if let port = reader.integer(keys["port"], in: 1...65_535) { result.port = port }
        if let https = keys["https"] {
            if https.node.scalar != nil, https.node.bool == false {
                result.https = nil
            } else {
                result.https = self.https(https)
            }
        }
        result.publicURL = keys["publicURL"].flatMap { origin($0) }
        result.origins = reader.sequence(keys["origins"]).compactMap { origin($0) }
        result.frameAncestors = reader.sequence(keys["frameAncestors"]).compactMap {
            reader.string($0) == "self" ? "'self'" : origin($0)
        }
        return result
    }

    private func https(_ place: YAMLReader.Place) -> GatewayConfiguration.HTTPS {
        let keys = reader.mapping(place, keys: ["host", "port", "certificate", "privateKey"])
        var result = GatewayConfiguration.HTTPS()
        result.host = host(keys["host"])
        if let port = reader.integer(keys["port"], in: 1...65_535) { result.port = port }
        result.files = certificateFiles(keys, at: place)
        return result
    }

    /// The keys `certificate` and `privateKey` of a section.
    func certificateFiles(
        _ keys: [String: YAMLReader.Place], at place: YAMLReader.Place
    ) -> GatewayConfiguration.CertificateFiles? {
        switch (reader.string(keys["certificate"]), reader.string(keys["privateKey"])) {
        case (let certificate?, let privateKey?):
            return .init(certificate: path(certificate), privateKey: path(privateKey))
        case (nil, nil): return nil
        default:
            reader.report("certificate and privateKey go together; give both or neither", at: place)
            return nil
        }
    }

    private func media(_ place: YAMLReader.Place) -> GatewayConfiguration.Media {
        let keys = reader.mapping(place, keys: ["port", "addresses", "iceServers", "shards"])
        var result = GatewayConfiguration.Media()
        if let port = reader.integer(keys["port"], in: 1...65_535) { result.port = port }
        result.shards = reader.integer(keys["shards"], in: 1...UDPPortGroup.maximumCount)
        result.addresses = reader.sequence(keys["addresses"]).compactMap { place in
            guard let text = reader.string(place) else { return nil }
            guard TransportAddress(text, port: 1) != nil else {
                reader.report("expected an IPv4 or IPv6 address", at: place)
                return nil
            }
            return text
        }
        result.iceServers = reader.sequence(keys["iceServers"]).compactMap { iceServer($0) }
        return result
    }

    private func iceServer(_ place: YAMLReader.Place) -> GatewayConfiguration.ICEServer? {
        let keys = reader.mapping(place, keys: ["url", "username", "credential"])
        guard let url = reader.string(keys["url"]),
            ["stun:", "stuns:", "turn:", "turns:"].contains(where: url.hasPrefix), Self.isHeaderSafe(url)
        else {
            reader.report("expected a url that begins with stun:, stuns:, turn: or turns:", at: place)
            return nil
        }
        let username = reader.string(keys["username"])
        let credential = reader.string(keys["credential"])
        guard Self.isHeaderSafe(username ?? ""), Self.isHeaderSafe(credential ?? "") else {
            reader.report("username and credential must be printable ASCII without quotation marks", at: place)
            return nil
        }
        return .init(url: url, username: username, credential: credential)
    }

    /// Whether a text is allowed in the quoted part of a `Link` header.
    private static func isHeaderSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"\\<>".utf8.contains($0) }
    }

    private func sessions(_ place: YAMLReader.Place) -> GatewayConfiguration.Sessions {
        let keys = reader.mapping(
            place, keys: ["durationSeconds", "maximumDurationSeconds", "perCamera", "perPrincipal"])
        var result = GatewayConfiguration.Sessions()
        // Viewers extend 30 seconds before the end, and refuse leases that are not longer than that.
        if let value = reader.integer(keys["durationSeconds"], in: 36...65_535) { result.durationSeconds = value }
        result.maximumDurationSeconds = max(result.maximumDurationSeconds, result.durationSeconds)
        // A maximum below one lease is only useful in tests: their views end before they could be extended.
        if let value = reader.integer(keys["maximumDurationSeconds"], in: 2...31_536_000) {
            result.maximumDurationSeconds = value
            if keys["durationSeconds"] == nil { result.durationSeconds = min(result.durationSeconds, value) }
        }
        if let value = reader.integer(keys["perCamera"], in: 1...100_000) { result.perCamera = value }
        if let value = reader.integer(keys["perPrincipal"], in: 1...100_000) { result.perPrincipal = value }
        if result.maximumDurationSeconds < result.durationSeconds {
            reader.report(
                "maximumDurationSeconds (\(result.maximumDurationSeconds)) is less than durationSeconds "
                    + "(\(result.durationSeconds))", at: place)
        }
        return result
    }

    private func events(_ place: YAMLReader.Place) -> GatewayConfiguration.Events {
        let keys = reader.mapping(place, keys: ["watchers", "megabytes"])
        var result = GatewayConfiguration.Events()
        // The rest of the connections is for requests.
        let most = ConnectionLedger.Limits.most * 3 / 4
        if let value = reader.integer(keys["watchers"], in: 4...most) { result.watchers = value }
        if let value = reader.integer(keys["megabytes"], in: 8...65_536) { result.megabytes = value }
        return result
    }

    private func rtsp(_ place: YAMLReader.Place) -> GatewayConfiguration.RTSPServer? {
        if place.node.scalar != nil, place.node.bool == false { return nil }
        let keys = reader.mapping(place, keys: ["host", "port"])
        var result = GatewayConfiguration.RTSPServer()
        if let host = self.host(keys["host"]) { result.host = host }
        if let port = reader.integer(keys["port"], in: 1...65_535) { result.port = port }
        return result
    }

    private func rtmp(_ place: YAMLReader.Place) -> GatewayConfiguration.RTMPServer? {
        if place.node.scalar != nil, place.node.bool == false { return nil }
        let keys = reader.mapping(place, keys: ["host", "port"])
        var result = GatewayConfiguration.RTMPServer()
        if let host = self.host(keys["host"]) { result.host = host }
        if let port = reader.integer(keys["port"], in: 1...65_535) { result.port = port }
        return result
    }

    private func log(_ place: YAMLReader.Place) -> GatewayConfiguration.Log {
        let keys = reader.mapping(place, keys: ["level", "format", "showAddresses"])
        var result = GatewayConfiguration.Log()
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        if let level = reader.word(keys["level"], among: levels) { result.level = level }
        let formats = GatewayConfiguration.Log.Format.allCases.map(\.rawValue)
        if let format = reader.word(keys["format"], among: formats) {
            result.format = GatewayConfiguration.Log.Format(rawValue: format) ?? .text
        }
        if let shows = reader.boolean(keys["showAddresses"]) { result.showsAddresses = shows }
        return result
    }

    private func host(_ place: YAMLReader.Place?) -> String? {
        guard let place, let host = reader.string(place) else { return nil }
        guard host == "localhost" || TransportAddress(host, port: 1) != nil else {
            reader.report(
                "expected an address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all IPv4 networks, or "
                    + "\"::\" for all IPv4 and IPv6 networks", at: place)
            return nil
        }
        return host
    }

    func origin(_ place: YAMLReader.Place) -> String? {
        guard let text = reader.string(place) else { return nil }
        guard let origin = OriginPolicy.normalized(text.hasSuffix("/") ? String(text.dropLast()) : text) else {
            reader.report("expected an origin such as https://home.example:8443, without a path", at: place)
            return nil
        }
        return origin
    }

    func path(_ path: String) -> String {
        let expanded = NSString(string: path).expandingTildeInPath
        if expanded.hasPrefix("/") { return expanded }
        return URL(fileURLWithPath: directory).appendingPathComponent(expanded).standardizedFileURL.path
    }
}
