/// The RTP header that one viewer gets for one stream, made once: a packet's header is a copy in which the changing
/// fields are overwritten.
///
/// The header has the same length for every packet of a stream. So the packets of a frame have equal lengths and can
/// leave the machine in one segmented send. For that reason each packet carries the media identification (RFC 9143,
/// section 15), not only the first ones.
public struct RTPHeaderTemplate: Sendable {
    /// The header extensions that a stream carries, by the identifiers that `a=extmap` gave them. Only the one-byte
    /// form (RFC 8285, section 4.2) is written: an identifier outside 1 to 14, or a `mid` longer than 16 bytes, is left
    /// out. A receiver must accept that, since extensions are optional (RFC 8285, section 3).
    public struct Extensions: Hashable, Sendable {
        /// The media identification tag and its identifier.
        public var mid: (identifier: UInt8, value: String)? {
            get { midIdentifier.map { ($0, midValue) } }
            set {
                midIdentifier = newValue?.identifier
                midValue = newValue?.value ?? ""
            }
        }
        /// The identifier of the absolute send time.
        public var absoluteSendTime: UInt8?
        /// The identifier of the transport-wide sequence number.
        public var transportSequenceNumber: UInt8?

        private var midIdentifier: UInt8?
        private var midValue = ""

        /// Names the extensions; none by default.
        public init(
            mid: (identifier: UInt8, value: String)? = nil, absoluteSendTime: UInt8? = nil,
            transportSequenceNumber: UInt8? = nil
        ) {
            self.absoluteSendTime = absoluteSendTime
            self.transportSequenceNumber = transportSequenceNumber
            self.mid = mid
        }
    }

    /// The longest header that a template holds: 12 bytes, the extension's head, and its three elements.
    @inlinable public static var maximumLength: Int { 48 }

    @usableFromInline var storage: InlineArray<48, UInt8>
    @usableFromInline var storedLength: Int
    @usableFromInline var absoluteSendTimeOffset: Int
    @usableFromInline var transportSequenceNumberOffset: Int

    /// The length of every header made from this template, in bytes.
    @inlinable public var length: Int { storedLength }
    /// The payload type, 0 to 127.
    public let payloadType: UInt8
    /// The synchronisation source.
    public let ssrc: UInt32

    /// Lays out the header of a stream.
    public init(payloadType: UInt8, ssrc: UInt32, extensions: Extensions = Extensions()) {
        self.payloadType = payloadType & 0x7F
        self.ssrc = ssrc
        storage = InlineArray(repeating: 0)
        absoluteSendTimeOffset = 0
        transportSequenceNumberOffset = 0
        storedLength = RTPPacketView.fixedHeaderLength
        storage[0] = 0x80
        storage[1] = self.payloadType
        for index in 0..<4 { storage[8 + index] = UInt8(truncatingIfNeeded: ssrc >> (24 - 8 * UInt32(index))) }

        var end = length + 4
        if let offset = appendElement(extensions.transportSequenceNumber, length: 2, at: &end) {
            transportSequenceNumberOffset = offset
        }
        if let offset = appendElement(extensions.absoluteSendTime, length: 3, at: &end) {
            absoluteSendTimeOffset = offset
        }
        if let mid = extensions.mid, let offset = appendElement(mid.identifier, length: mid.value.utf8.count, at: &end)
        {
            for (index, byte) in mid.value.utf8.enumerated() { storage[offset + index] = byte }
        }
        guard end > length + 4 else { return }
        let words = (end - length - 4 + 3) / 4
        storage[0] |= 0x10
        storage[length] = 0xBE
        storage[length + 1] = 0xDE
        storage[length + 3] = UInt8(words)
        storedLength += 4 + words * 4
    }

    /// Reserves an element and returns where its value is; nil when the one-byte form cannot hold it.
    private mutating func appendElement(_ identifier: UInt8?, length: Int, at end: inout Int) -> Int? {
        guard let identifier, (1...14).contains(identifier), (1...16).contains(length) else { return nil }
        storage[end] = identifier << 4 | UInt8(length - 1)
        defer { end += 1 + length }
        return end + 1
    }

    /// Writes a packet's header and returns ``length``; zero, with nothing written, where `output` is too short.
    ///
    /// `absoluteSendTime` and `transportSequenceNumber` are ignored where the template does not have the extension.
    @inlinable
    public func write(
        marker: Bool, sequenceNumber: UInt16, timestamp: UInt32, absoluteSendTime: UInt32 = 0,
        transportSequenceNumber: UInt16 = 0, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard output.count >= length, let base = output.baseAddress else { return 0 }
        withUnsafeBytes(of: storage) { source in
            if let source = source.baseAddress { base.copyMemory(from: source, byteCount: length) }
        }
        if marker { output[1] |= 0x80 }
        base.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: 2, as: UInt16.self)
        base.storeBytes(of: timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
        if absoluteSendTimeOffset != 0 {
            output[absoluteSendTimeOffset] = UInt8(truncatingIfNeeded: absoluteSendTime >> 16)
            base.storeBytes(
                of: UInt16(truncatingIfNeeded: absoluteSendTime).bigEndian, toByteOffset: absoluteSendTimeOffset + 1,
                as: UInt16.self)
        }
        if transportSequenceNumberOffset != 0 {
            base.storeBytes(
                of: transportSequenceNumber.bigEndian, toByteOffset: transportSequenceNumberOffset, as: UInt16.self)
        }
        return length
    }
}
