/// Splits the bytes of an RTSP connection into messages and interleaved packets (RFC 2326, section 10.12).
///
/// It owns one buffer of a fixed size. The connection reads directly into it, and packets stay where they are: a packet
/// is neither copied nor boxed. Some cameras leave stray bytes between packets. They are skipped until a packet or a
/// message begins again.
public struct RTSPStream: ~Copyable {
    /// What the stream consists of.
    public enum Element: Equatable, Sendable {
        /// A response from the other side.
        case response(RTSPResponse)
        /// A request from the other side.
        case request(RTSPRequest)
        /// A packet on an interleaved channel; its bytes are ``RTSPStream/bytes(in:)`` until the next
        /// ``RTSPStream/receive(_:)``.
        case interleaved(channel: UInt8, range: Range<Int>)
    }

    /// The size of the buffer: the largest packet (65,539 bytes with its head) and more.
    static let capacity = 128 * 1024
    /// The most bytes in the lines before a body.
    static let maximumHeadSize = 16 * 1024
    /// The most bytes in a body. A camera's description has a few thousand bytes.
    static let maximumBodySize = 64 * 1024
    /// The most stray bytes in a row.
    static let maximumDiscarded = 1024 * 1024

    /// The number of stray bytes so far.
    public private(set) var discardedBytes = 0
    /// The channels that were agreed on. While it is empty, every channel is treated as valid.
    public var knownChannels: Set<UInt8> = []

    private let buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    private var discardedInARow = 0
    private var isSynchronized = true
    /// A message whose body is not complete yet. With it, the head is read only once, even if the body arrives slowly.
    private var unfinished: (message: RTSPMessage, bodySize: Int)?

