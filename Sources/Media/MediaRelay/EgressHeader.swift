import RTP

/// Writes the RTP headers of one stream to one viewer (RFC 3550, section 5.1; the extensions by RFC 8285, section 4.2).
///
/// All packets of a frame have headers of the same length, so that they can share one send.
struct EgressHeader: BitwiseCopyable {
    private let payloadType: UInt8
    private let ssrc: UInt32
    private let transportSequenceExtension: UInt8?
    /// The extension element that key frames carry; zero for none.
    private let playoutDelay: UInt32

    init(payloadType: UInt8, ssrc: UInt32, transportSequenceExtension: UInt8?, playoutDelayExtension: UInt8?) {
        self.payloadType = payloadType & 0x7F
        self.ssrc = ssrc
        self.transportSequenceExtension = transportSequenceExtension
        playoutDelay = playoutDelayExtension.map(PlayoutDelay.element) ?? 0
    }

    /// Whether the packets have a transport-wide sequence number.
    @inline(__always)
    var isNumbered: Bool { transportSequenceExtension != nil }

    /// Whether a packet with these flags has the playout delay (see ``PlayoutDelay``).
    @inline(__always)
    private func hasPlayoutDelay(_ flags: PacketBatch.Flags) -> Bool {
        playoutDelay != 0 && flags.contains(.keyFrame)
    }

    /// The length in bytes of the header of a packet with these flags.
    @inline(__always)
    func length(of flags: PacketBatch.Flags) -> Int {
        let words = (isNumbered ? 1 : 0) + (hasPlayoutDelay(flags) ? 1 : 0)
        return words == 0 ? 12 : 16 + 4 * words
    }

    /// Writes the header of the packet with this index and these flags into `output`, which must have room for
    /// ``length(of:)`` bytes.
    @inline(__always)
    func write(
        flags: PacketBatch.Flags, index: UInt64, timestamp: UInt32, transportSequence: UInt16,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let hasPlayoutDelay = hasPlayoutDelay(flags)
        output[0] = isNumbered || hasPlayoutDelay ? 0x90 : 0x80
        output[1] = payloadType | (flags.contains(.marker) ? 0x80 : 0)
        output.storeBytes(of: UInt16(truncatingIfNeeded: index).bigEndian, toByteOffset: 2, as: UInt16.self)
        output.storeBytes(of: timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
        output.storeBytes(of: ssrc.bigEndian, toByteOffset: 8, as: UInt32.self)
        if let identifier = transportSequenceExtension {
            let element = UInt32(identifier) << 28 | 1 << 24 | UInt32(transportSequence) << 8
            if hasPlayoutDelay {
                output.storeBytes(of: UInt32(0xBEDE_0002).bigEndian, toByteOffset: 12, as: UInt32.self)
                // Three bytes, four bytes, and one of padding.
                let elements = UInt64(element) << 32 | UInt64(playoutDelay) << 8
                output.storeBytes(of: elements.bigEndian, toByteOffset: 16, as: UInt64.self)
            } else {
                output.storeBytes(of: UInt32(0xBEDE_0001).bigEndian, toByteOffset: 12, as: UInt32.self)
                output.storeBytes(of: element.bigEndian, toByteOffset: 16, as: UInt32.self)
            }
        } else if hasPlayoutDelay {
            output.storeBytes(of: UInt32(0xBEDE_0001).bigEndian, toByteOffset: 12, as: UInt32.self)
            output.storeBytes(of: playoutDelay.bigEndian, toByteOffset: 16, as: UInt32.self)
        }
    }
}
