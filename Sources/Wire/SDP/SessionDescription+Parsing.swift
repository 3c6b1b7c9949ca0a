extension SessionDescription {
    /// Reads a description. A line that cannot be understood is kept and listed in ``problems``.
    ///
    /// Lines may end in CRLF, LF or CR, the last one in nothing at all. Leading spaces, blank lines and a byte order
    /// mark are skipped.
    public init(parsing text: String) throws(SDPError) {
        try self.init(parsing: text, isFragment: false)
    }

    /// - Parameter isFragment: whether the lines that every description starts with are not expected (RFC 8840).
    init(parsing text: String, isFragment: Bool) throws(SDPError) {
        var parser = DescriptionParser()
        try parser.read(text)
        if !isFragment { parser.reportMissingFields() }
        self = parser.finished()
    }
}

/// Reads line by line: into the session level until the first `m=`, into that media description until the next.
private struct DescriptionParser {
    private var lines: [SessionDescription.Line] = []
    private var media: [MediaDescription] = []
    private var problems: [SessionDescription.Problem] = []
    private var current: MediaDescription?
    /// The first `a=rtpmap` of each payload type of the current media description.
    private var mappings: [UInt8: String] = [:]
    private var mids: Set<String> = []

    mutating func read(_ text: String) throws(SDPError) {
        guard text.utf8.count <= SessionDescription.maximumLength else {
            throw SDPError(
                .tooLong,
                reason:
                    "the description has \(text.utf8.count) bytes; at most \(SessionDescription.maximumLength) are read"
            )
        }
        let lineFeed = UInt8(ascii: "\n")
        let carriageReturn = UInt8(ascii: "\r")
        let separator = text.utf8.contains(lineFeed) ? lineFeed : carriageReturn
        let rows = text.utf8.split(
            separator: separator, maxSplits: SessionDescription.maximumLines, omittingEmptySubsequences: false)
        guard rows.count <= SessionDescription.maximumLines else {
            throw SDPError(
                .tooManyLines, line: SessionDescription.maximumLines + 1,
                reason: "the description has more than \(SessionDescription.maximumLines) lines")
        }
        var firstUnreadable: (number: Int, text: String)?
        var hasReadable = false
        for (index, row) in rows.enumerated() {
            var row = row
            while row.last == carriageReturn { row = row.dropLast() }
            if index == 0, row.starts(with: [0xEF, 0xBB, 0xBF]) { row = row.dropFirst(3) }
            while let first = row.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
                row = row.dropFirst()
            }
            guard let type = row.first else { continue }
            let number = index + 1
            let equals = row.index(after: row.startIndex)
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(type | 0x20)
            guard isLetter, equals < row.endIndex, row[equals] == UInt8(ascii: "=") else {
                let line = String(Substring(row))
                if firstUnreadable == nil { firstUnreadable = (number, line) }
                append(.unreadable(line))
                report(number, line, "is not of the form x=value")
                continue
            }
            hasReadable = true
            let value = String(Substring(row[row.index(after: equals)...]))
            try read(type: Unicode.Scalar(type), value: value, number: number)
        }
        guard hasReadable else {
            guard let firstUnreadable else {
                throw SDPError(.empty, reason: "the description is empty; v=0 and what follows it were expected")
            }
            throw SDPError(
                .notADescription, line: firstUnreadable.number,
                reason: "no line has the form x=value; the first is \"\(firstUnreadable.text.prefix(80))\"")
        }
    }

    mutating func finished() -> SessionDescription {
        if let current { media.append(current) }
        current = nil
        return SessionDescription(lines: lines, media: media, problems: problems)
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

    private mutating func read(type: Unicode.Scalar, value: String, number: Int) throws(SDPError) {
        switch type {
        case "m":
            if let current { media.append(current) }
            guard media.count < SessionDescription.maximumMediaDescriptions else {
                throw SDPError(
                    .tooManyMediaDescriptions, line: number,
                    reason: "the description has more than \(SessionDescription.maximumMediaDescriptions) m= lines")
            }
            let (section, reason) = MediaDescription.reading(mediaLine: value)
            current = section
            mappings = [:]
            if let reason { report(number, "m=" + value, reason) }
        case "a":
            let parts = value.parts(separatedBy: ":", atMost: 2)
            let attribute = SessionDescription.Attribute(
                String(parts[0].trimmed), parts.count == 2 ? String(parts[1]) : nil)
            append(.attribute(attribute))
            if let reason = fault(in: attribute) { report(number, "a=" + value, reason) }
        default:
            append(.field(type: type, value: value))
            if let reason = fault(inField: type, value: value) { report(number, "\(type)=\(value)", reason) }
        }
    }

    private mutating func append(_ line: SessionDescription.Line) {
        if current == nil { lines.append(line) } else { current?.lines.append(line) }
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
            if ConnectionData(parsing: value) == nil { return "holds no address; c=IN IP4 <address> was expected" }
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
        guard let section = current else { return nil }
        let name = attribute.name.lowercased()
        guard name == "rtpmap" || name == "fmtp" || name == "mid", let value = attribute.value else { return nil }
        if name == "mid" {
            return mids.insert(String(value.trimmed)).inserted
                ? nil : "another media description has the same identification tag"
        }
        guard let word = value.words.first, let payloadType = UInt8(word) else { return nil }
        if !section.formats.contains(String(word)) {
            return "payload type \(payloadType) is not in the m= line of its media description"
        }
        if name == "rtpmap" {
            let mapping = value.words.dropFirst().joined(separator: " ")
            if let first = mappings[payloadType], !first.equalsIgnoringCase(mapping) {
                return "payload type \(payloadType) has been mapped to \(first) before; the first mapping holds"
            }
            mappings[payloadType] = mapping
        }
        return nil
    }
}
