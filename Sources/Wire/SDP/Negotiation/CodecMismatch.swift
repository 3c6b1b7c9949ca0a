/// The codecs of two sides that share none.
public struct CodecMismatch: Hashable, Sendable {
    /// What would help.
    public enum Remedy: Hashable, Sendable {
        /// A viewer that plays one of this side's codecs, or a camera stream in one of the viewer's.
        case otherViewerOrStream
        /// A publisher that sends one of this side's codecs.
        case publishOwnCodec
    }

    /// This side's codecs. No two have the same ``MediaCodec/summary``.
    public let own: [MediaCodec]
    /// The codecs that the peer offers, without auxiliary ones. No two have the same ``MediaCodec/summary``.
    public let offered: [MediaCodec]

    /// Compares the codecs of two sides. Auxiliary codecs that the peer offers are left out, and so is a codec that has
    /// the same ``MediaCodec/summary`` as an earlier one.
    public init(own: [MediaCodec], offered: [MediaCodec]) {
        self.own = Self.distinct(own)
        self.offered = Self.distinct(offered.filter { !$0.isAuxiliary })
    }

    private static func distinct(_ codecs: [MediaCodec]) -> [MediaCodec] {
        var seen: Set<String> = []
        return codecs.filter { seen.insert($0.summary).inserted }
    }
}
