/// Reads the lines of a media playlist (RFC 8216, section 4.3).
struct MediaPlaylistReader {
    private typealias Media = StreamPlaylist.Media

    private var media = Media(targetDuration: 0, segments: [], hasEnded: false)
    private var sequence: Int64 = 0
    private var key = Key.none
    private var initialization: StreamPlaylist.Initialization?
    /// Where the part of a file ended that the segment before is.
    private var partEnd: (address: String, offset: Int64)?

    // What belongs to the next segment alone.
    private var duration: Double?
    private var part: Part?
    private var isDiscontinuous = false
    private var isGap = false
    /// Whether the next segment already has a key that can be used. It may have others beside it.
    private var hasNewKey = false

    /// The key that applies from here on.
    private enum Key {
        case none
        /// Nil for a vector that is the number of each segment.
        case usable(address: String, vector: [UInt8]?)
        case unusable(StreamFormatError.Encryption)
    }

    /// A part of a file.
    private struct Part {
        var length: Int64
        /// Nil for what follows the part before.
        var offset: Int64?

        /// Nil unless the text is a length, or a length and an offset, as in `1000@0`.
        init?(_ text: Substring) {
            let fields = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
            guard let length = fields.first.flatMap({ Int64($0) }), (1...(1 << 52)).contains(length) else { return nil }
            self.length = length
            guard fields.count == 2 else { return }
            guard let offset = Int64(fields[1]), (0...(1 << 52)).contains(offset) else { return nil }
            self.offset = offset
        }
    }

    /// Reads the lines of a playlist without space around them.
    static func read(_ lines: [Substring]) throws(StreamFormatError) -> StreamPlaylist.Media {
        var reader = MediaPlaylistReader()
        // The tag may stand anywhere.
        reader.media.hasEnded = lines.contains("#EXT-X-ENDLIST")
        for line in lines { try reader.read(line) }
        reader.media.targetDuration = min(max(reader.media.targetDuration, 0.5), 60)
        return reader.media
    }

    private mutating func read(_ line: Substring) throws(StreamFormatError) {
        if let value = line.value(of: "#EXT-X-TARGETDURATION:") {
            media.targetDuration = Self.seconds(value) ?? 0
        } else if let value = line.value(of: "#EXT-X-MEDIA-SEQUENCE:") {
            guard media.segments.isEmpty, let number = Int64(value), (0...(1 << 53)).contains(number) else {
                throw .damaged(.sequenceNumber)
            }
            sequence = number
        } else if let value = line.value(of: "#EXTINF:") {
            duration = Self.seconds(value.prefix { $0 != "," })
        } else if let value = line.value(of: "#EXT-X-BYTERANGE:") {
            part = try Self.part(value)
        } else if let list = line.value(of: "#EXT-X-MAP:") {
            try readInitialization(StreamPlaylist.attributes(list))
        } else if let list = line.value(of: "#EXT-X-KEY:") {
            try readKey(StreamPlaylist.attributes(list))
        } else if line == "#EXT-X-DISCONTINUITY" {
            isDiscontinuous = true
        } else if line == "#EXT-X-GAP" {
            isGap = true
        } else if !line.isEmpty, !line.hasPrefix("#"), let length = duration {
            try readSegment(String(line), duration: length)
        }
    }

    private mutating func readSegment(_ address: String, duration: Double) throws(StreamFormatError) {
        let resource = try resource(address)
        // A recording is played from its beginning, and a camera from its end.
        let isBehindLast = media.hasEnded && media.segments.count == Media.maximumRecorded
        if !isGap, !isBehindLast {
            media.segments.append(
                StreamPlaylist.Segment(
                    sequence: sequence, duration: duration, resource: resource, encryption: try encryption(),
                    initialization: initialization, isDiscontinuous: isDiscontinuous))
            if !media.hasEnded, media.segments.count > Media.maximumSegments { media.segments.removeFirst() }
            isDiscontinuous = false
        }
        self.duration = nil
        (part, isGap, hasNewKey) = (nil, false, false)
        sequence += 1
    }

    // MARK: Parts of files

