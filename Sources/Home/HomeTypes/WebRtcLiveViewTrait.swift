/// The size of picture that a viewer would like.
///
/// Its JSON form is the name (`"hd"`); the raw number is read too.
public enum QualityHint: UInt64, Sendable, CaseIterable, Codable {
    case unspecified, sd, hd, fhd, qhd, uhd

    /// The name on the wire.
    public var name: String {
        switch self {
        case .unspecified: "unspecified"
        case .sd: "sd"
        case .hd: "hd"
        case .fhd: "fhd"
        case .qhd: "qhd"
        case .uhd: "uhd"
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(UInt64.self), let hint = Self(rawValue: number) {
            self = hint
            return
        }
        let name = try? container.decode(String.self)
        guard let hint = Self.allCases.first(where: { $0.name == name }) else {
            let names = Self.allCases.map(\.name).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected one of \(names)")
        }
        self = hint
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.name)
    }
}

extension Google {
    /// Live view over WebRTC: a session is a lease that the viewer extends (Home APIs, `WebRtcLiveViewTrait`).
    public struct WebRtcLiveViewTrait: Trait {
        /// How talkback reaches the device.
        public enum TalkbackType: String, Sendable, Codable, CaseIterable {
            /// The device accepts audio directly on the negotiated media.
            case directly
            /// The device needs a further offer and answer.
            case renegotiation
        }

        public static let identifier = TraitIdentifier.webRtcLiveView
        public static let name = "WebRtcLiveView"
        public static let supportedCommandTypes = [
            "startLiveView", "extendLiveView", "stopLiveView", "startTalkback", "stopTalkback", "changeLiveViewQuality",
        ]
        public static let supportedEventTypes: [String] = []

        /// The kind of talkback, or nil when the device has no speaker.
        public var supportedTalkbackType: TalkbackType?

        /// Describes the trait's state.
        public init(supportedTalkbackType: TalkbackType?) {
            self.supportedTalkbackType = supportedTalkbackType
        }
    }
}

extension Google.WebRtcLiveViewTrait {
    /// The parameters of `startLiveView`.
    public struct StartLiveViewParameters: Sendable, Codable, Equatable {
        /// The SDP offer of the side that will show the stream.
        public var offerSdp: String
        /// The size of picture that the viewer would like.
        public var qualityHint: QualityHint?

        /// Describes a start.
        public init(offerSdp: String, qualityHint: QualityHint? = nil) {
            self.offerSdp = offerSdp
            self.qualityHint = qualityHint
        }
    }

    /// The result of `startLiveView`.
    public struct StartLiveViewResult: Sendable, Codable, Equatable {
        /// The opaque name of the session.
        public var mediaSessionId: String
        /// The SDP answer with all candidates.
        public var answerSdp: String
        /// The length of the lease in seconds.
        public var liveSessionDurationSeconds: UInt16
        /// In words, which parts of the offer were not used, and why. An addition of this gateway.
        public var notes: [String]?

        /// Describes a started session.
        public init(
            mediaSessionId: String, answerSdp: String, liveSessionDurationSeconds: UInt16, notes: [String]? = nil
        ) {
            self.mediaSessionId = mediaSessionId
            self.answerSdp = answerSdp
            self.liveSessionDurationSeconds = liveSessionDurationSeconds
            self.notes = notes
        }
    }

    /// The parameters of `extendLiveView`.
    public struct ExtendLiveViewParameters: Sendable, Codable, Equatable {
        /// The session.
        public var mediaSessionId: String
        /// The seconds from now that are asked for; the gateway decides.
        public var extendedDurationSeconds: UInt16?

        /// Describes an extension.
        public init(mediaSessionId: String, extendedDurationSeconds: UInt16? = nil) {
            self.mediaSessionId = mediaSessionId
            self.extendedDurationSeconds = extendedDurationSeconds
        }
    }

    /// The result of `extendLiveView`.
    public struct ExtendLiveViewResult: Sendable, Codable, Equatable {
        /// The granted seconds from now.
        public var liveSessionDurationSeconds: UInt16

        /// Describes a granted extension.
        public init(liveSessionDurationSeconds: UInt16) {
            self.liveSessionDurationSeconds = liveSessionDurationSeconds
        }
    }

    /// The parameters of `stopLiveView` and `stopTalkback`.
    public struct SessionParameters: Sendable, Codable, Equatable {
        /// The session.
        public var mediaSessionId: String

        /// Names a session.
        public init(mediaSessionId: String) {
            self.mediaSessionId = mediaSessionId
        }
    }

    /// The parameters of `startTalkback`.
    public struct StartTalkbackParameters: Sendable, Codable, Equatable {
        /// The session.
        public var mediaSessionId: String
        /// A further offer, for devices of the kind `renegotiation`.
        public var offerSdp: String?

        /// Describes a start of talkback.
        public init(mediaSessionId: String, offerSdp: String? = nil) {
            self.mediaSessionId = mediaSessionId
            self.offerSdp = offerSdp
        }
    }

    /// The parameters of `changeLiveViewQuality`.
    public struct ChangeLiveViewQualityParameters: Sendable, Codable, Equatable {
        /// The session.
        public var mediaSessionId: String
        /// The size of picture that the viewer would like.
        public var qualityHint: QualityHint

        /// Describes a change.
        public init(mediaSessionId: String, qualityHint: QualityHint) {
            self.mediaSessionId = mediaSessionId
            self.qualityHint = qualityHint
        }
    }

    /// The result of `changeLiveViewQuality`.
    public struct ChangeLiveViewQualityResult: Sendable, Codable, Equatable {
        /// The quality in use: the nearest that the camera has.
        public var qualityHint: QualityHint

        /// Describes the quality in use.
        public init(qualityHint: QualityHint) {
            self.qualityHint = qualityHint
        }
    }
}
