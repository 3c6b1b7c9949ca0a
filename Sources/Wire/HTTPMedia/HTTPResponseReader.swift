/// An HTTP answer with its whole content.
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

/// Collects one HTTP/1.1 answer from its bytes (RFC 9112), as far as SOAP servers use it: a content length, chunks, or
/// content until the connection ends. The head is bounded by 16 KiB and the content by 1 MiB.
public struct HTTPResponseReader: Sendable {
    /// The longest head, in bytes.
    public static let maximumHead = HTTPStreamReader.maximumHead
    /// The longest content, in bytes.
    public static let maximumBody = 1 << 20
    /// Real devices offer two or three.
    private static let maximumChallenges = 8

    private var stream = HTTPStreamReader()
    private var body: [UInt8] = []
    private var isTooLarge = false

    /// A reader at the beginning of an answer.
    public init() {}

    /// Adds bytes that have arrived.
    /// - Returns: the answer as soon as it is complete.
    /// - Throws: ``HTTPStreamError`` for an answer that breaks the rules of HTTP, or exceeds a limit.
    public mutating func append(_ new: some Sequence<UInt8>) throws(HTTPStreamError) -> HTTPResponse? {
        let bytes = Array(new)
        // Copied out, so that they can be changed while the stream reads.
        var (body, isTooLarge) = (self.body, self.isTooLarge)
        self.body = []
        try bytes.withUnsafeBufferPointer { bytes throws(HTTPStreamError) in
            try stream.append(UnsafeRawBufferPointer(bytes)) { piece in
                isTooLarge = isTooLarge || body.count + piece.count > Self.maximumBody
                if !isTooLarge { body.append(contentsOf: piece) }
            }
        }
        self.body = body
        self.isTooLarge = isTooLarge || (stream.lengthLeft ?? 0) > Self.maximumBody - body.count
        guard !self.isTooLarge else { throw .tooLarge(what: "a body", limit: Self.maximumBody) }
        return stream.isComplete ? answer : nil
    }

    /// Records that the connection has ended.
    /// - Returns: the answer, where the end of the connection completes it.
    /// - Throws: ``HTTPStreamError/malformed(_:)`` where it does not.
    public mutating func finish() throws(HTTPStreamError) -> HTTPResponse {
        guard stream.finish(), let answer else {
            throw .malformed("the connection ended before the answer was complete")
        }
        return answer
    }

    private var answer: HTTPResponse? {
        stream.head.map { head in
            HTTPResponse(
                status: head.status,
                challenges: Array(head.values(of: "www-authenticate").prefix(Self.maximumChallenges)), body: body)
        }
    }
}
