import DatagramPort
import PeerConnection
import RTP
import Transport

/// One track that a publisher sends, as offer and answer agreed.
public struct PublishedTrack: Sendable {
    /// Whether the track is video: what is lost of it is asked for again, and key frames can be asked for.
    public var isVideo: Bool
    /// The payload type of the media packets.
    public var payloadType: UInt8
    /// The payload type of retransmissions (RFC 4588), nil where there are none.
    public var retransmissionPayloadType: UInt8?
    /// The source that the offer announced; nil lets the first packet name it.
    public var ssrc: UInt32?
    /// The RTP clock rate in hertz.
    public var clockRate: Int
    /// Whether lost packets may be asked for again (RFC 4585, section 6.2.1).
    public var takesNack: Bool
    /// Whether key frames may be asked for (RFC 4585, section 6.3.1).
    public var takesPictureLossIndication: Bool
    /// The identifier of the transport-wide sequence number, nil where it was not agreed.
    public var transportSequenceExtension: UInt8?
    /// Whether the publisher wants to be told how much it may send, because it gets no transport-wide feedback.
    public var wantsEstimate: Bool

    /// Describes a track.
    public init(
        isVideo: Bool, payloadType: UInt8, retransmissionPayloadType: UInt8?, ssrc: UInt32?, clockRate: Int,
        takesNack: Bool, takesPictureLossIndication: Bool, transportSequenceExtension: UInt8?, wantsEstimate: Bool
    ) {
        self.isVideo = isVideo
        self.payloadType = payloadType
        self.retransmissionPayloadType = retransmissionPayloadType
        self.ssrc = ssrc
        self.clockRate = clockRate
        self.takesNack = takesNack
        self.takesPictureLossIndication = takesPictureLossIndication
        self.transportSequenceExtension = transportSequenceExtension
        self.wantsEstimate = wantsEstimate
    }
}

/// Takes what a publisher sends. Everything is called on the relay's thread: it must not wait.
public protocol PublisherSink: AnyObject, Sendable {
    /// Takes one plain RTP packet of a track. They come in order; a gap in the sequence numbers is a loss that could not
    /// be mended. `packet` is valid during the call only.
    func receive(_ packet: UnsafeRawBufferPointer, track: Int, at now: Instant)
    /// A track that had begun has brought nothing since `last`; told about once a second.
    func receiveNothing(track: Int, since last: Instant, at now: Instant)
    /// Takes a report of the publisher's clock (RFC 3550, section 6.4.1).
    func receiveSenderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant)
}

/// A publisher as signalling hands it to the relay.
public struct PublisherConfiguration: Sendable {
    /// The session's name.
    public var sessionID: String
    /// How to connect.
    public var peer: PeerConnectionConfiguration
    /// What it sends.
    public var tracks: [PublishedTrack]
    /// Whether RTCP packets need not be compound (RFC 5506).
    public var reducedSizeRTCP: Bool
    /// Whose session it is: all sessions of one principal share a ``CheckBudget``.
    public var principal = ""

    /// Describes a publisher.
    public init(
        sessionID: String, peer: PeerConnectionConfiguration, tracks: [PublishedTrack], reducedSizeRTCP: Bool
    ) {
        self.sessionID = sessionID
        self.peer = peer
        self.tracks = tracks
        self.reducedSizeRTCP = reducedSizeRTCP
    }
}

extension MediaRelay {
    /// Takes a publisher in. It shares sessions' names with viewers: ``removeViewer(_:reason:)``,
    /// ``addRemoteCandidates(_:_:)`` and ``restartICE(_:local:remote:)`` serve both. `notify` is called on the shard's
    /// thread: it must not wait.
    public func addPublisher(
        _ configuration: PublisherConfiguration, status: ViewerStatus, sink: any PublisherSink,
        notify: @escaping @Sendable (ViewerEvent) -> Void
    ) {
        shard.post { handler, now in
            handler.add(configuration, status: status, sink: sink, notify: notify, at: now)
        }
    }

    /// Asks a publisher for a key frame of a track; requests that come close together become one.
    public func requestKeyFrame(ofPublisher sessionID: String, track: Int) {
        shard.post { handler, now in
            guard let publisher = handler.viewers[sessionID] else { return }
            publisher.ingest?.requestKeyFrame(track: track)
            handler.service(publisher, at: now)
        }
    }
}

extension RelayShard {
    /// Takes a publisher in: to the shard it is a session like a viewer's to which nothing is sent.
    func add(
        _ configuration: PublisherConfiguration, status: ViewerStatus, sink: any PublisherSink,
        notify: @escaping @Sendable (ViewerEvent) -> Void, at now: Instant
    ) {
        var session = ViewerConfiguration(
            sessionID: configuration.sessionID, peer: configuration.peer, egress: [], talkbackPayloadTypes: [],
            offerReceived: now, answerReady: now)
        session.principal = configuration.principal
        add(session, status: status, notify: notify, at: now)
        viewers[configuration.sessionID]?.ingest = Ingest(
            tracks: configuration.tracks, reducedSizeRTCP: configuration.reducedSizeRTCP, sink: sink,
            ssrc: UInt32(truncatingIfNeeded: random.next()))
    }
}
