import RTP

/// Takes packets that nobody wants any more.
public struct ClosedInlet: PacketInlet {
    /// An inlet that leads nowhere.
    public init() {}

    public func deliver(_ batch: PacketBatch) {}
}
