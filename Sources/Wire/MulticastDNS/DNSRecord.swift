public import Transport

/// The types of records that Gatehouse knows (RFC 1035, section 3.2.2; RFC 3596; RFC 4034). Others pass through by their number.
public enum DNSType {
    /// An IPv4 address.
    public static let a: UInt16 = 1
    /// An IPv6 address.
    public static let aaaa: UInt16 = 28
    /// Which types a name has.
    public static let nsec: UInt16 = 47
    /// All types, in a question.
    public static let any: UInt16 = 255
}

/// The classes of records (RFC 1035, section 3.2.4).
public enum DNSClass {
    /// The Internet.
    public static let internet: UInt16 = 1
    /// Any class, in a question.
    public static let any: UInt16 = 255
}

/// A question.
public struct DNSQuestion: Hashable, Sendable {
    /// The name that is asked for.
    public var name: DNSName
    /// The type of record, for example ``DNSType/a``.
    public var type: UInt16
    /// The class, without the top bit.
    public var recordClass = DNSClass.internet
    /// Whether the answer may go to the questioner alone (the top bit of the class; RFC 6762, section 5.4).
    public var wantsUnicast = false

    /// Describes a question.
    public init(_ name: DNSName, type: UInt16) {
        self.name = name
        self.type = type
    }

    /// Whether a record of `name` and `type` answers the question.
    func asks(for name: DNSName, _ type: UInt16) -> Bool {
        self.name == name && (self.type == type || self.type == DNSType.any)
            && (recordClass == DNSClass.internet || recordClass == DNSClass.any)
    }
}

/// A record.
public struct DNSRecord: Hashable, Sendable {
    /// The name that the record belongs to.
    public var name: DNSName
    /// Its type.
    public var type: UInt16
    /// Its class, without the top bit.
    public var recordClass = DNSClass.internet
    /// Whether older records of the name and type are no longer true (the top bit of the class; RFC 6762, section 10.2).
    public var flushesCache = false
    /// For how many seconds the record may be kept; 0 says that it is no longer true.
    public var timeToLive: UInt32
    /// The data as it is in the message. Names in them may be compressed, and are not read.
    public var data: [UInt8]

    /// Describes a record.
    public init(_ name: DNSName, type: UInt16, timeToLive: UInt32, data: [UInt8]) {
        self.name = name
        self.type = type
        self.timeToLive = timeToLive
        self.data = data
    }

    /// The record of an address: A or AAAA.
    public init(_ name: DNSName, _ address: TransportAddress, timeToLive: UInt32) {
        func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
        }
        switch address.family {
        case .ipv4: self.init(name, type: DNSType.a, timeToLive: timeToLive, data: bytes(address.low, 4))
        case .ipv6:
            self.init(
                name, type: DNSType.aaaa, timeToLive: timeToLive, data: bytes(address.high, 8) + bytes(address.low, 8))
        }
    }

    /// The address of an A or AAAA record, with port 0; nil for other records.
    public var address: TransportAddress? {
        guard recordClass == DNSClass.internet else { return nil }
        func value(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch (type, data.count) {
        case (DNSType.a, 4): return TransportAddress(ipv4: UInt32(value(data[...])), port: 0)
        case (DNSType.aaaa, 16):
            return TransportAddress(ipv6High: value(data[..<8]), low: value(data[8...]), port: 0)
        default: return nil
        }
    }

    /// A record that says which types a name has, so that nobody waits for others (RFC 6762, section 6.1).
    static func types(_ types: Set<UInt16>, of name: DNSName, timeToLive: UInt32) -> DNSRecord {
        // Types below 256 stand in window 0, the lowest type in the top bit of the first byte (RFC 4034, section 4.1.2).
        var bitmap = [UInt8](repeating: 0, count: Int(types.max() ?? 0) / 8 + 1)
        for type in types where type < 256 { bitmap[Int(type) / 8] |= 0x80 >> UInt8(type % 8) }
        return DNSRecord(
            name, type: DNSType.nsec, timeToLive: timeToLive, data: name.encoded + [0, UInt8(bitmap.count)] + bitmap)
    }
}
