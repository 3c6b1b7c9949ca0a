import RTP

/// Discards packets that nobody wants.
public struct ClosedInlet: PacketInlet {
    /// An inlet that leads nowhere.
    public init() {}

    public func deliver(_ batch: PacketBatch) {}
}