    private mutating func resource(_ address: String) throws(StreamFormatError) -> StreamPlaylist.Resource {
        guard let part else {
            partEnd = nil
            return StreamPlaylist.Resource(address: address)
        }
        let begin: Int64
        if let offset = part.offset {
            begin = offset
        } else if let partEnd, partEnd.address == address {
            begin = partEnd.offset
        } else {
            // What follows a question mark may be a secret.
            let shown = String(address.prefix { $0 != "?" }.filter { $0.isASCII && $0 > " " }.prefix(120))
            throw .damaged(.partWithoutPredecessor(address: shown))
        }
        // Many parts without an offset could add up to more than a number holds.
        guard begin <= 1 << 53 else { throw .damaged(.distantPart) }
        partEnd = (address, begin + part.length)
        return StreamPlaylist.Resource(address: address, bytes: begin..<begin + part.length)
    }

    private static func part(_ text: Substring) throws(StreamFormatError) -> Part {
        guard let part = Part(text) else { throw .damaged(.part) }
        return part
    }

    private mutating func readInitialization(_ attributes: [String: String]) throws(StreamFormatError) {
        guard let address = attributes["URI"] else { throw .damaged(.initializationAddress) }
        // There is no part before that one without an offset could follow, so it begins with the file.
        let part: Part? = if let text = attributes["BYTERANGE"] { try Self.part(text[...]) } else { nil }
        let bytes = part.map { ($0.offset ?? 0)..<($0.offset ?? 0) + $0.length }
        if case .usable(_, nil) = key { throw .damaged(.initializationVectorMissing) }
        initialization = StreamPlaylist.Initialization(
            resource: StreamPlaylist.Resource(address: address, bytes: bytes), encryption: try encryption())
    }

    // MARK: Encryption

    private mutating func readKey(_ attributes: [String: String]) throws(StreamFormatError) {
        let method = attributes["METHOD"] ?? ""
        if method == "NONE" {
            key = .none
        } else if method == "AES-128", attributes["KEYFORMAT"] ?? "identity" == "identity" {
            guard let address = attributes["URI"] else { throw .damaged(.keyAddress) }
            let vector = attributes["IV"]
            guard vector == nil || vector.flatMap(Self.vector) != nil else {
                throw .damaged(.initializationVector)
            }
            key = .usable(address: address, vector: vector.flatMap(Self.vector))
            hasNewKey = true
        } else if !hasNewKey {
            // The same key may follow in a form that can be used.
            key = .unusable(
                method == "AES-128"
                    ? .keyFormat(Self.printable(attributes["KEYFORMAT"] ?? "")) : .method(Self.printable(method)))
        }
    }

    /// How what is named here is encrypted.
    private func encryption() throws(StreamFormatError) -> StreamPlaylist.Encryption? {
        switch key {
        case .none: return nil
        case .usable(let address, let vector):
            // Section 5.2: the number of the segment is the vector where none is written.
            let number = (0..<16).map { $0 < 8 ? 0 : UInt8(truncatingIfNeeded: sequence >> (8 * (15 - $0))) }
            return StreamPlaylist.Encryption(keyAddress: address, initializationVector: vector ?? number)
        case .unusable(let encryption): throw .encrypted(encryption)
        }
    }

    private static func printable(_ name: String) -> String {
        String(name.filter { $0.isASCII && $0 >= " " }.prefix(80))
    }

    /// 128 bits in hexadecimal digits (section 4.2).
    private static func vector(_ text: String) -> [UInt8]? {
        let digits = text.dropFirst(2)
        guard text.lowercased().hasPrefix("0x"), (1...32).contains(digits.count), digits.allSatisfy(\.isHexDigit)
        else { return nil }
        let padded = Array(String(repeating: "0", count: 32 - digits.count) + digits)
        let bytes = stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(padded[$0...$0 + 1]), radix: 16) }
        return bytes.count == 16 ? bytes : nil
    }

    private static func seconds(_ text: Substring) -> Double? {
        Double(text).flatMap { $0.isFinite && (0...3600).contains($0) ? $0 : nil }
    }
}
