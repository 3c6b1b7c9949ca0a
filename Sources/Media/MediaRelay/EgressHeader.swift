/// Writes the RTP headers of one stream to one viewer (RFC 3550, section 5.1; the extension by RFC 8285, section 4.2).
///
/// All of them have the same length, so that the packets of a frame can share one send.
struct EgressHeader: BitwiseCopyable {
    private let payloadType: UInt8
    private let ssrc: UInt32
    private let transportSequenceExtension: UInt8?

    init(payloadType: UInt8, ssrc: UInt32, transportSequenceExtension: UInt8?) {
        self.payloadType = payloadType & 0x7F
        self.ssrc = ssrc
        self.transportSequenceExtension = transportSequenceExtension
    }

    /// Whether the packets have a transport-wide sequence number.
    @inline(__always)
    var isNumbered: Bool { transportSequenceExtension != nil }

    /// The length in bytes.
    @inline(__always)
    var length: Int { transportSequenceExtension == nil ? 12 : 20 }

    /// Writes the header of the packet with this index into `output`, which must have room for ``length`` bytes.
    @inline(__always)
    func write(
        marker: Bool, index: UInt64, timestamp: UInt32, transportSequence: UInt16,
        into output: UnsafeMutableRawBufferPointer
    ) {
        output[0] = transportSequenceExtension == nil ? 0x80 : 0x90
        output[1] = payloadType | (marker ? 0x80 : 0)
        output.storeBytes(of: UInt16(truncatingIfNeeded: index).bigEndian, toByteOffset: 2, as: UInt16.self)
        output.storeBytes(of: timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
        output.storeBytes(of: ssrc.bigEndian, toByteOffset: 8, as: UInt32.self)
        if let identifier = transportSequenceExtension {
            output.storeBytes(of: UInt32(0xBEDE_0001).bigEndian, toByteOffset: 12, as: UInt32.self)
            let element = UInt32(identifier) << 28 | 1 << 24 | UInt32(transportSequence) << 8
            output.storeBytes(of: element.bigEndian, toByteOffset: 16, as: UInt32.self)
        }
    }
}
