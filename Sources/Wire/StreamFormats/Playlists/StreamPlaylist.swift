/// A playlist of HTTP Live Streaming, as far as playing a camera needs it (RFC 8216).
///
/// It holds addresses as they are written. Where they may lead is for the caller to decide.
public enum StreamPlaylist: Sendable, Equatable {
    /// Names other playlists.
    case multivariant(Multivariant)
    /// Names segments.
    case media(Media)

    /// The longest playlist that is read, in bytes.
    public static let maximumLength = 1 << 20

    /// The stream that is played, out of those that a playlist offers.
    public struct Multivariant: Sendable, Equatable {
        /// The address of the playlist with the pictures.
        public var address: String
        /// The address of the playlist with the sound, where it is another one.
        public var audio: String?
    }

    /// The newest segments of a camera's stream, or all of a recording's.
    public struct Media: Sendable, Equatable {
        /// The longest segment, in seconds.
        public var targetDuration: Double
        /// The newest segments, at most ``maximumSegments``. Where no segment will follow: the first ones, at most
        /// ``maximumRecorded``.
        public var segments: [Segment]
        /// Whether no segment will follow.
        public var hasEnded: Bool

        /// How many segments are kept of a playlist to which others will be added.
        public static let maximumSegments = 16
        /// How many segments are kept of a playlist that has ended: more than a day of 5 seconds each.
        public static let maximumRecorded = 20_000
    }

    /// One segment.
    public struct Segment: Sendable, Equatable {
        /// Its number in the stream.
        public var sequence: Int64
        /// How long it is, in seconds.
        public var duration: Double
        /// Where it is.
        public var resource: Resource
        /// How it is encrypted; nil where it is not.
        public var encryption: Encryption?
        /// The initialization that it needs; nil for a transport stream.
        public var initialization: Initialization?
        /// Whether its times do not continue those of the segment before.
        public var isDiscontinuous: Bool
    }

    /// A file, or a part of one.
    public struct Resource: Sendable, Hashable {
        /// Its address.
        public var address: String
        /// Which of the file's bytes it is (section 4.3.2.2); nil for the whole file.
        public var bytes: Range<Int64>?

        /// Names a file, or a part of one.
        public init(address: String, bytes: Range<Int64>? = nil) {
            self.address = address
            self.bytes = bytes
        }
    }

    /// A media initialization section (section 4.3.2.5).
    public struct Initialization: Sendable, Hashable {
        /// Where it is.
        public var resource: Resource
        /// How it is encrypted; nil where it is not.
        public var encryption: Encryption?
    }

    /// Encryption of whole segments by AES with keys of 128 bits, cipher block chaining and PKCS #7 padding
    /// (`METHOD=AES-128` of section 4.3.2.4).
    public struct Encryption: Sendable, Hashable {
        /// The address of the key's 16 bytes.
        public var keyAddress: String
        /// 16 bytes.
        public var initializationVector: [UInt8]
    }

    /// Reads a playlist.
    public init(parsing text: String) throws(StreamFormatError) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong(.playlist) }
        // A byte order mark does no harm.
        let lines = text.drop { $0 == "\u{FEFF}" }.split(whereSeparator: \.isNewline).map { Self.trimmed($0) }
        guard lines.first?.hasPrefix("#EXTM3U") == true else { throw .notOfFormat(.playlist) }
        if lines.contains(where: { $0.hasPrefix("#EXT-X-STREAM-INF:") }) {
            self = .multivariant(try Self.multivariant(lines))
        } else {
            self = .media(try MediaPlaylistReader.read(lines))
        }
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop { $0 == " " || $0 == "\t" }
        while line.last == " " || line.last == "\t" { line.removeLast() }
        return line
    }

    // MARK: Multivariant

    private static func multivariant(_ lines: [Substring]) throws(StreamFormatError) -> Multivariant {
        var best: (bandwidth: Int64, address: String, audio: String?)?
        var groups: [String: String] = [:]
        var pending: [String: String]?
        for line in lines {
            if let list = line.value(of: "#EXT-X-STREAM-INF:") {
                pending = attributes(list)
            } else if let list = line.value(of: "#EXT-X-MEDIA:") {
                let attributes = attributes(list)
                guard attributes["TYPE"] == "AUDIO", let group = attributes["GROUP-ID"], let address = attributes["URI"]
                else { continue }
                if groups[group] == nil || attributes["DEFAULT"] == "YES" { groups[group] = address }
            } else if !line.isEmpty, !line.hasPrefix("#"), let attributes = pending {
                pending = nil
                let bandwidth = attributes["BANDWIDTH"].flatMap { Int64($0) } ?? 0
                if best == nil || bandwidth > best?.bandwidth ?? 0 {
                    best = (bandwidth, String(line), attributes["AUDIO"])
                }
            }
        }
        guard let best else { throw .damaged(.noStream) }
        let audio = best.audio.flatMap { groups[$0] }
        return Multivariant(address: best.address, audio: audio == best.address ? nil : audio)
    }

    /// A list of attributes (section 4.2).
    static func attributes(_ text: Substring) -> [String: String] {
        var result: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "="), result.count < 32 {
            let name = String(trimmed(rest[..<equals]))
            rest = rest[rest.index(after: equals)...]
            let value: Substring
            if rest.first == "\"" {
                rest = rest.dropFirst()
                value = rest.prefix { $0 != "\"" }
                rest = rest.dropFirst(value.count + 1).drop { $0 != "," }
            } else {
                value = rest.prefix { $0 != "," }
                rest = rest.dropFirst(value.count)
            }
            rest = rest.dropFirst()
            result[name] = String(value)
        }
        return result
    }
}

extension Substring {
    /// What follows a tag; nil for a line with another one.
    func value(of tag: String) -> Substring? { hasPrefix(tag) ? dropFirst(tag.count) : nil }
}
