import DatagramPort
import PeerConnection
import Transport

/// One track that a publisher sends, as agreed in offer and answer.
public struct PublishedTrack: Sendable {
    /// Whether the track is video: lost packets are requested again, and key frames can be requested.
    public var isVideo: Bool
    /// The payload type of the media packets.
    public var payloadType: UInt8
    /// The payload type of retransmissions (RFC 4588); nil if there are none.
    public var retransmissionPayloadType: UInt8?
    /// The source that the offer announced; nil lets the first packet name it.
    public var ssrc: UInt32?
    /// The RTP clock rate in hertz.
    public var clockRate: Int
    /// Whether lost packets may be requested again (RFC 4585, section 6.2.1).
    public var takesNack: Bool
    /// Whether key frames may be requested (RFC 4585, section 6.3.1).
    public var takesPictureLossIndication: Bool
    /// The identifier of the transport-wide sequence number; nil if it was not agreed on.
    public var transportSequenceExtension: UInt8?
    /// Whether to report to the publisher how much it may send, because it gets no transport-wide feedback.
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

/// Receives what a publisher sends. Every method is called on the thread of the session's shard and must not wait.
public protocol PublisherSink: AnyObject, Sendable {
    /// One plain RTP packet of a track. Packets come in order; a gap in the sequence numbers is a loss that could not
    /// be repaired. `packet` is valid only during the call.
    func receive(_ packet: UnsafeRawBufferPointer, track: Int, at now: Instant)
    /// A track that had begun has brought nothing since `last`. Called about once per second.
    func receiveNothing(track: Int, since last: Instant, at now: Instant)
    /// A report of the publisher's clock (RFC 3550, section 6.4.1).
    func receiveSenderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant)
}

/// A publisher as signalling passes it to the relay.
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
    /// Adds a publisher. ``removeSession(_:saying:whenRemoved:)``, ``addRemoteCandidates(_:_:areComplete:)`` and
    /// ``restartICE(_:local:remote:addresses:)`` work on it as on a viewer. `whenEnded` is called once, on the shard's
    /// thread, and must not wait.
    public func addPublisher(
        _ configuration: PublisherConfiguration, sink: any PublisherSink,
        whenEnded: @escaping @Sendable (RelayEnd) -> Void
    ) {
        let notify: @Sendable (SessionEvent) -> Void = { event in
            if case .ended(let end) = event { whenEnded(end) }
        }
        add(configuration.sessionID, configuration.peer, notify) { handle, notify in
            { shard, now in
                shard.add(configuration, as: handle, status: SessionStatus(), sink: sink, notify: notify, at: now)
            }
        }
    }

    /// Requests a key frame of a track from a publisher. Requests that come close together are merged.
    public func requestKeyFrame(ofPublisher sessionID: String, track: Int) {
        post(toPublisher: sessionID) { shard, publisher, now in
            publisher.ingest.requestKeyFrame(track: track)
            shard.service(publisher, at: now)
        }
    }
}
