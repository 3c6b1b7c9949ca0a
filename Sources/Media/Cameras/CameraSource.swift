import RTP
import SDP
import Transport

/// One stream of a camera, as its description or its encoder gives it.
public struct TrackDescription: Sendable, Hashable {
    /// Video or audio.
    public var kind: MediaKind
    /// What the packets hold.
    public var codec: MediaCodec
    /// The payload type of the source's packets, 0 to 127.
    public var payloadType: UInt8
    /// Video: pictures have been seen to come in another order than that of showing (B-frames). Browsers show each as it
    /// comes, so that they stutter: such a stream is never passed to them.
    public var reordersPictures: Bool
    /// Which of the camera's streams the track belongs to.
    public var stream: Stream = .main
    /// The number of the connection that brings the track, where a source has several connections: a track whose number
    /// has not changed goes on without a break when the tracks are told again. Nil where the source has one connection,
    /// so that telling its tracks again means that all of them start anew.
    public var connection: Int?

    /// A camera encodes what it sees once or twice.
    public enum Stream: String, Sendable, Hashable {
        /// The stream of full size.
        case main
        /// The smaller one.
        case sub
    }

    /// Describes a track.
    public init(kind: MediaKind, codec: MediaCodec, payloadType: UInt8, reordersPictures: Bool = false) {
        self.kind = kind
        self.codec = codec
        self.payloadType = payloadType
        self.reordersPictures = reordersPictures
    }
}

/// Where a source stands on its way to flowing media.
public enum SourceState: Sendable, Equatable {
    /// Never started.
    case idle
    /// Looking up the camera's host name.
    case resolving
    /// Opening the connection.
    case connecting
    /// The camera asked for credentials, and they are being offered.
    case authenticating
    /// Asking what the camera sends.
    case describing
    /// Agreeing on how each track is carried.
    case settingUp
    /// The camera agreed to play and has sent nothing yet.
    case playing
    /// Packets come: those of the video, or of the audio where there is no video.
    case flowing
    /// The track of this index brings nothing any more, so the source starts again.
    case stalled(track: Int)
    /// The last attempt failed for `reason`; the next one begins in `seconds`.
    case backingOff(seconds: Double, reason: String)
    /// The camera has failed in one way so often that the next attempt is not before `until`: `failures` times, the
    /// last time for `reason`.
    case givenUp(until: Instant, failures: Int, reason: String)
    /// Stopped by its owner.
    case stopped
}

/// What a source tells besides packets.
public enum CameraEvent: Sendable, Equatable {
    /// The source moved on.
    case state(SourceState)
    /// The tracks that will come, in the order of the indices used elsewhere. Sent before their first packet, and again
    /// after each reconnection, since a camera may have been set up anew in between.
    case tracks([TrackDescription])
    /// A mapping of wall-clock time to media time (RFC 3550, section 6.4.1): `ntp` in the 32.32 format of NTP.
    case senderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32)
    /// Somebody pressed the doorbell.
    case buttonPressed(ButtonPress = ButtonPress())
    /// The camera has noticed something.
    case detection(CameraDetection)
}

/// Who takes in what a source brings. Everything is called on the source's own thread and must not block.
public protocol CameraSink: Sendable {
    /// Takes what one wake-up brought for one track, usually one frame.
    func receive(_ batch: PacketBatch, track: Int)
    /// Takes an event.
    func handle(_ event: CameraEvent)
}

/// A camera that delivers RTP packets from a thread of its own until it is stopped, whatever happens in between.
public protocol CameraSource: Sendable {
    /// Begins; returns at once. A source that has been stopped may be started again.
    func start(sink: any CameraSink)
    /// Ends; returns when the source's thread calls the sink no more. Must not be called from the sink.
    func stop()
    /// Asks for a frame from which decoding can start; does nothing where the camera offers no way to ask.
    func requestKeyFrame(track: Int)
    /// The camera's speaker, where it has one.
    var speaker: (any CameraSpeaker)? { get }
    /// Where publishers deliver, if the media is published and not pulled.
    var publishing: WHIPSource? { get }
    /// Whether more tracks are about to be told: one of the camera's streams is still connecting for the first time.
    var awaitsTracks: Bool { get }
}

extension CameraSource {
    /// Most sources pull.
    public var publishing: WHIPSource? { nil }
    /// Most sources tell all of their tracks at once.
    public var awaitsTracks: Bool { false }
}
