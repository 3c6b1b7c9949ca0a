import HomeTypes

/// The state of one live-view session, as `GET /v1/sessions` shows it.
public struct LiveViewSnapshot: Sendable, Codable, Equatable {
    /// One step of a start, and when it ended.
    public struct Step: Sendable, Codable, Equatable {
        /// `offer`, `answer`, `firstCheck`, `pair`, `dtls`, `firstPacket`, `firstKeyFrame`, in order.
        public var name: String
        /// Milliseconds since the offer was received.
        public var milliseconds: Double

        /// Describes a step.
        public init(name: String, milliseconds: Double) {
            self.name = name
            self.milliseconds = milliseconds
        }
    }

    /// Counters of what was sent and what the viewer reported.
    public struct Statistics: Sendable, Codable, Equatable {
        /// RTP packets sent, without retransmissions.
        public var packetsSent: UInt64 = 0
        /// RTP payload bytes sent.
        public var bytesSent: UInt64 = 0
        /// Packets retransmitted.
        public var packetsRetransmitted: UInt64 = 0
        /// Frames that were skipped because the viewer was too slow.
        public var framesDropped: UInt64 = 0
        /// Key frames that the viewer asked for.
        public var keyFrameRequests: UInt64 = 0
        /// The share of packets lost as the viewer last reported it, 0 to 1.
        public var fractionLost: Double = 0
        /// The round-trip time in milliseconds by RTCP, 0 while unknown.
        public var roundTripMilliseconds: Double = 0
        /// What the viewer's path carries in bits a second, with all headers: the limit where there is one, otherwise the
        /// highest rate that has arrived. 0 while unknown.
        public var estimatedBitrate: UInt64 = 0
        /// Whether less than everything is sent, because the path does not carry it.
        public var isLimited = false
        /// Talkback packets received.
        public var talkbackPackets: UInt64 = 0
        /// Datagrams from the viewer that were refused: forged, damaged, or repeated.
        public var refusedDatagrams: UInt64 = 0

        /// No counts yet.
        public init() {}
    }

    /// The state of a session.
    public enum State: String, Sendable, Codable {
        /// The viewer's connection is being made.
        case connecting
        /// Media can flow.
        case connected
        /// The session is over.
        case ended
    }

    /// How media reaches the viewer.
    public enum Path: String, Sendable, Codable {
        /// From the gateway's machine to the viewer's.
        case direct
        /// Through a router that translates addresses.
        case reflexive
        /// Through a TURN server.
        case relayed
        /// Over TCP.
        case tcp
    }

    /// Which of the camera's streams the picture is from, and why.
    public struct Stream: Sendable, Codable, Equatable {
        /// One of the streams of a camera.
        public enum Name: String, Sendable, Codable {
            /// The main stream.
            case main
            /// The smaller one.
            case sub
        }

        /// Why the viewer gets this stream.
        public enum Reason: String, Sendable, Codable {
            /// The camera has no other one that the viewer could get.
            case only
            /// It is the largest one.
            case largest
            /// The viewer asked for a small picture.
            case hint
            /// The viewer's path does not carry the main stream.
            case path
        }

        /// The stream.
        public var name: Name
        /// Why it was chosen.
        public var reason: Reason

        /// Describes a stream.
        public init(name: Name, reason: Reason) {
            self.name = name
            self.reason = reason
        }
    }

    /// The session's unguessable name.
    public var mediaSessionId: String
    /// The device that is watched.
    public var deviceID: String
    /// The principal that started it.
    public var principal: String
    /// Its state.
    public var state: State
    /// Seconds until the lease ends.
    public var expiresInSeconds: Double
    /// Whether this session holds the camera's floor.
    public var isTalking: Bool
    /// The codecs in use, for example `["VP8", "opus"]`.
    public var codecs: [String]
    /// The start-up steps so far.
    public var steps: [Step]
    /// The counters.
    public var statistics: Statistics
    /// In words, which parts of the offer were not used, and why.
    public var notes: [String]
    /// The camera's state, named like the device's source state: a viewer stays while the camera restarts.
    public var cameraState: CameraSourceState?
    /// In words, why the camera, or a part of it, is not flowing; nil while all is well.
    public var cameraReason: String?
    /// How media reaches the viewer; nil before a path is found.
    public var path: Path?
    /// True while an ICE restart by the viewer would help: its media has stopped, and a TURN server now relays for the
    /// gateway at an address that the viewer does not know. Nil otherwise.
    public var wantsICERestart: Bool?
    /// Which stream of the camera the picture is from; nil without a picture.
    public var stream: Stream?
    /// The state of the current talk, or of the last one; nil if there has been none.
    public var talkback: TalkbackSnapshot?
    /// In words, why the session ended; nil while it lives.
    public var endReason: String?

    /// Describes a session.
    public init(
        mediaSessionId: String, deviceID: String, principal: String, state: State, expiresInSeconds: Double,
        isTalking: Bool, codecs: [String], steps: [Step], statistics: Statistics, notes: [String],
        cameraState: CameraSourceState? = nil, cameraReason: String? = nil, path: Path? = nil,
        wantsICERestart: Bool? = nil, stream: Stream? = nil, talkback: TalkbackSnapshot? = nil
    ) {
        self.mediaSessionId = mediaSessionId
        self.deviceID = deviceID
        self.principal = principal
        self.state = state
        self.expiresInSeconds = expiresInSeconds
        self.isTalking = isTalking
        self.codecs = codecs
        self.steps = steps
        self.statistics = statistics
        self.notes = notes
        self.cameraState = cameraState
        self.cameraReason = cameraReason
        self.path = path
        self.wantsICERestart = wantsICERestart
        self.stream = stream
        self.talkback = talkback
    }
}
