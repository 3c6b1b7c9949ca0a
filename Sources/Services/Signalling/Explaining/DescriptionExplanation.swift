import SDP

/// As what a session description is read.
public enum DescriptionReading: String, Hashable, Sendable, CaseIterable {
    /// A viewer's offer, as `/whep` and the API take it.
    case viewer
    /// A publisher's offer, as `/whip` takes it.
    case publisher
    /// An answer to an offer of `gatehouse live`.
    case answer
    /// A camera's description, as the RTSP client takes it.
    case camera
}

/// Says in words what a description means for this gateway: what would play, what would not, and why.
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
    /// Where the gateway takes such an offer: `whep` for a viewer's, `whip` for a publisher's; nil for what is no offer.
    public var endpoint: String?
    /// The explanation, a sentence or a list item each.
    public var lines: [String]
    /// Why nothing of it can be used, and the line where that shows (0 for the description as a whole); nil for a usable
    /// description.
    public var fault: SessionDescription.Problem?

    /// Whether anything of the description can be used.
    public var isUsable: Bool { fault == nil }
}

extension SessionDescription {
    /// As what the description is read unless somebody knows better. What has ICE or DTLS is an offer, since that is all
    /// that the gateway is ever sent: an answer looks the same as an offer whose maker has chosen its DTLS role.
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

    /// Whether both a viewer and a publisher may have made the offer: browsers offer to receive what they send unless they
    /// are told otherwise, and some viewers offer a picture though nobody takes it.
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
