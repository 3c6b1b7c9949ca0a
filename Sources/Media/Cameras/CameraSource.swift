import RTP
import SDP

/// One stream of a camera, as its description or its encoder gives it.
public struct TrackDescription: Sendable, Hashable {
    /// Video or audio.
    public var kind: MediaKind
    /// What the packets hold.
    public var codec: MediaCodec
    /// The payload type of the source's packets, 0 to 127.
    public var payloadType: UInt8

    /// Describes a track.
    public init(kind: MediaKind, codec: MediaCodec, payloadType: UInt8) {
        self.kind = kind
        self.codec = codec
        self.payloadType = payloadType
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
    case buttonPressed
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
}

/// A camera's speaker, which plays what a viewer says. Calls may come from any one thread at a time.
public protocol CameraSpeaker: Sendable {
    /// Plays samples of 48 kHz mono sound.
    func play(_ samples: UnsafeBufferPointer<Int16>)
    /// The talker has ended; whatever is queued may play out.
    func end()
}
