/// An HTTP answer.
public struct HTTPResponse: Sendable, Equatable {
    /// The status code, 100 to 599.
    public var status: Int
    /// The values of every `WWW-Authenticate` line.
    public var challenges: [String]
    /// The content.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int, challenges: [String] = [], body: [UInt8] = []) {
        self.status = status
        self.challenges = challenges
        self.body = body
    }
}

/// Reads one HTTP/1.1 answer from its bytes (RFC 9112), as far as SOAP servers use it: a content length, chunks, or
/// content until the connection ends. The head is bounded by 16 KiB and the content by 1 MiB.
public struct HTTPResponseReader: Sendable {
    /// The longest head, in bytes.
    public static let maximumHead = 16 * 1024
    /// The longest content, in bytes.
    public static let maximumBody = 1 << 20

    private enum Framing { case unknown, length(Int), chunks, untilClosed }

    private var bytes: [UInt8] = []
    private var response: HTTPResponse?
    private var framing = Framing.unknown
    /// How far the chunks have been read.
    private var position = 0

    /// A reader at the beginning of an answer.
    public init() {}

    /// Adds bytes that have arrived.
    /// - Returns: the answer as soon as it is complete.
    public mutating func append(_ new: some Sequence<UInt8>) throws(ONVIFError) -> HTTPResponse? {
        bytes.append(contentsOf: new)
        guard bytes.count <= Self.maximumHead + 2 * Self.maximumBody else {
            throw .tooLarge(what: "an answer", limit: Self.maximumBody)
        }
        while response == nil {
            guard try readHead() else { return nil }
        }
        return try readBody(isClosed: false)
    }

    /// Records that the connection has ended.
    /// - Returns: the answer, where the end of the connection completes it.
    public mutating func finish() throws(ONVIFError) -> HTTPResponse {
        guard response != nil, let complete = try readBody(isClosed: true) else {
            throw .malformedHTTP("the connection ended before the answer was complete")
        }
        return complete
    }

    /// Reads the head. Returns false where more bytes are needed.
    private mutating func readHead() throws(ONVIFError) -> Bool {
        guard let end = Self.endOfHead(bytes) else {
            if bytes.count > Self.maximumHead { throw .tooLarge(what: "a head", limit: Self.maximumHead) }
            return false
        }
        guard end <= Self.maximumHead else { throw .tooLarge(what: "a head", limit: Self.maximumHead) }
        let lines = bytes[..<end].split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
        }
        bytes.removeFirst(end)
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), (100...599).contains(status)
        else { throw .malformedHTTP("it does not begin with an HTTP/1.1 status line") }
        // The final answer follows an interim one (RFC 9110, section 15.2).
        if status < 200 { return true }
        var response = HTTPResponse(status: status)
        framing = status == 204 || status == 304 ? .length(0) : .untilClosed
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = String(line[line.index(after: colon)...]).trimmedOfSpace
            switch line[..<colon].lowercased() {
            case "www-authenticate": if response.challenges.count < 8 { response.challenges.append(value) }
            case "transfer-encoding": if value.lowercased().hasSuffix("chunked") { framing = .chunks }
            case "content-length":
                if case .chunks = framing { continue }
                guard let length = Int(value), length >= 0 else {
                    throw .malformedHTTP("the content length is not a number")
                }
                guard length <= Self.maximumBody else { throw .tooLarge(what: "a body", limit: Self.maximumBody) }
                framing = .length(length)
            default: break
            }
        }
        self.response = response
        return true
    }

    /// The number of bytes up to the end of the empty line; nil before it has come.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        var lineStart = 0
        for index in bytes.indices.prefix(maximumHead + 4) where bytes[index] == UInt8(ascii: "\n") {
            let line = bytes[lineStart..<index]
            if line.isEmpty || Array(line) == [UInt8(ascii: "\r")], index > 2 { return index + 1 }
            lineStart = index + 1
        }
        return nil
    }

    private mutating func readBody(isClosed: Bool) throws(ONVIFError) -> HTTPResponse? {
        guard var response else { return nil }
        switch framing {
        case .unknown: return nil
        case .length(let length):
            guard bytes.count >= length else { return nil }
            response.body = Array(bytes[..<length])
            return response
        case .untilClosed:
            guard bytes.count <= Self.maximumBody else { throw .tooLarge(what: "a body", limit: Self.maximumBody) }
            guard isClosed else { return nil }
            response.body = bytes
            return response
        case .chunks:
            return try readChunks()
        }
    }

    private mutating func readChunks() throws(ONVIFError) -> HTTPResponse? {
        while let lineEnd = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: bytes[position..<lineEnd], as: UTF8.self)
            let digits = line.prefix { $0.isHexDigit }
            guard !digits.isEmpty, digits.utf8.count <= 8, let size = Int(digits, radix: 16) else {
                throw .malformedHTTP("the size of a chunk is not a number")
            }
            let start = lineEnd + 1
            if size == 0 {
                // The trailer after the last chunk is not needed.
                return response
            }
            guard (response?.body.count ?? 0) + size <= Self.maximumBody else {
                throw .tooLarge(what: "a body", limit: Self.maximumBody)
            }
            guard bytes.count >= start + size + 1 else { return nil }
            var end = start + size
            if bytes[end] == UInt8(ascii: "\r") {
                guard bytes.count > end + 1 else { return nil }
                end += 1
            }
            guard bytes[end] == UInt8(ascii: "\n") else {
                throw .malformedHTTP("a chunk does not end where it says")
            }
            response?.body.append(contentsOf: bytes[start..<(start + size)])
            position = end + 1
        }
        if bytes.count - position > 1024 { throw .malformedHTTP("the size of a chunk has no end") }
        return nil
    }
}

extension String {
    fileprivate var trimmedOfSpace: String { String(decoding: Array(utf8).trimmedOfSpace, as: UTF8.self) }
}
