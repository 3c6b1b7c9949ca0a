extension SessionDescription {
    /// Reads a description. A line that cannot be understood is kept and listed in ``problems``.
    ///
    /// Lines may end in CRLF, LF or CR. The last one needs no ending. Leading spaces, blank lines and a byte order mark
    /// are skipped.
    public init(parsing text: String) throws(SDPError) {
        try self.init(parsing: text, isFragment: false)
    }

    /// - Parameter isFragment: whether the text may lack the lines that every description starts with (RFC 8840).
    init(parsing text: String, isFragment: Bool) throws(SDPError) {
        var parser = DescriptionParser()
        try parser.read(text)
        if !isFragment { parser.reportMissingFields() }
        self = parser.finished()
    }
}

/// Reads line by line: into the session level until the first `m=`, then into that media description until the next
/// `m=`.
private struct DescriptionParser {
    private var lines: [SessionDescription.Line] = []
    private var media: [MediaDescription] = []
    private var problems: [SessionDescription.Problem] = []
    private var current: MediaDescription?
    private var numbers = LineNumbers()
    /// The first `a=rtpmap` of each payload type of the current media description.
    private var mappings: [UInt8: PayloadMapping] = [:]
    /// The numbers of the header extensions of the current media description.
    private var extensions: Set<UInt8> = []
    private var mids: Set<String> = []
    /// The payload types of the current media description.
    private var payloadTypes: Set<UInt8> = []

    mutating func read(_ text: String) throws(SDPError) {
        guard text.utf8.count <= SessionDescription.maximumLength else { throw .tooLong(byteCount: text.utf8.count) }
        // Bytes in an array are read several times faster than a string's own views.
        let bytes = Array(text.utf8)
        let lineFeed = UInt8(ascii: "\n")
        let carriageReturn = UInt8(ascii: "\r")
        let numbersByLineFeed = bytes.contains(lineFeed)
        var firstUnreadable: (number: Int, text: String)?
        var hasReadable = false
        var number = 1
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        for end in start...bytes.count {
            // A CR ends a line as well; in CRLF only the LF counts.
            let isEnd = end == bytes.count || bytes[end] == lineFeed || bytes[end] == carriageReturn
            guard isEnd else { continue }
            while start < end, bytes[start] == UInt8(ascii: " ") || bytes[start] == UInt8(ascii: "\t") { start += 1 }
            if start < end {
                guard number <= SessionDescription.maximumLines else { throw .tooManyLines(line: number) }
                let line = bytes[start..<end]
                let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(line[start] | 0x20)
                if isLetter, line.count >= 2, line[start + 1] == UInt8(ascii: "=") {
                    hasReadable = true
                    try read(type: Unicode.Scalar(line[start]), line.dropFirst(2), number: number)
                } else {
                    let text = String(decoding: line, as: UTF8.self)
                    if firstUnreadable == nil { firstUnreadable = (number, text) }
                    append(.unreadable(text), number: number)
                    report(number, text, "is not of the form x=value")
                }
            }
            start = end + 1
            if end < bytes.count, bytes[end] == (numbersByLineFeed ? lineFeed : carriageReturn) { number += 1 }
        }
        guard hasReadable else {
            guard let firstUnreadable else { throw .empty }
            throw .notADescription(line: firstUnreadable.number, text: String(firstUnreadable.text.prefix(80)))
        }
    }

    mutating func finished() -> SessionDescription {
        if let current { media.append(current) }
        current = nil
        return SessionDescription(lines: lines, media: media, problems: problems, numbers: numbers)
    }

    mutating func reportMissingFields() {
        for (type, meaning) in [("v", "version"), ("o", "origin"), ("s", "session name"), ("t", "time")] {
            let scalar = type.unicodeScalars.first
            let isThere = lines.contains {
                if case .field(let type, _) = $0 { type == scalar } else { false }
            }
            if !isThere { problems.append(.init(line: 0, text: "", reason: "there is no \(type)= line (\(meaning))")) }
        }
        if current == nil { problems.append(.init(line: 0, text: "", reason: "there is no m= line (media)")) }
    }

