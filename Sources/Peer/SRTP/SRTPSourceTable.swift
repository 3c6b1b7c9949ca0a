/// What a receiver records about one source: its current number, and which packets have already come.
struct SRTPSource: BitwiseCopyable {
    let synchronizationSource: UInt32
    var window = ReplayWindow()
    /// When the source last sent, counted in authenticated packets.
    var lastHeard: UInt64 = 0

    /// The 48-bit index that a packet with `sequenceNumber` most likely has, given the greatest one so far (RFC 3711,
    /// section 3.3.1 and appendix A); nil for a packet that would come before the first.
    static func estimateIndex(sequenceNumber: UInt16, after highest: UInt64) -> UInt64? {
        let rollover = highest >> 16
        let last = UInt16(truncatingIfNeeded: highest)
        let guess: UInt64
        if last < 0x8000 {
            if sequenceNumber > last, sequenceNumber &- last > 0x8000 {
                guard rollover > 0 else { return nil }
                guess = rollover &- 1
            } else {
                guess = rollover
            }
        } else {
            guess = last &- 0x8000 > sequenceNumber ? rollover &+ 1 : rollover
        }
        return (guess & 0xFFFF_FFFF) << 16 | UInt64(sequenceNumber)
    }
}

/// The sources of a session, usually a few. When a peer invents more, the receiver drops the one that has been silent
/// longest, so memory and the search stay bounded.
struct SRTPSourceTable {
    private var sources: [SRTPSource] = []
    private var accepted: UInt64 = 0

    /// The most sources. A live view has at most four: sound and picture, each with its retransmissions.
    static let limit = 32

    var count: Int { sources.count }

    subscript(_ synchronizationSource: UInt32) -> SRTPSource? {
        for source in sources where source.synchronizationSource == synchronizationSource { return source }
        return nil
    }

    /// Records an authenticated packet.
    mutating func note(_ index: UInt64, of synchronizationSource: UInt32) {
        accepted &+= 1
        for position in sources.indices where sources[position].synchronizationSource == synchronizationSource {
            sources[position].window.note(index)
            sources[position].lastHeard = accepted
            return
        }
        var source = SRTPSource(synchronizationSource: synchronizationSource)
        source.window.note(index)
        source.lastHeard = accepted
        if sources.count < Self.limit {
            sources.append(source)
        } else if let oldest = sources.indices.min(by: { sources[$0].lastHeard < sources[$1].lastHeard }) {
            sources[oldest] = source
        }
    }
}
