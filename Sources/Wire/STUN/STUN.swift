import Transport

/// Session Traversal Utilities for NAT (RFC 8489), as far as ICE (RFC 8445) uses it.
public enum STUN {
    /// The fixed value that every message carries after its length (RFC 8489, section 5).
    public static let magicCookie: UInt32 = 0x2112_A442
    /// The length of the message header in bytes.
    public static let headerLength = 20
    /// A buffer of this many bytes holds every message that an ICE agent sends: the header, a USERNAME of 513 bytes
    /// at most, and the fixed attributes of a connectivity check.
    public static let sufficientBufferSize = 640

    /// Whether a datagram that starts with `firstByte` is STUN, where STUN shares a port with DTLS and SRTP
    /// (RFC 7983, section 7).
    @inlinable
    public static func isSTUN(firstByte: UInt8) -> Bool {
        firstByte <= 3
    }
}

/// What a message is for (RFC 8489, section 5).
public enum STUNMessageClass: UInt8, Sendable, BitwiseCopyable {
    /// Asks for a response.
    case request = 0b00
    /// Asks for nothing.
    case indication = 0b01
    /// The request was carried out.
    case successResponse = 0b10
    /// The request was refused.
    case errorResponse = 0b11
}

/// The 96 bits that tie a response to its request (RFC 8489, section 5).
public struct STUNTransactionID: Hashable, Sendable, BitwiseCopyable {
    /// The first 32 bits.
    public let high: UInt32
    /// The last 64 bits.
    public let low: UInt64

    /// Makes an identifier from its bits.
    public init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The identifier of a Binding response, success or error; nil for anything else. Reads only the header.
    public init?(ofBindingResponse datagram: UnsafeRawBufferPointer) {
        guard datagram.count >= STUN.headerLength, datagram[0] == 0x01, datagram[1] & 0xEF == 0x01 else { return nil }
        high = UInt32(bigEndian: datagram.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        low = UInt64(bigEndian: datagram.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
    }

    /// Makes an identifier that cannot be guessed if `random` is secure.
    ///
    /// - Parameter mark: The first byte; nil for a random one. Deviation from RFC 8489, section 5, which wants all 96
    ///   bits uniformly random: one port may serve several threads, and the mark says which of them an answer is for
    ///   without asking all of them. 88 bits stay random, and an answer is authenticated besides.
    public init(using random: inout RandomSource, mark: UInt8? = nil) {
        let high = UInt32(truncatingIfNeeded: random.next())
        self.init(high: mark.map { UInt32($0) << 24 | high & 0x00FF_FFFF } ?? high, low: random.next())
    }

    /// The identifier's first byte, see ``init(using:mark:)``.
    public var mark: UInt8 { UInt8(high >> 24) }
}

/// The types of the attributes that this module knows (RFC 8489, section 18.3; RFC 8445, section 16.1).
public enum STUNAttributeType {
    public static let mappedAddress: UInt16 = 0x0001
    public static let username: UInt16 = 0x0006
    public static let messageIntegrity: UInt16 = 0x0008
    public static let errorCode: UInt16 = 0x0009
    public static let unknownAttributes: UInt16 = 0x000A
    public static let realm: UInt16 = 0x0014
    public static let nonce: UInt16 = 0x0015
    public static let messageIntegritySHA256: UInt16 = 0x001C
    public static let passwordAlgorithm: UInt16 = 0x001D
    public static let userhash: UInt16 = 0x001E
    public static let xorMappedAddress: UInt16 = 0x0020
    public static let priority: UInt16 = 0x0024
    public static let useCandidate: UInt16 = 0x0025
    public static let software: UInt16 = 0x8022
    public static let fingerprint: UInt16 = 0x8028
    public static let iceControlled: UInt16 = 0x8029
    public static let iceControlling: UInt16 = 0x802A

    /// Whether a message with an attribute of this type can be processed. A receiver ignores types from 0x8000 on that
    /// it does not know (RFC 8489, section 14).
    static func isUnderstood(_ type: UInt16) -> Bool {
        switch type {
        case mappedAddress, username, messageIntegrity, errorCode, unknownAttributes, realm, nonce,
            messageIntegritySHA256, passwordAlgorithm, userhash, xorMappedAddress, priority, useCandidate:
            true
        default: type >= 0x8000
        }
    }
}

/// The error codes that an ICE agent uses (RFC 8489, section 14.8; RFC 8445, section 16.2).
public enum STUNErrorCode {
    public static let badRequest: UInt16 = 400
    public static let unauthenticated: UInt16 = 401
    public static let unknownAttribute: UInt16 = 420
    public static let roleConflict: UInt16 = 487
    public static let serverError: UInt16 = 500

    /// The recommended reason phrase.
    static func reasonPhrase(_ code: UInt16) -> StaticString {
        switch code {
        case badRequest: "Bad Request"
        case unauthenticated: "Unauthenticated"
        case unknownAttribute: "Unknown Attribute"
        case roleConflict: "Role Conflict"
        default: "Server Error"
        }
    }
}
