/// One element of an RTP header extension (RFC 8285).
public struct HeaderExtensionElement: BitwiseCopyable {
    /// The local identifier that `a=extmap` gave the extension: 1 to 14 in the one-byte form, 1 to 255 in the two-byte
    /// form.
    public let identifier: UInt8
    /// The value.
    public let value: UnsafeRawBufferPointer

    @inlinable
    init(identifier: UInt8, value: UnsafeRawBufferPointer) {
        self.identifier = identifier
        self.value = value
    }
}

/// Walks the elements of an RTP header extension in the one-byte (RFC 8285, section 4.2) or the two-byte form (section
/// 4.3). An element that reaches past the end ends the walk. So do the elements at which section 4.2 tells a receiver
/// to stop (identifier 15, and identifier 0 with a length).
public struct HeaderExtensions: Sequence, IteratorProtocol, BitwiseCopyable {
    @usableFromInline let elements: UnsafeRawBufferPointer
    @usableFromInline let isTwoByte: Bool
    @usableFromInline var offset: Int

    @inlinable
    init(elements: UnsafeRawBufferPointer, profile: UInt16) {
        self.elements = elements
        isTwoByte = profile & 0xFFF0 == 0x1000
        offset = isTwoByte || profile == 0xBEDE ? 0 : elements.count
    }

    @inlinable
    public mutating func next() -> HeaderExtensionElement? {
        while offset < elements.count {
            let head = elements[offset]
            if head == 0 {
                offset += 1
                continue
            }
            let identifier: UInt8
            let length: Int
            if isTwoByte {
                guard offset + 1 < elements.count else { break }
                identifier = head
                length = Int(elements[offset + 1])
                offset += 2
            } else {
                identifier = head >> 4
                guard identifier != 15, identifier != 0 else { break }
                length = Int(head & 0x0F) + 1
                offset += 1
            }
            guard length <= elements.count - offset else { break }
            let value = UnsafeRawBufferPointer(rebasing: elements[offset..<offset + length])
            offset += length
            return HeaderExtensionElement(identifier: identifier, value: value)
        }
        offset = elements.count
        return nil
    }
}

/// Reads and makes the values of the header extensions that this project uses.
public enum HeaderExtensionValue {
    /// The transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 2).
    @inlinable
    public static func transportSequenceNumber(_ value: UnsafeRawBufferPointer) -> UInt16? {
        value.count >= 2 ? value.bigEndian16(at: 0) : nil
    }

    /// The absolute send time: seconds modulo 64 with 18 fractional bits, in 24 bits
    /// (`http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time`).
    @inlinable
    public static func absoluteSendTime(_ value: UnsafeRawBufferPointer) -> UInt32? {
        value.count == 3 ? value.bigEndian24(at: 0) : nil
    }

    /// The absolute send time of a moment in nanoseconds of any steady clock.
    @inlinable
    public static func absoluteSendTime(nanoseconds: Int64) -> UInt32 {
        // Only seconds modulo 64 matter, which leaves room to shift without overflow.
        let within = UInt64(bitPattern: nanoseconds) % 64_000_000_000
        return UInt32(truncatingIfNeeded: (within << 18) / 1_000_000_000) & 0xFF_FFFF
    }

    /// The shortest and the longest time between the arrival of a picture and its display that the sender wants, in
    /// milliseconds: 12 bits each, in units of 10 ms (`http://www.webrtc.org/experiments/rtp-hdrext/playout-delay`).
    public static func playoutDelay(
        _ value: UnsafeRawBufferPointer
    ) -> (minimumMilliseconds: Int, maximumMilliseconds: Int)? {
        guard value.count == 3 else { return nil }
        let bits = Int(value.bigEndian24(at: 0))
        return (10 * (bits >> 12), 10 * (bits & 0xFFF))
    }

    /// The 24 bits of a playout delay. Times are rounded down to 10 ms, and are at most 40,950 ms.
    public static func playoutDelay(minimumMilliseconds: Int, maximumMilliseconds: Int) -> UInt32 {
        func units(_ milliseconds: Int) -> UInt32 { UInt32(min(max(milliseconds / 10, 0), 0xFFF)) }
        return units(minimumMilliseconds) << 12 | units(maximumMilliseconds)
    }

    /// The audio level of RFC 6464: how far below overload in decibels (0 is loudest, 127 is silence), and whether the
    /// sender considers it a voice.
    @inlinable
    public static func audioLevel(_ value: UnsafeRawBufferPointer) -> (decibelsBelowOverload: UInt8, isVoice: Bool)? {
        value.count >= 1 ? (value[0] & 0x7F, value[0] & 0x80 != 0) : nil
    }
}
