/// Traversal Using Relays around NAT (RFC 8656): the numbers of the protocol.
package enum TURN {
    package enum Method {
        package static let allocate: UInt16 = 3
        package static let refresh: UInt16 = 4
        package static let send: UInt16 = 6
        package static let data: UInt16 = 7
        package static let createPermission: UInt16 = 8
        package static let channelBind: UInt16 = 9
    }

    package enum Attribute {
        package static let channelNumber: UInt16 = 0x000C
        package static let lifetime: UInt16 = 0x000D
        package static let xorPeerAddress: UInt16 = 0x0012
        package static let data: UInt16 = 0x0013
        package static let xorRelayedAddress: UInt16 = 0x0016
        package static let requestedAddressFamily: UInt16 = 0x0017
        package static let requestedTransport: UInt16 = 0x0019
        /// A server that does not know it leaves it out (RFC 8656, section 18.11).
        package static let additionalAddressFamily: UInt16 = 0x8000
    }

    enum ErrorCode {
        static let unauthenticated: UInt16 = 401
        static let forbidden: UInt16 = 403
        static let allocationMismatch: UInt16 = 437
        static let staleNonce: UInt16 = 438
        static let familyNotSupported: UInt16 = 440
        static let wrongCredentials: UInt16 = 441
    }

    /// The numbers of channels (RFC 8656, section 12).
    static let channels: ClosedRange<UInt16> = 0x4000...0x4FFF
    /// The channel number and the length before the data of a channel.
    static let channelHeaderLength = 4
    /// IPv6, as REQUESTED-ADDRESS-FAMILY and ADDITIONAL-ADDRESS-FAMILY name it.
    static let ipv6: UInt8 = 2
    /// UDP, as REQUESTED-TRANSPORT names it: the protocol number of IP.
    static let udp: UInt8 = 17
}
