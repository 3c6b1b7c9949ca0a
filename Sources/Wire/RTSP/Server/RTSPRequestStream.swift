import Transport

/// Splits what a client sends into requests and interleaved packets (RFC 2326, sections 4 and 10.12).
///
/// Unlike a camera, a client gets no tolerance: bytes that are neither a request nor a packet end the connection. The
/// buffer has a fixed size, so nothing that a client sends makes it grow.
struct RTSPRequestStream: ~Copyable {
    /// What the stream consists of.
    enum Element: Equatable {
        case request(RTSPRequest)
        /// A packet on an interleaved channel, whose bytes are ``RTSPRequestStream/bytes(in:)`` until the next
        /// ``RTSPRequestStream/receive(_:)``.
        case interleaved(channel: UInt8, range: Range<Int>)
    }

    static let capacity = 32 * 1024
    /// The most bytes in a request line and its headers.
    static let maximumHeadSize = 8 * 1024
    /// The most header lines. Clients send about ten, and each costs more than its bytes.
    static let maximumHeaderLines = 64
    /// The most bytes in a body: players send only lists of parameter names.
    static let maximumBodySize = 4 * 1024
    /// The most bytes in a session description that a publisher announces: ffmpeg writes at most as many.
    static let maximumDescriptionSize = 16 * 1024
    /// The largest interleaved packet. Publishers send about 1,400 bytes, players receiver reports of about a hundred.
    static let maximumPacketSize = 16 * 1024

    private let buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    /// How far the search for the end of the head has come. With it, bytes that drip in slowly are searched once each.
    private var searched = 0
    /// A request whose body is not complete yet. With it, the head is read once even if the body drips in slowly.
    private var unfinished: (request: RTSPRequest, bodySize: Int)?

    init() {
        buffer = .allocate(byteCount: Self.capacity, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    /// Whether the buffer has room to read into.
    var hasRoom: Bool { start > 0 || end < buffer.count }

    /// Lets `read` write into the free part of the buffer; it returns how many bytes it wrote.
    mutating func receive(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        if start > 0 {
            if start < end { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end])) }
            end -= start
            searched = max(0, searched - start)
            start = 0
        }
        let free = UnsafeMutableRawBufferPointer(rebasing: buffer[end...])
        guard !free.isEmpty else { return 0 }
        let count = read(free)
        if count > 0 { end += min(count, free.count) }
        return count
    }

    /// The bytes of a packet. The memory stays valid until the next ``receive(_:)``.
    func bytes(in range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[range.clamped(to: 0..<buffer.count)])
    }

    /// The next whole request or packet; nil when more bytes are needed.
    mutating func next() throws(RTSPRequestError) -> Element? {
        if unfinished != nil { return finishRequest() }
        // Blank lines between requests mean nothing (RFC 2326, section 4).
        while start < end, buffer[start] == 0x0D || buffer[start] == 0x0A { start += 1 }
        guard start < end else { return nil }
        return buffer[start] == UInt8(ascii: "$") ? try nextPacket() : try nextRequest()
    }

    private mutating func nextPacket() throws(RTSPRequestError) -> Element? {
        guard end - start >= 4 else { return nil }
        let length = Int(buffer[start + 2]) << 8 | Int(buffer[start + 3])
        guard length <= Self.maximumPacketSize else {
            throw .tooLarge(what: "an interleaved packet", limit: Self.maximumPacketSize)
        }
        guard end - start >= 4 + length else { return nil }
        let channel = buffer[start + 1]
        let range = (start + 4)..<(start + 4 + length)
        start = range.upperBound
        return .interleaved(channel: channel, range: range)
    }

    private mutating func nextRequest() throws(RTSPRequestError) -> Element? {
        guard Self.beginsMethod(buffer[start]) else {
            throw .malformed("it begins with neither a method nor a packet")
        }
        guard let headEnd = try findHeadEnd() else { return nil }
        let head = buffer[start..<headEnd]
        // Besides the header lines, the first line and the empty one end with a line feed.
        guard head.count(where: { $0 == 0x0A }) <= Self.maximumHeaderLines + 2 else {
            throw .tooLarge(what: "the number of header lines", limit: Self.maximumHeaderLines)
        }
        let message: RTSPMessage
        do {
            message = try RTSPMessage(head: String(decoding: head, as: UTF8.self))
        } catch {
            throw .malformed("its first line is not an RTSP request line")
        }
        guard case .request(let request) = message else {
            throw .malformed("it is an answer, and nothing was asked")
        }
        let isDescription = request.method == RTSPMethod.announce.rawValue
        unfinished = (
            request,
            try Self.bodySize(
                request.headers, limit: isDescription ? Self.maximumDescriptionSize : Self.maximumBodySize)
        )
        start = headEnd
        return finishRequest()
    }

    /// The request whose head has been read, once its body is complete.
    private mutating func finishRequest() -> Element? {
        guard let (head, bodySize) = unfinished, end - start >= bodySize else { return nil }
        var request = head
        request.body = Array(buffer[start..<start + bodySize])
        start += bodySize
        searched = start
        unfinished = nil
        return .request(request)
    }

    private static func beginsMethod(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func bodySize(_ headers: RTSPHeaders, limit: Int) throws(RTSPRequestError) -> Int {
        let values = headers.all("Content-Length")
        guard let text = values.first else { return 0 }
        // Two lengths, or a length with a sign, are used to smuggle requests (RFC 9110, section 8.6).
        guard values.count == 1, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let size = Int(text) else {
            throw .malformed("Content-Length is not one number")
        }
        guard size <= limit else { throw .tooLarge(what: "a body", limit: limit) }
        return size
    }

    /// Where the empty line ends.
    private mutating func findHeadEnd() throws(RTSPRequestError) -> Int? {
        // Start two bytes earlier, since the empty line may have been cut in the middle.
        var index = max(start, searched - 2)
        while index < end {
            if index - start > Self.maximumHeadSize { throw .tooLarge(what: "a head", limit: Self.maximumHeadSize) }
            if buffer[index] == 0x0A {
                if index + 1 < end, buffer[index + 1] == 0x0A { return index + 2 }
                if index + 2 < end, buffer[index + 1] == 0x0D, buffer[index + 2] == 0x0A { return index + 3 }
            }
            index += 1
        }
        searched = end
        return nil
    }
}

/// Why a client's connection is not served any further.
enum RTSPRequestError: Error, Equatable {
    /// The bytes are not a request; says why.
    case malformed(String)
    /// More than a client has reason to send.
    case tooLarge(what: String, limit: Int)

    /// The status that the client gets before the connection ends.
    var status: RTSPStatus {
        switch self {
        case .malformed: .badRequest
        case .tooLarge: .requestEntityTooLarge
        }
    }
}
