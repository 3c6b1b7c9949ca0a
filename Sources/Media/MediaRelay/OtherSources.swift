import Transport

/// The sources that send beside a track's own: the same encoder under a new number, another program, or another layer of
/// the picture (RFC 8853), which some encoders send although the answer names none.
///
/// A few are kept, so a publisher that invents numbers fills no memory.
struct OtherSources {
    /// One of them.
    struct Source {
        let ssrc: UInt32
        /// When it began to send.
        var begin: Instant
        /// Its first packet since the track's own source last sent.
        var alone: Instant
        /// Its last packet.
        var last: Instant
    }

    /// Some more than the layers of a picture before and after all of them change their numbers.
    static let limit = 8

    private var sources: [Source] = []

    init() { sources.reserveCapacity(Self.limit) }

    /// Records a packet of one of them. `own` is when the track's own source last sent; nil if it never has.
    mutating func record(_ ssrc: UInt32, own: Instant?, at now: Instant) -> Source {
        guard let index = sources.firstIndex(where: { $0.ssrc == ssrc }) else {
            let source = Source(ssrc: ssrc, begin: now, alone: now, last: now)
            if sources.count < Self.limit {
                sources.append(source)
            } else if let oldest = sources.indices.min(by: { sources[$0].last < sources[$1].last }) {
                sources[oldest] = source
            }
            return source
        }
        var source = sources[index]
        if now - source.last >= IngestTrack.silence { source.begin = now }
        if let own, source.alone <= own { source.alone = now }
        source.last = now
        sources[index] = source
        return source
    }

    /// Forgets one of them, because it has become the track's own.
    mutating func remove(_ ssrc: UInt32) { sources.removeAll { $0.ssrc == ssrc } }
}
