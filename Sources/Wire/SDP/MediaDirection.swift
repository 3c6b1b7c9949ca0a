/// The direction in which media flows, as the maker of the description sees it (RFC 8866, section 6.7).
public enum MediaDirection: String, Hashable, Sendable, Codable, CaseIterable {
    case sendrecv, sendonly, recvonly, inactive

    /// The direction that sends, receives, both or neither.
    public init(sends: Bool, receives: Bool) {
        self =
            switch (sends, receives) {
            case (true, true): .sendrecv
            case (true, false): .sendonly
            case (false, true): .recvonly
            case (false, false): .inactive
            }
    }

    /// Whether the maker of the description sends.
    public var sends: Bool { self == .sendrecv || self == .sendonly }

    /// Whether the maker of the description receives.
    public var receives: Bool { self == .sendrecv || self == .recvonly }

    /// The same flow as the other side sees it.
    public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }
}

/// Which side opens the DTLS association (RFC 8842, section 5; RFC 4145, section 4).
public enum DTLSSetup: String, Hashable, Sendable, Codable {
    /// Either; only in offers.
    case actpass
    /// The maker of the description is the DTLS client.
    case active
    /// The maker of the description is the DTLS server.
    case passive
    /// No association for now.
    case holdconn
}

/// What a media description carries (RFC 8866, section 5.14).
public enum MediaKind: Hashable, Sendable {
    case audio, video, application, text
    /// Another kind, as written: cameras send `vana`, `meta` and worse.
    case other(String)

    /// The kind with this name, whatever the case.
    public init(_ name: some StringProtocol) {
        self =
            switch name.lowercased() {
            case "audio": .audio
            case "video": .video
            case "application": .application
            case "text": .text
            default: .other(String(name))
            }
    }

    /// The name in the `m=` line.
    public var name: String {
        switch self {
        case .audio: "audio"
        case .video: "video"
        case .application: "application"
        case .text: "text"
        case .other(let name): name
        }
    }
}

extension MediaKind: Codable, CustomStringConvertible {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    public var description: String { name }
}
