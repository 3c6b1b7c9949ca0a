import Transport

/// A domain name. Names are equal whatever the case of their ASCII letters (RFC 6762, section 16), so it holds lower case only.
public struct DNSName: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a name on the wire, with the lengths of its labels (RFC 1035, section 3.1).
    static let maximumSize = 255

    /// The labels in lower case, without the root.
    public let labels: [[UInt8]]

    init(labels: [[UInt8]]) { self.labels = labels }

    /// Reads `gatehouse.local`; nil unless each label has 1 to 63 bytes and all of them fit into a name.
    public init?(_ text: some StringProtocol) {
        var labels: [[UInt8]] = []
        for label in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...63).contains(label.count) else { return nil }
            labels.append(label.map(Self.lowercased))
        }
        guard !labels.isEmpty, labels.reduce(1, { $0 + $1.count + 1 }) <= Self.maximumSize else { return nil }
        self.labels = labels
    }

    /// The name with dots, for people.
    public var description: String { labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".") }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// Reads a name. A pointer must lead to an earlier place than the one before it, so no name is endless (RFC 1035, section
    /// 4.1.4).
    init(from reader: inout ByteReader, in message: UnsafeRawBufferPointer) throws(DNSError) {
        var labels: [[UInt8]] = []
        var size = 1
        var place = reader
        var limit = reader.offset
        var isBehindPointer = false
        while true {
            guard let length = place.readUInt8() else { throw .truncated }
            switch length >> 6 {
            case 0 where length == 0:
                if !isBehindPointer { reader = place }
                self.labels = labels
                return
            case 0:
                size += Int(length) + 1
                guard size <= Self.maximumSize else { throw .invalidName }
                guard let label = place.readBytes(Int(length)) else { throw .truncated }
                labels.append(label.map(Self.lowercased))
            case 3:
                guard let low = place.readUInt8() else { throw .truncated }
                if !isBehindPointer { reader = place }
                isBehindPointer = true
                let target = Int(length & 0x3F) << 8 | Int(low)
                guard target < limit else { throw .invalidName }
                limit = target
                place = ByteReader(message)
                guard place.skip(target) else { throw .invalidName }
            default: throw .invalidName
            }
        }
    }

    /// The name on the wire, without compression.
    var encoded: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }
}

/// Why a message of DNS cannot be read.
public enum DNSError: Error, Hashable, Sendable {
    /// It ends in the middle of a field.
    case truncated
    /// A name is too long, or its pointers lead forwards.
    case invalidName
    /// It has more questions or records than anybody needs.
    case tooManyRecords
    /// It is not a message of multicast DNS: another operation, or an answer that reports an error (RFC 6762, sections 18.3 and
    /// 18.11).
    case otherOperation
}
