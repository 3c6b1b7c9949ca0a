import RTP

/// Takes the packets of one track. A source is lent one for each track when it reports its tracks, and hands batches
/// straight to it from then on.
public protocol PacketInlet: Sendable {
    /// Takes the packets of one wake-up, usually one frame. Called on the source's thread: it must not wait.
    func deliver(_ batch: PacketBatch)
}
