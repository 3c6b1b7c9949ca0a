extension ICECandidate {
    /// The foundation that a candidate without one gets. Google's cameras leave it out.
    static let missingFoundation = "0"

    /// Reads `a=candidate:…`, `candidate:…` (as a browser's script gives it) or what follows the colon.
    ///
    /// A missing foundation counts as a separate foundation. Nil for anything without the six words from component to
    /// port.
    public init?(parsing text: String) {
        var words = text.words[...]
        if let first = words.first {
            for prefix in ["a=candidate:", "candidate:"] where first.hasPrefix(prefix) {
                let rest = first.dropFirst(prefix.count)
                words = words.dropFirst()
                // In "candidate: 1 udp …" nothing is left of the first word: the foundation is missing.
                if !rest.isEmpty { words = [rest] + words }
                break
            }
        }
        // The transport is the third word. If it is the second, the foundation is missing.
        var foundation = Self.missingFoundation
        if words.count >= 2, !Self.isTransport(words[words.startIndex + 1]) {
            foundation = String(words.removeFirst())
        }
        let fields = Array(words)
        guard fields.count >= 5, let component = UInt16(fields[0]), (1...256).contains(component),
            let priority = UInt32(fields[2]), let port = UInt16(fields[4]), !fields[1].isEmpty
        else { return nil }
        self.init(
            foundation: foundation, component: component, transport: Self.transport(named: fields[1]),
            priority: priority, host: String(fields[3]), port: port, kind: .host)
        var hasKind = false
        var relatedHost: String?
        var relatedPort: UInt16?
        var index = 5
        while index + 1 < fields.count {
            let name = fields[index]
            let value = String(fields[index + 1])
            switch name {
            case "typ":
                kind = Self.kind(named: value)
                hasKind = true
            case "raddr": relatedHost = value
            case "rport": relatedPort = UInt16(value)
            case "tcptype": tcpType = value
            default: extensions.append(.init(name: String(name), value: value))
            }
            index += 2
        }
        guard hasKind else { return nil }
        if let relatedHost, let relatedPort { relatedAddress = .init(host: relatedHost, port: relatedPort) }
    }

    /// The value of the attribute: what follows `a=candidate:`.
    public var text: String {
        var text = "\(foundation) \(component) \(transport.name) \(priority) \(host) \(port) typ \(kind.name)"
        if let relatedAddress { text += " raddr \(relatedAddress.host) rport \(relatedAddress.port)" }
        if let tcpType { text += " tcptype \(tcpType)" }
        for pair in extensions { text += " \(pair.name) \(pair.value)" }
        return text
    }

    static func fault(in value: String) -> String? {
        guard let candidate = ICECandidate(parsing: value) else {
            return "does not have the form <foundation> <component> <transport> <priority> <address> <port> typ <type>"
        }
        let words = value.words
        if words.count >= 2, isTransport(words[1]), !(words.count >= 3 && isTransport(words[2])) {
            return "has no foundation; \(candidate.foundation) is used"
        }
        return nil
    }

    private static func isTransport(_ word: Substring) -> Bool {
        ["udp", "tcp", "ssltcp", "tls"].contains(word.lowercased())
    }

    private static func transport(named name: Substring) -> TransportProtocol {
        switch name.lowercased() {
        case "udp": .udp
        case "tcp": .tcp
        case let other: .other(other)
        }
    }

    private static func kind(named name: String) -> Kind {
        switch name.lowercased() {
        case "host": .host
        case "srflx": .serverReflexive
        case "prflx": .peerReflexive
        case "relay": .relayed
        default: .other(name)
        }
    }
}
