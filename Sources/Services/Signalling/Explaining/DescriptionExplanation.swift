import SDP

/// How to read a session description.
public enum DescriptionReading: String, Hashable, Sendable, CaseIterable {
    /// A viewer's offer, as `/whep` and the API accept it.
    case viewer
    /// A publisher's offer, as `/whip` accepts it.
    case publisher
    /// An answer to an offer of `gatehouse live`.
    case answer
    /// A camera's description, as the RTSP client reads it.
    case camera
}

/// What a description means for this gateway, in words: what would play, what would not, and why.
public struct DescriptionExplanation: Hashable, Sendable, Codable {
    /// What the description is.
    public enum Role: String, Hashable, Sendable, Codable {
        /// A WebRTC offer.
        case offer
        /// A WebRTC answer.
        case answer
        /// A camera's description for RTSP.
        case camera
    }

    /// What the description is.
    public var role: Role
    /// The endpoint for such an offer: `whep` for a viewer's, `whip` for a publisher's; nil if it is not an offer.
    public var endpoint: String?
    /// The explanation; each element is a sentence or a list item.
    public var lines: [String]
    /// Why nothing of it can be used, and the line that shows it (0 for the description as a whole); nil for a usable
    /// description.
    public var fault: SessionDescription.Problem?

    /// Whether anything of the description can be used.
    public var isUsable: Bool { fault == nil }
}

extension SessionDescription {
    /// The reading of a description unless the caller names one. A description with ICE or DTLS is an offer, because
    /// the gateway is only ever sent offers: an answer looks the same as an offer that has already chosen its DTLS
    /// role.
    public var likelyReading: DescriptionReading {
        let levels: [any DescriptionSection] = media + [self]
        let isWebRTC =
            levels.contains {
                $0.iceUsernameFragment != nil || !$0.values(of: "fingerprint").isEmpty || $0.setup != nil
            }
            || media.contains { $0.transportProtocol.uppercased().contains("TLS") }
        return isWebRTC ? likelyOffer : .camera
    }

    /// Whose offer the description is: a publisher's, if it sends and asks for nothing.
    public var likelyOffer: DescriptionReading {
        let directions = media.filter { !$0.isRejected && ($0.kind == .audio || $0.kind == .video) }.map(direction)
        return directions.contains(where: \.sends) && !directions.contains(where: \.receives) ? .publisher : .viewer
    }

    /// Whether the offer may come from a viewer or a publisher: browsers offer to receive what they send unless the
    /// page says otherwise, and some viewers offer to send a picture that nobody receives.
    public var mayBeEitherOffer: Bool {
        media.contains { section in
            !section.isRejected && section.kind == .video && direction(of: section) == .sendrecv
        }
    }

    /// Whether the description may be an answer: only an offer leaves the DTLS roles open.
    var mayBeAnswer: Bool {
        let levels: [any DescriptionSection] = media + [self]
        let setups = levels.compactMap(\.setup)
        return !setups.contains(.actpass) && setups.contains { $0 == .active || $0 == .passive }
    }
}
