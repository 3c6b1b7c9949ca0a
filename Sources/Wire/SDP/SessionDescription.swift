/// A session description (RFC 8866): offers and answers of WebRTC peers, and what cameras send to RTSP's DESCRIBE.
///
/// Reading is tolerant: a line that cannot be understood keeps its place and is listed in ``problems``. Writing gives
/// every line back in order, each ended by CRLF. The typed properties are views of the lines.
public struct SessionDescription: Hashable, Sendable, DescriptionSection {
    /// The longest text that is read, in bytes. The longest recorded offer of a browser has 12 KiB.
    public static let maximumLength = 256 * 1024
    /// The most lines that are read.
    public static let maximumLines = 4096
    /// The most `m=` lines that are read.
    public static let maximumMediaDescriptions = 64

    /// The lines of the session level in order.
    public var lines: [Line]
    /// The media descriptions in order.
    public var media: [MediaDescription]
    /// Lines that could not be understood or that break a rule, in order; empty for a description made in code.
    public var problems: [Problem]
    /// The line numbers in the text that was read; empty for a description made in code.
    let numbers: LineNumbers

    /// An empty description with the lines that RFC 8866 requires.
    public init(origin: Origin, name: String = "-") {
        self.lines = [
            .field(type: "v", value: "0"), .field(type: "o", value: origin.text), .field(type: "s", value: name),
            .field(type: "t", value: "0 0"),
        ]
        self.media = []
        self.problems = []
        self.numbers = LineNumbers()
    }

    init(lines: [Line], media: [MediaDescription], problems: [Problem], numbers: LineNumbers = LineNumbers()) {
        self.lines = lines
        self.media = media
        self.problems = problems
        self.numbers = numbers
    }

    /// The text with every line ended by CRLF. A line break inside a value becomes a space, so a value cannot add a
    /// line.
    public func encoded() -> String {
        var text = ""
        func write(_ line: String) {
            if line.utf8.contains(where: { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
                text.unicodeScalars.append(
                    contentsOf: line.unicodeScalars.map { $0 == "\r" || $0 == "\n" ? " " : $0 })
            } else {
                text += line
            }
            text += "\r\n"
        }
        for line in lines { write(line.text) }
        for section in media {
            write(section.mediaLine)
            for line in section.lines { write(line.text) }
        }
        return text
    }
}

// The session level's own fields.
extension SessionDescription {
    /// `o=`: who made the session; nil where the line is missing.
    public var origin: Origin? { field("o").map(Origin.init(parsing:)) }

    /// `s=`: the session's name; nil where the line is missing.
    public var name: String? { field("s") }

    /// The `a=group` lines (RFC 5888), in order.
    public var groups: [MediaGroup] { values(of: "group").compactMap(MediaGroup.init(parsing:)) }

    /// The identification tags of each `a=group:BUNDLE` (RFC 9143), in order.
    public var bundleGroups: [[String]] {
        groups.filter { $0.semantics.equalsIgnoringCase("BUNDLE") }.map(\.mids)
    }

    /// The positions of the media descriptions of each BUNDLE group, in the group's order; tags that no media
    /// description has are left out. It takes one pass, so a long group costs little.
    var bundledMedia: [[Int]] {
        var positions: [String: Int] = [:]
        for (index, section) in media.enumerated() {
            if let mid = section.mid, positions[mid] == nil { positions[mid] = index }
        }
        return bundleGroups.map { group in
            var seen: Set<Int> = []
            return group.compactMap { positions[$0] }.filter { seen.insert($0).inserted }
        }
    }

    /// Whether `a=ice-lite` says that the peer is an ICE-lite agent (RFC 8839, section 5.3).
    public var isICELite: Bool { hasAttribute("ice-lite") }

    /// The direction of a media description: its own, or the session's, or sendrecv (RFC 8866, section 6.7).
    public func direction(of section: MediaDescription) -> MediaDirection {
        section.ownDirection ?? ownDirection ?? .sendrecv
    }

    /// The first media description with this identification tag.
    public func media(withMid mid: String) -> MediaDescription? { media.first { $0.mid == mid } }
}

/// A group of media descriptions: `a=group:BUNDLE 0 1` (RFC 5888).
public struct MediaGroup: Hashable, Sendable, Codable {
    /// What the group means, for example `BUNDLE` or `LS`.
    public var semantics: String
    /// The identification tags in order.
    public var mids: [String]

    init?(parsing value: String) {
        let words = value.words
        guard let semantics = words.first else { return nil }
        self.semantics = String(semantics)
        self.mids = words.dropFirst().map(String.init)
    }
}
