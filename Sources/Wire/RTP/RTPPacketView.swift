/// An RTP packet read in place (RFC 3550, section 5.1). It owns nothing: the bytes must outlive the view.
///
/// Its bytes have been checked, so none of its properties can fail. A packet may have no payload at all: a sender that
/// probes for bandwidth sends packets of padding only. They are treated as received.
public struct RTPPacketView: BitwiseCopyable {
    /// The whole packet.
    public let bytes: UnsafeRawBufferPointer
    /// The fixed header, the contributing sources and the header extension together, in bytes.
    public let headerLength: Int
    /// The padding at the end in bytes, with its count byte.
    public let paddingLength: Int
    /// Where the elements of the header extension start; equal to ``headerLength`` without an extension.
    @usableFromInline let extensionStart: Int
    /// The 16 bits by which the extension names its own format; zero without an extension.
    @usableFromInline let extensionProfile: UInt16

    /// The length of the header without contributing sources and extension.
    @inlinable public static var fixedHeaderLength: Int { 12 }

    /// Reads and checks a packet.
    @inlinable
    public init(parsing bytes: UnsafeRawBufferPointer) throws(RTPError) {
        guard bytes.count >= Self.fixedHeaderLength else { throw .truncatedHeader(length: bytes.count) }
        let first = bytes[0]
        guard first >> 6 == 2 else { throw .unsupportedVersion(first >> 6) }
        var end = Self.fixedHeaderLength + Int(first & 0x0F) * 4
        guard bytes.count >= end else { throw .truncatedHeader(length: bytes.count) }
        if first & 0x10 == 0 {
            extensionStart = end
            extensionProfile = 0
        } else {
            guard bytes.count >= end + 4 else { throw .truncatedExtension(length: bytes.count) }
            extensionProfile = bytes.bigEndian16(at: end)
            extensionStart = end + 4
            end += 4 + Int(bytes.bigEndian16(at: end + 2)) * 4
            guard bytes.count >= end else { throw .truncatedExtension(length: bytes.count) }
        }
        if first & 0x20 == 0 {
            paddingLength = 0
        } else {
            let available = bytes.count - end
            let count = available > 0 ? bytes[bytes.count - 1] : 0
            guard count > 0, Int(count) <= available else {
                throw .invalidPadding(count: count, available: available)
            }
            paddingLength = Int(count)
        }
        headerLength = end
        self.bytes = bytes
    }

    /// The marker bit; for video it ends a frame.
    @inlinable public var marker: Bool { bytes[1] & 0x80 != 0 }
    /// The payload type, 0 to 127.
    @inlinable public var payloadType: UInt8 { bytes[1] & 0x7F }
    /// The sequence number.
    @inlinable public var sequenceNumber: UInt16 { bytes.bigEndian16(at: 2) }
    /// The sampling instant in ticks of the payload's clock.
    @inlinable public var timestamp: UInt32 { bytes.bigEndian32(at: 4) }
    /// The synchronisation source.
    @inlinable public var ssrc: UInt32 { bytes.bigEndian32(at: 8) }
    /// The number of contributing sources, 0 to 15.
    @inlinable public var contributingSourceCount: Int { Int(bytes[0] & 0x0F) }

    /// One of the contributing sources; nil where the packet has fewer.
    @inlinable
    public func contributingSource(_ index: Int) -> UInt32? {
        guard index >= 0, index < contributingSourceCount else { return nil }
        return bytes.bigEndian32(at: Self.fixedHeaderLength + index * 4)
    }

    /// The payload without the padding; empty for a packet of padding only.
    @inlinable public var payload: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[headerLength..<bytes.count - paddingLength])
    }

    /// The elements of the header extension (RFC 8285); none for a format that RFC 8285 does not describe.
    @inlinable public var headerExtensions: HeaderExtensions {
        HeaderExtensions(
            elements: UnsafeRawBufferPointer(rebasing: bytes[extensionStart..<headerLength]),
            profile: extensionProfile)
    }

    /// The value of the first header extension element with this identifier.
    @inlinable
    public func headerExtension(_ identifier: UInt8) -> UnsafeRawBufferPointer? {
        guard extensionStart != headerLength else { return nil }
        for element in headerExtensions where element.identifier == identifier { return element.value }
        return nil
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian 16 bits at `offset`, which the caller has checked.
    @inlinable @inline(__always)
    func bigEndian16(at offset: Int) -> UInt16 {
        UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// The big-endian 32 bits at `offset`, which the caller has checked.
    @inlinable @inline(__always)
    func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The big-endian 24 bits at `offset`, which the caller has checked.
    @inlinable @inline(__always)
    func bigEndian24(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 16 | UInt32(bigEndian16(at: offset + 1))
    }

    /// The bytes from `offset` on; empty where `offset` is past the end.
    @inlinable @inline(__always)
    func from(_ offset: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[Swift.min(offset, count)...])
    }
}