    /// An empty stream.
    public init() {
        buffer = .allocate(byteCount: Self.capacity, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    /// Lets `read` write into the free part of the buffer; it returns how many bytes it wrote. Before the next call,
    /// call ``next()`` until it returns nil; otherwise no space may be free.
    @discardableResult
    public mutating func receive(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        if start == end {
            start = 0
            end = 0
        } else if start > 0, buffer.count - end < buffer.count / 2 {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            end -= start
            start = 0
        }
        let free = UnsafeMutableRawBufferPointer(rebasing: buffer[end...])
        let count = read(free)
        if count > 0 { end += min(count, free.count) }
        return count
    }

    /// The bytes of a packet. The memory stays valid until the next ``receive(_:)``.
    public func bytes(in range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[range.clamped(to: 0..<buffer.count)])
    }

    /// The next whole message or packet; nil when more bytes are needed.
    public mutating func next() throws(RTSPError) -> Element? {
        if unfinished != nil { return finishMessage() }
        while start < end {
            switch inspect(at: start) {
            case .packet(let channel, let length):
                guard end - start >= 4 + length else { return nil }
                let range = (start + 4)..<(start + 4 + length)
                start = range.upperBound
                resynchronized()
                return .interleaved(channel: channel, range: range)
            case .message: return try nextMessage()
            case .undecided:
                return nil
            case .nothing:
                // Blank lines between messages are common and mean nothing.
                if isSynchronized, buffer[start] == 0x0D || buffer[start] == 0x0A {
                    start += 1
                    continue
                }
                isSynchronized = false
                discard()
                if discardedInARow > Self.maximumDiscarded {
                    throw .framingLost(discardedBytes: discardedInARow)
                }
            }
        }
        return nil
    }

    /// Skips a byte at which nothing begins, and the bytes after it that cannot begin anything.
    private mutating func discard() {
        let from = start
        start += 1
        while start < end, !Self.isPossibleBeginning(buffer[start]) { start += 1 }
        discardedBytes &+= start - from
        discardedInARow += start - from
    }

    private static func isPossibleBeginning(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "$"), UInt8(ascii: "A")...UInt8(ascii: "T"), UInt8(ascii: "r"): true
        default: false
        }
    }

    private mutating func resynchronized() {
        isSynchronized = true
        discardedInARow = 0
    }

    private enum Beginning {
        case packet(channel: UInt8, length: Int)
        case message
        case undecided
        case nothing
    }

    private func inspect(at offset: Int) -> Beginning {
        if buffer[offset] == UInt8(ascii: "$") { return inspectPacket(at: offset) }
        guard Self.isPossibleBeginning(buffer[offset]) else { return .nothing }
        var isUndecided = false
        for beginning in Self.messageBeginnings {
            let count = min(beginning.count, end - offset)
            guard (0..<count).allSatisfy({ buffer[offset + $0] == beginning[$0] }) else { continue }
            if count == beginning.count { return .message }
            isUndecided = true
        }
        return isUndecided ? .undecided : .nothing
    }

    private func inspectPacket(at offset: Int) -> Beginning {
        guard end - offset >= 4 else { return .undecided }
        let channel = buffer[offset + 1]
        let length = Int(buffer[offset + 2]) << 8 | Int(buffer[offset + 3])
        let isKnown = knownChannels.isEmpty || knownChannels.contains(channel)
        if isSynchronized, isKnown { return .packet(channel: channel, length: length) }
        // A dollar sign amid stray bytes may be a stray byte itself. It counts if an RTP or RTCP packet of version 2
        // follows it. If more bytes have arrived, a packet or a message must follow that packet, too.
        guard isKnown, length >= 8 else { return .nothing }
        guard end - offset > 4 else { return .undecided }
        guard buffer[offset + 4] >> 6 == 2 else { return .nothing }
        let following = offset + 4 + length
        if following < end, buffer[following] != UInt8(ascii: "$"), buffer[following] != UInt8(ascii: "R") {
            return .nothing
        }
        return .packet(channel: channel, length: length)
    }

    private mutating func nextMessage() throws(RTSPError) -> Element? {
        guard let headEnd = findHeadEnd() else {
            if end - start > Self.maximumHeadSize { throw .tooLarge(what: "headers", limit: Self.maximumHeadSize) }
            return nil
        }
        if buffer[start] == UInt8(ascii: "H") {
            throw .malformedMessage(.http)
        }
        let head = String(decoding: buffer[start..<headEnd], as: UTF8.self)
        let message = try RTSPMessage(head: head)
        var bodySize = 0
        if let text = message.headers["Content-Length"] {
            guard let size = Int(text.cut(at: ";").head.trimmedASCII), size >= 0 else {
                throw .malformedMessage(.contentLength)
            }
            guard size <= Self.maximumBodySize else { throw .tooLarge(what: "a body", limit: Self.maximumBodySize) }
            bodySize = size
        }
        start = headEnd
        unfinished = (message, bodySize)
        return finishMessage()
    }

    /// The message whose head has been read, when its body is complete.
    private mutating func finishMessage() -> Element? {
        guard let (message, bodySize) = unfinished, end - start >= bodySize else { return nil }
        let body = Array(buffer[start..<start + bodySize])
        start += bodySize
        unfinished = nil
        resynchronized()
        switch message {
        case .request(var request):
            request.body = body
            return .request(request)
        case .response(var response):
            response.body = body
            return .response(response)
        }
    }

    /// Where the empty line ends, within the first ``maximumHeadSize`` bytes.
    private func findHeadEnd() -> Int? {
        let limit = min(end, start + Self.maximumHeadSize)
        var index = start
        while index < limit {
            if buffer[index] == 0x0A {
                if index + 1 < limit, buffer[index + 1] == 0x0A { return index + 2 }
                if index + 2 < limit, buffer[index + 1] == 0x0D, buffer[index + 2] == 0x0A { return index + 3 }
            }
            index += 1
        }
        return nil
    }

    private static let messageBeginnings: [[UInt8]] =
        ["RTSP/", "rtsp/", "HTTP/"].map { Array($0.utf8) }
        + RTSPMethod.allCases.map { Array("\($0.rawValue) ".utf8) }
}
