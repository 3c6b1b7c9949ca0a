import Transport

/// A message of multicast DNS (RFC 1035, section 4; RFC 6762, section 18).
public struct MulticastDNSMessage: Hashable, Sendable {
    /// The most questions and records in one message. More of them fit into 9,000 bytes, but no responder sends them.
    static let maximumEntries = 512

    private static let responseFlag: UInt16 = 0x8000
    private static let authoritativeFlag: UInt16 = 0x0400
    private static let operationMask: UInt16 = 0x7800
    private static let errorMask: UInt16 = 0x000F
    private static let topBit: UInt16 = 0x8000

    /// Zero, except in what a resolver of ordinary DNS asks and is answered (RFC 6762, section 6.7).
    public var id: UInt16 = 0
    /// Whether it answers; otherwise it asks.
    public var isResponse: Bool
    /// The questions.
    public var questions: [DNSQuestion] = []
    /// The answers; in a query, those that the questioner knows already (RFC 6762, section 7.1).
    public var answers: [DNSRecord] = []
    /// In a probe, what the prober wants to own (RFC 6762, section 8.2).
    public var authorities: [DNSRecord] = []
    /// What the questioner will probably ask for next.
    public var additionals: [DNSRecord] = []

    /// Makes an empty message.
    public init(isResponse: Bool) {
        self.isResponse = isResponse
    }

    /// Reads a message. What follows the last record is ignored.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(DNSError) {
        var reader = ByteReader(bytes)
        guard let id = reader.read(UInt16.self), let flags = reader.read(UInt16.self),
            let questionCount = reader.read(UInt16.self), let answerCount = reader.read(UInt16.self),
            let authorityCount = reader.read(UInt16.self), let additionalCount = reader.read(UInt16.self)
        else { throw .truncated }
        guard flags & (Self.operationMask | Self.errorMask) == 0 else { throw .otherOperation }
        let count = Int(questionCount) + Int(answerCount) + Int(authorityCount) + Int(additionalCount)
        guard count <= Self.maximumEntries else { throw .tooManyRecords }
        self.id = id
        isResponse = flags & Self.responseFlag != 0
        for _ in 0..<questionCount {
            var question = DNSQuestion(try DNSName(from: &reader, in: bytes), type: 0)
            guard let type = reader.read(UInt16.self), let recordClass = reader.read(UInt16.self) else {
                throw .truncated
            }
            question.type = type
            question.recordClass = recordClass & ~Self.topBit
            question.wantsUnicast = recordClass & Self.topBit != 0
            questions.append(question)
        }
        for _ in 0..<answerCount { answers.append(try Self.record(from: &reader, in: bytes)) }
        for _ in 0..<authorityCount { authorities.append(try Self.record(from: &reader, in: bytes)) }
        for _ in 0..<additionalCount { additionals.append(try Self.record(from: &reader, in: bytes)) }
    }

    private static func record(
        from reader: inout ByteReader, in message: UnsafeRawBufferPointer
    ) throws(DNSError) -> DNSRecord {
        let name = try DNSName(from: &reader, in: message)
        guard let type = reader.read(UInt16.self), let recordClass = reader.read(UInt16.self),
            let timeToLive = reader.read(UInt32.self), let length = reader.read(UInt16.self),
            let data = reader.readBytes(Int(length))
        else { throw .truncated }
        var record = DNSRecord(name, type: type, timeToLive: timeToLive, data: Array(data))
        record.recordClass = recordClass & ~topBit
        record.flushesCache = recordClass & topBit != 0
        return record
    }

    /// All records of the message.
    public var records: [DNSRecord] { answers + authorities + additionals }

    /// The message on the wire. Its own names are short, so it compresses none.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        func write(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }
        write(id)
        write(isResponse ? Self.responseFlag | Self.authoritativeFlag : 0)
        for count in [questions.count, answers.count, authorities.count, additionals.count] {
            write(UInt16(clamping: count))
        }
        for question in questions {
            bytes += question.name.encoded
            write(question.type)
            write(question.recordClass | (question.wantsUnicast ? Self.topBit : 0))
        }
        for record in records {
            bytes += record.name.encoded
            write(record.type)
            write(record.recordClass | (record.flushesCache ? Self.topBit : 0))
            write(UInt16(record.timeToLive >> 16))
            write(UInt16(truncatingIfNeeded: record.timeToLive))
            write(UInt16(clamping: record.data.count))
            bytes += record.data
        }
        return bytes
    }
}
