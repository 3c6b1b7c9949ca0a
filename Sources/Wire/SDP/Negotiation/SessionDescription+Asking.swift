extension SessionDescription {
    /// Whether an offer asks for sound or pictures, in either direction.
    public var asksForMedia: Bool {
        media.contains { section in
            (section.kind == .audio || section.kind == .video) && !section.isRejected
                && direction(of: section) != .inactive
        }
    }

    /// Whether an offer has data channels that can be answered.
    public var offersDataChannels: Bool {
        media.contains { $0.isDataChannel && $0.isKeepable && $0.sctpPort != nil }
    }
}
