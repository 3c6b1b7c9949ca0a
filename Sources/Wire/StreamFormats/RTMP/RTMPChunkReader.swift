/// Puts RTMP's messages together from their chunks (Adobe RTMP Specification 1.0, section 5.3).
///
/// It takes bytes, and then hands out the messages one by one. So its owner can change ``maximumLength`` after a message,
/// before anything behind it is read.
struct RTMPChunkReader: Sendable {
    /// One message.
    struct Message {
        var type: UInt8
        var timestamp: UInt32
        var stream: UInt32
        var bytes: [UInt8]
    }

    /// What the chunks of one stream have said last.
    private struct Header {
        var timestamp: UInt32 = 0
        var delta: UInt32 = 0
        var length = 0
        var type: UInt8 = 0
        var stream: UInt32 = 0
        var hasExtendedTimestamp = false
        /// The extended timestamp that came last.
        var extended: UInt32 = 0
    }

    private struct ChunkStream {
        var header = Header()
        /// What has come of a message that is not complete.
        var bytes: [UInt8] = []
    }

    /// The longest message that is accepted, in bytes.
    var maximumLength = StreamUnit.maximumLength
    /// The longest chunk that the other side announced.
    private var chunkSize = 128
    private var streams: [UInt32: ChunkStream] = [:]
    private var rest: [UInt8] = []
    /// Where the first byte of ``rest`` is that has not been taken.
    private var start = 0
    /// The bytes of all unfinished messages.
    private var waiting = 0
    private static let maximumStreams = 32

    /// Adds bytes. ``next()`` takes the messages that they complete.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        rest.removeFirst(start)
        start = 0
        rest.append(contentsOf: bytes)
    }

    /// The next message; nil where none is complete.
    mutating func next() throws(StreamFormatError) -> Message? {
        while let (length, message) = try takeChunk() {
            start += length
            if let message { return message }
        }
        return nil
    }

    /// Takes the chunk at ``start``. Returns its length, and the message that it completes; nil where it is not complete.
    private mutating func takeChunk() throws(StreamFormatError) -> (length: Int, message: Message?)? {
        var offset = start
        func number(_ count: Int) -> UInt32? {
            guard offset + count <= rest.count else { return nil }
            var value: UInt32 = 0
            for index in 0..<count { value = value << 8 | UInt32(rest[offset + index]) }
            offset += count
            return value
        }
        guard let first = number(1) else { return nil }
        var identifier = first & 0x3F
        if identifier == 0 {
            guard let next = number(1) else { return nil }
            identifier = 64 + next
        } else if identifier == 1 {
            guard let low = number(1), let high = number(1) else { return nil }
            identifier = 64 + low + high << 8
        }
        let form = first >> 6
        guard streams[identifier] != nil || streams.count < Self.maximumStreams else {
            throw .tooLong(.chunkStreams)
        }
        // The stream itself stays where it is: a copy would be a second owner of its bytes, and each chunk that is added
        // would then copy all of them.
        var header = streams[identifier]?.header ?? Header()
        let held = streams[identifier]?.bytes.count ?? 0
        var time: UInt32 = 0
        if form < 3 {
            guard let value = number(3) else { return nil }
            time = value
            header.hasExtendedTimestamp = value == 0xFF_FFFF
            if form < 2 {
                guard let length = number(3), let type = number(1) else { return nil }
                guard length <= UInt32(maximumLength) else { throw .tooLong(.message) }
                (header.length, header.type) = (Int(length), UInt8(truncatingIfNeeded: type))
            }
            if form == 0 {
                // The only number of RTMP whose lowest byte comes first.
                guard let stream = number(4) else { return nil }
                header.stream = stream.byteSwapped
            }
        }
        if header.hasExtendedTimestamp {
            guard let value = number(4) else { return nil }
            if form == 3, held > 0, value != header.extended, value != header.timestamp {
                // Some encoders leave the extended timestamp out in the middle of a message. These are its bytes then.
                offset -= 4
            } else {
                time = value
                header.extended = value
            }
        }
        // A header in the middle of a message begins another one.
        let kept = form < 3 ? 0 : held
        if kept == 0 {
            switch form {
            case 0: (header.timestamp, header.delta) = (time, 0)
            case 1, 2:
                header.delta = time
                header.timestamp &+= time
            default: header.timestamp &+= header.delta
            }
        }
        let count = min(chunkSize, header.length - kept)
        guard count >= 0, offset + count <= rest.count else { return nil }
        // The chunk is complete. Nothing has been changed before.
        streams[identifier, default: ChunkStream()].header = header
        if kept == 0 { streams[identifier]?.bytes.removeAll(keepingCapacity: true) }
        streams[identifier]?.bytes.append(contentsOf: rest[offset..<offset + count])
        offset += count
        waiting += kept + count - held
        guard kept + count >= header.length else {
            // What all unfinished messages may hold together.
            guard waiting <= 2 * maximumLength else { throw .tooLong(.unfinishedMessages) }
            return (offset - start, nil)
        }
        let message = Message(
            type: header.type, timestamp: header.timestamp, stream: header.stream,
            bytes: streams[identifier]?.bytes ?? [])
        streams[identifier]?.bytes = []
        waiting -= kept + count
        if message.type == 1 { try setChunkSize(message.bytes) }
        if message.type == 2 { abort(message.bytes) }
        return (offset - start, message)
    }

    /// The rest of a message will not come (section 5.4.2).
    private mutating func abort(_ bytes: [UInt8]) {
        guard bytes.count >= 4 else { return }
        let identifier = bytes[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        waiting -= streams[identifier]?.bytes.count ?? 0
        streams[identifier]?.bytes = []
    }

    /// Where the bytes of an unfinished message lie. A test sees with it that a chunk does not copy those before it.
    func place(of identifier: UInt32) -> UInt? {
        streams[identifier]?.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private mutating func setChunkSize(_ bytes: [UInt8]) throws(StreamFormatError) {
        guard bytes.count >= 4 else { return }
        let size = Int(bytes[0] & 0x7F) << 24 | Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3])
        guard size >= 1 else { throw .damaged(.chunkSize) }
        chunkSize = min(size, 1 << 24 - 1)
    }
}