    private mutating func read(
        type: Unicode.Scalar, _ bytes: ArraySlice<UInt8>, number: Int
    ) throws(SDPError) {
        if type == "a" { return read(attribute: bytes, number: number) }
        let value = String(decoding: bytes, as: UTF8.self)
        guard type == "m" else {
            append(.field(type: type, value: value), number: number)
            if let reason = fault(inField: type, value: value) { report(number, "\(type)=\(value)", reason) }
            return
        }
        if let current { media.append(current) }
        guard media.count < SessionDescription.maximumMediaDescriptions else {
            throw .tooManyMediaDescriptions(line: number)
        }
        let (section, reason) = MediaDescription.reading(mediaLine: value)
        current = section
        numbers.media.append([number])
        mappings = [:]
        extensions = []
        payloadTypes = Set(section.formats.compactMap { UInt8($0) })
        if let reason { report(number, "m=" + value, reason) }
    }

    private mutating func read(attribute bytes: ArraySlice<UInt8>, number: Int) {
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let attribute = SessionDescription.Attribute(
            String(String(decoding: bytes[..<(colon ?? bytes.endIndex)], as: UTF8.self).trimmed),
            colon.map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) })
        if let reason = fault(in: attribute) { report(number, "a=" + attribute.text, reason) }
        append(.attribute(attribute), number: number)
    }

    private mutating func append(_ line: SessionDescription.Line, number: Int) {
        if current == nil {
            lines.append(line)
            numbers.session.append(number)
        } else {
            current?.lines.append(line)
            numbers.media[numbers.media.count - 1].append(number)
        }
    }

    private mutating func report(_ number: Int, _ text: String, _ reason: String) {
        problems.append(.init(line: number, text: String(text.prefix(200)), reason: reason))
    }

    private func fault(inField type: Unicode.Scalar, value: String) -> String? {
        if current != nil, "vosueptrz".unicodeScalars.contains(type) {
            return "\(type)= belongs before the first m= line"
        }
        switch type {
        case "v": return value.trimmed == "0" ? nil : "the only version is 0"
        case "o": return Origin.fault(in: value)
        case "c":
            if ConnectionData(parsing: value) == nil { return "has no address; c=IN IP4 <address> was expected" }
            return ConnectionData.isExact(value)
                ? nil : "does not have the form c=IN IP4 <address> or c=IN IP6 <address>"
        case "b": return Bandwidth(parsing: value) == nil ? "does not have the form b=<type>:<number>" : nil
        case "t":
            let words = value.words
            return words.count == 2 && words.allSatisfy { UInt64($0) != nil }
                ? nil : "does not have the form t=<start> <stop>"
        case "s", "i", "u", "e", "p", "r", "z", "k": return nil
        default: return "\(type)= is not a line type of RFC 8866"
        }
    }

    private mutating func fault(in attribute: SessionDescription.Attribute) -> String? {
        if let reason = AttributeRules.fault(in: attribute) { return reason }
        guard current != nil, let value = attribute.value else { return nil }
        switch attribute.name {
        case "mid":
            return mids.insert(String(value.trimmed)).inserted
                ? nil : "another media section has the same identification tag"
        case "extmap":
            guard let known = HeaderExtension(parsing: value) else { return nil }
            return extensions.insert(known.id).inserted
                ? nil : "the header extension number \(known.id) has been given before; the first one is used"
        case "rtpmap", "fmtp", "rtcp-fb":
            guard let payloadType = UInt8(value.firstWord.word) else { return nil }
            if !payloadTypes.contains(payloadType) {
                return "payload type \(payloadType) is not in the m= line of its media section"
            }
            guard attribute.name == "rtpmap", let mapping = PayloadMapping(parsing: value) else { return nil }
            return contradiction(of: mapping)
        default: return nil
        }
    }
    /// The problem with a second mapping of a payload type; nil for the first mapping, and for one that says the same.
    private mutating func contradiction(of mapping: PayloadMapping) -> String? {
        guard let known = mappings[mapping.payloadType] else {
            mappings[mapping.payloadType] = mapping
            return nil
        }
        guard known.text.lowercased() != mapping.text.lowercased() else { return nil }
        let start = "payload type \(mapping.payloadType) has been mapped to \(known.text) before; "
        if known.isAssigned { return start + "that mapping is used, because RFC 3551 assigns it" }
        guard mapping.isAssigned else { return start + "the first mapping is used" }
        mappings[mapping.payloadType] = mapping
        return start + "\(mapping.text) is used, because RFC 3551 assigns it"
    }
}
