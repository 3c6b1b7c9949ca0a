import Transport

/// A message of the Data Channel Establishment Protocol (RFC 8832, section 5).
public enum DataChannelMessage: Equatable, Sendable {
    /// Opens a channel on the stream that it comes on.
    case open(DataChannelParameters)
    /// Answers it.
    case acknowledgement

    private static let openType: UInt8 = 3
    private static let acknowledgementType: UInt8 = 2

    /// Reads a message; nil if it is not one.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        switch reader.readUInt8() {
        case Self.acknowledgementType: self = .acknowledgement
        case Self.openType:
            guard let type = reader.readUInt8(), let priority = reader.read(UInt16.self),
                let limit = reader.read(UInt32.self), let labelLength = reader.read(UInt16.self),
                let protocolLength = reader.read(UInt16.self),
                Int(labelLength) + Int(protocolLength) <= reader.remaining,
                let reliability = Self.reliability(type & 0x7F, limit),
                let label = reader.readBytes(Int(labelLength)),
                let name = reader.readBytes(Int(protocolLength))
            else { return nil }
            // Text that is not UTF-8 is repaired: a label is only a name.
            self = .open(
                DataChannelParameters(
                    label: String(decoding: label, as: UTF8.self), protocolName: String(decoding: name, as: UTF8.self),
                    isOrdered: type & 0x80 == 0, reliability: reliability, priority: priority))
        default: return nil
        }
    }

    private static func reliability(_ type: UInt8, _ limit: UInt32) -> SCTPMessage.Reliability? {
        switch type {
        case 0: .reliable
        case 1: .retransmissions(limit)
        case 2: .milliseconds(limit)
        default: nil
        }
    }

    /// The bytes of the message. A label or protocol name of more than 65,535 bytes is cut.
    public var bytes: [UInt8] {
        guard case .open(let parameters) = self else { return [Self.acknowledgementType] }
        let label = Array(parameters.label.utf8.prefix(65_535))
        let name = Array(parameters.protocolName.utf8.prefix(65_535))
        var type: UInt8 = 0
        var limit: UInt32 = 0
        switch parameters.reliability {
        case .reliable: break
        case .retransmissions(let most): (type, limit) = (1, most)
        case .milliseconds(let most): (type, limit) = (2, most)
        }
        if !parameters.isOrdered { type |= 0x80 }
        var bytes: [UInt8] = [Self.openType, type]
        for word in [
            parameters.priority, UInt16(limit >> 16), UInt16(limit & 0xFFFF), UInt16(label.count), UInt16(name.count),
        ] {
            bytes += [UInt8(word >> 8), UInt8(word & 0xFF)]
        }
        return bytes + label + name
    }
}

/// What a channel was opened with.
public struct DataChannelParameters: Equatable, Sendable {
    /// The name that the application gave it. Several channels may have the same one.
    public var label: String
    /// The name of the application's protocol; usually empty.
    public var protocolName: String
    /// Whether messages arrive in the order in which they were sent.
    public var isOrdered: Bool
    /// How hard messages are tried.
    public var reliability: SCTPMessage.Reliability
    /// The priority (RFC 8831, section 6.4). It has no effect here.
    public var priority: UInt16

    /// Describes a channel.
    public init(
        label: String, protocolName: String = "", isOrdered: Bool = true,
        reliability: SCTPMessage.Reliability = .reliable, priority: UInt16 = 256
    ) {
        self.label = label
        self.protocolName = protocolName
        self.isOrdered = isOrdered
        self.reliability = reliability
        self.priority = priority
    }
}
