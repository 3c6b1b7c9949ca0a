import RTP

/// Lets each packet of Opus begin where the one before ends.
///
/// Some encoders take a packet's timestamp from the time at which they finished it, so it moves by 953 or 964 where the
/// packet has 960 samples. Browsers conceal each such difference, which sounds choppy. So a small difference is left out,
/// until the camera's clock is off by a quarter of a packet, the shorter one of the two.
struct OpusGrid {
    /// Where the packet before ends; nil where that is not known.
    private var end: UInt32?
    /// The ticks of the packet before.
    private var length = 0

    /// The timestamp of a packet that the camera has given `timestamp`.
    mutating func place(_ timestamp: UInt32, _ payload: UnsafeRawBufferPointer) -> UInt32 {
        guard let count = Opus.TableOfContents(parsing: payload)?.sampleCount, count > 0 else {
            end = nil
            return timestamp
        }
        var placed = timestamp
        if let end {
            let distance = Int(Int32(bitPattern: timestamp &- end))
            // Packets that were lost, or not sent in silence, leave room for whole packets. An encoder that mixes lengths
            // may have sent them in the shorter one, and the longer one is a multiple of it.
            let unit = min(length, count)
            let absent = max(0, (distance + unit / 2) / unit) * unit
            if abs(distance - absent) <= unit / 4 { placed = end &+ UInt32(truncatingIfNeeded: absent) }
        }
        end = placed &+ UInt32(truncatingIfNeeded: count)
        length = count
        return placed
    }
}
