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

    /// Refuses an offer with an `m=` line that no answer could repeat.
    func requireWholeMediaLines() throws(NegotiationError) {
        for (index, section) in media.enumerated() {
            guard let damage = section.damage else { continue }
            throw .invalidDescription(damage, line: lineNumber(ofMediaAt: index))
        }
    }
}

extension MediaDescription {
    /// Whether an answer can keep the description without using it: RTP of any kind, or a data channel.
    var isKeepable: Bool {
        guard !isRejected, !formats.isEmpty else { return false }
        return isWebRTCProfile || isDataChannel
    }
}
