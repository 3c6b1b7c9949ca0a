import COpus

/// What an Opus packet states about itself, without being decoded (RFC 6716, section 3).
public enum OpusPacket {
    /// How many samples per channel it holds at 48 kHz; nil if it is malformed.
    public static func sampleCount(_ packet: UnsafeRawBufferPointer) -> Int? {
        guard let bytes = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0 else { return nil }
        let count = opus_packet_get_nb_samples(bytes, Int32(clamping: packet.count), 48_000)
        return count > 0 ? Int(count) : nil
    }

    /// Whether it also holds the sound before its own, coded more coarsely (low bit-rate redundancy, section 4.2.5).
    public static func hasRedundancy(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard let bytes = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0 else { return false }
        // Configurations from 16 on are CELT alone, which has none (section 3.1).
        guard bytes[0] >> 3 < 16 else { return false }
        var sizes = [Int16](repeating: 0, count: 48)
        var frames = [UnsafePointer<UInt8>?](repeating: nil, count: 48)
        let count = opus_packet_parse(bytes, Int32(clamping: packet.count), nil, &frames, &sizes, nil)
        guard count > 0, sizes[0] > 0, let frame = frames[0] else { return false }
        // The SILK layer begins with a flag for each 20 ms of voice activity and one for redundancy, for each channel
        // (section 4.2.3). The first bits of a range coder's output are its first symbols where each is as likely as not.
        let parts = max(1, Int(opus_packet_get_samples_per_frame(bytes, 48_000)) / 960)
        let flags = Int(frame[0])
        if flags >> (7 - parts) & 1 == 1 { return true }
        let isStereo = opus_packet_get_nb_channels(bytes) == 2
        return isStereo && flags >> (6 - 2 * parts) & 1 == 1
    }
}
