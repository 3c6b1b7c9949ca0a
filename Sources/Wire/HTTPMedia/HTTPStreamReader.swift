/// Reads one HTTP/1.1 answer as it arrives (RFC 9112), and hands its content out at once: a content length, chunks, or
/// content until the connection ends. It keeps only the head and the line that it is in, both bounded.
public struct HTTPStreamReader: Sendable {
    /// The longest head, in bytes.
    public static let maximumHead = 16 * 1024
    /// The longest line with the size of a chunk, in bytes.
    private static let maximumChunkLine = 1024

    private enum State: Sendable, Equatable {
        /// In the head, or before it.
        case head
        /// So much of the content, or of a chunk, is to come.
        case content(left: Int, isChunk: Bool)
        /// In the line with the size of a chunk.
        case chunkSize
        /// After a chunk, before the end of its line.
        case chunkEnd
        /// The end of the connection ends the content.
        case untilClosed
        /// All has been read.
        case complete
    }

    /// The status and the fields, once they have come.
    public private(set) var head: HTTPHead?
    private var state = State.head
    /// The line that is being read.
    private var line: [UInt8] = []
    private var lines: [String] = []
    private var headLength = 0

    /// A reader at the beginning of an answer.
    public init() {}

    /// Whether the whole answer has been read.
    public var isComplete: Bool { state == .complete }

    /// How many bytes of the content are still to come; nil where no length delimits it. A length beside chunks is not looked at
    /// (RFC 9112, section 6.3).
    public var lengthLeft: Int? {
        guard case .content(let left, isChunk: false) = state else { return nil }
        return left
    }

    /// Reads bytes that have arrived, and hands the content in them to `body`, in pieces of any length. Bytes after the
    /// end of the answer are ignored.
    public mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(HTTPStreamError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch state {
            case .complete: return
            case .untilClosed:
                body(UnsafeRawBufferPointer(rebasing: rest))
                return
            case .content(let left, let isChunk):
                let count = min(left, rest.count)
                body(UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
                rest = rest.dropFirst(count)
                state =
                    count < left
                    ? .content(left: left - count, isChunk: isChunk) : (isChunk ? .chunkEnd : .complete)
            case .head:
                if try takeLine(&rest, limit: Self.maximumHead, what: "a head") { try endHeadLine() }
            case .chunkSize:
                if try takeLine(&rest, limit: Self.maximumChunkLine, what: "a chunk's size") { try endChunkLine() }
            case .chunkEnd:
                let isWhole = try takeLine(&rest, limit: 2, what: "the end of a chunk")
                // A carriage return may be all that has come of the line.
                guard line.isEmpty || (!isWhole && line == [UInt8(ascii: "\r")]) else {
                    throw .malformed("a chunk does not end where it says")
                }
                if isWhole { state = .chunkSize }
            }
        }
    }

    /// Records that the connection has ended.
    /// - Returns: whether that completes the answer.
    public mutating func finish() -> Bool {
        if state == .untilClosed { state = .complete }
        return isComplete
    }

    /// Moves bytes into ``line`` up to the end of the line. Returns whether the end has come; it is then removed.
    private mutating func takeLine(
        _ rest: inout Slice<UnsafeRawBufferPointer>, limit: Int, what: String
    ) throws(HTTPStreamError) -> Bool {
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        let piece = rest[rest.startIndex..<(end ?? rest.endIndex)]
        // The first piece of a new line removes the line before it.
        if isLineComplete { line.removeAll(keepingCapacity: true) }
        isLineComplete = end != nil
        guard line.count + headLength + piece.count <= limit else { throw .tooLarge(what: what, limit: limit) }
        line.append(contentsOf: piece)
        rest = rest[(end.map { $0 + 1 } ?? rest.endIndex)...]
        if end != nil, line.last == UInt8(ascii: "\r") { line.removeLast() }
        return end != nil
    }

    private var isLineComplete = true

    /// Reads a line of the head; an empty one ends it.
    private mutating func endHeadLine() throws(HTTPStreamError) {
        headLength += line.count + 1
        guard line.isEmpty else {
            // Control characters never reach a log or a terminal.
            lines.append(String(decoding: line.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self))
            return
        }
        // Some servers send an empty line too many after the answer before.
        if lines.isEmpty { return }
        let head = try Self.head(of: lines)
        lines = []
        // The final answer follows an interim one (RFC 9110, section 15.2). Both together are bounded: a camera could
        // send interim answers without end.
        if head.status < 200 { return }
        headLength = 0
        self.head = head
        state = try Self.framing(of: head)
    }

    private static func head(of lines: [String]) throws(HTTPStreamError) -> HTTPHead {
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), (100...599).contains(status)
        else { throw .malformed("it does not begin with an HTTP/1.1 status line") }
        var head = HTTPHead(status: status, fields: [])
        for line in lines.dropFirst().prefix(HTTPHead.maximumFields) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            head.fields.append(
                HTTPHead.Field(
                    name: line[..<colon].lowercased(),
                    value: String(line[line.index(after: colon)...]).trimmedOfASCIISpace))
        }
        return head
    }

    /// How the content is delimited (RFC 9112, section 6.3).
    private static func framing(of head: HTTPHead) throws(HTTPStreamError) -> State {
        if head.status == 204 || head.status == 304 { return .complete }
        if head.value(of: "transfer-encoding")?.lowercased().hasSuffix("chunked") == true { return .chunkSize }
        guard let text = head.value(of: "content-length") else { return .untilClosed }
        guard let length = Int(text), length >= 0 else { throw .malformed("the content length is not a number") }
        return length == 0 ? .complete : .content(left: length, isChunk: false)
    }

    private mutating func endChunkLine() throws(HTTPStreamError) {
        let digits = String(decoding: line, as: UTF8.self).prefix { $0.isHexDigit }
        guard !digits.isEmpty, digits.utf8.count <= 8, let size = Int(digits, radix: 16) else {
            throw .malformed("the size of a chunk is not a number")
        }
        // The trailer after the last chunk is not needed.
        state = size == 0 ? .complete : .content(left: size, isChunk: true)
    }
}
