import Intake
import SDP
import Transport

/// One stream of a camera, as its session description or its encoder states it.
public struct TrackDescription: Sendable, Hashable {
    /// Video or audio.
    public var kind: MediaKind
    /// What the packets hold.
    public var codec: MediaCodec
    /// The payload type of the source's packets, 0 to 127.
    public var payloadType: UInt8
    /// Video: pictures have been seen to come in an order other than display order (B-frames). Browsers show each
    /// picture as it comes, so the stream would stutter: it is never passed to them.
    public var reordersPictures: Bool
    /// Which of the camera's streams the track belongs to.
    public var stream: CameraStream = .main
    /// The number of the connection that carries the track, where a source has several connections. When the tracks are
    /// reported again, a track whose number has not changed continues without a break. Nil where the source has one
    /// connection: if its tracks are reported again, all of them restart.
    public var connection: Int?

    /// Describes a track.
    public init(kind: MediaKind, codec: MediaCodec, payloadType: UInt8, reordersPictures: Bool = false) {
        self.kind = kind
        self.codec = codec
        self.payloadType = payloadType
        self.reordersPictures = reordersPictures
    }
}

/// How far a source has come towards flowing media.
public enum SourceState: Sendable, Hashable {
    /// Never started.
    case idle
    /// Looking up the camera's host name.
    case resolving
    /// Opening the connection.
    case connecting
    /// The camera asked for credentials, and the source is sending them.
    case authenticating
    /// Asking what the camera sends.
    case describing
    /// Agreeing on the transport of each track.
    case settingUp
    /// The camera agreed to play but has sent nothing yet.
    case playing
    /// Packets come: those of the video, or of the audio where the camera has no video.
    case flowing
    /// The track with this index has stopped, so the source restarts.
    case stalled(track: Int)
    /// The last attempt failed for `reason`; the next one begins in `seconds`.
    case backingOff(seconds: Double, reason: CameraFailure)
    /// The camera has failed in the same way so often that the next attempt waits until `until`: `failures` times, the
    /// last time for `reason`.
    case givenUp(until: Instant, failures: Int, reason: CameraFailure)
    /// Stopped by its owner.
    case stopped
}

/// What a source reports besides packets.
public enum CameraEvent: Sendable, Equatable {
    /// The source's state changed.
    case state(SourceState)
    /// The source has reported its tracks; see ``CameraSink/open(_:)``.
    case tracks([TrackDescription])
    /// A mapping of wall-clock time to media time (RFC 3550, section 6.4.1): `ntp` in the 32.32 format of NTP.
    case senderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32)
    /// A visitor pressed the doorbell.
    case buttonPressed(ButtonPress = ButtonPress())
    /// The camera has noticed something.
    case detection(CameraDetection)
}

/// Receives the tracks and events of a source. All methods are called on the source's own thread and must not block.
public protocol CameraSink: Sendable {
    /// The source reports the tracks that will come, in the order of the indices used elsewhere: before their first
    /// packet, and again after each reconnection, since the camera's settings may have changed in between.
    /// - Returns: where the packets of each track go from now on, in the same order.
    func open(_ tracks: [TrackDescription]) -> [any PacketInlet]
    /// Receives an event, but for the tracks.
    func handle(_ event: CameraEvent)
}

/// A camera that delivers RTP packets from its own thread until it is stopped, whatever happens in between.
public protocol CameraSource: Sendable {
    /// Starts the source; returns immediately. A source that has been stopped may be started again.
    func start(sink: any CameraSink)
    /// Stops the source; returns when the source's thread no longer calls the sink. Must not be called from the sink.
    func stop()
    /// Asks for a frame from which decoding can start; does nothing where the camera does not support such a request.
    func requestKeyFrame(track: Int)
    /// Nobody watches live, or somebody does. While nobody does, what comes may be read up to a fifth of a second late, so
    /// that several frames cost one wake-up. Called from any thread, before ``start(sink:)`` too; returns immediately.
    func setCoalescing(_ isCoalescing: Bool)
    /// The camera's speaker, where it has one.
    var speaker: (any CameraSpeaker)? { get }
    /// Takes the media of publishers, where the camera is published and not pulled.
    var publishing: (any PublicationTaker)? { get }
    /// The camera's button, where it can be pressed from here.
    var button: (any CameraButton)? { get }
    /// What the camera's speaker received, where it measures that.
    var speakerMeasurement: SpeakerMeasurement? { get }
    /// What the source has found out about the camera besides its tracks; nil where there is nothing to find out, or
    /// nothing has been found out yet.
    var report: CameraReport? { get }
    /// What counts the refused logins of the camera; nil where nobody logs in.
    var logins: CameraLogins? { get }
    /// Counts logins together with another stream of the same camera, where both have the same credentials. A wrong
    /// password then counts once for both.
    func share(_ logins: CameraLogins)
    /// Whether more tracks will be reported soon: one of the camera's streams is still connecting for the first time.
    var awaitsTracks: Bool { get }
}

extension CameraSource {
    /// A source that hands out everything at once.
    public func setCoalescing(_ isCoalescing: Bool) {}
    /// Most sources pull.
    public var publishing: (any PublicationTaker)? { nil }
    /// Most cameras' buttons are at the door.
    public var button: (any CameraButton)? { nil }
    /// Most speakers play.
    public var speakerMeasurement: SpeakerMeasurement? { nil }
    /// A source that finds nothing out.
    public var report: CameraReport? { nil }
    /// A source that does not log in.
    public var logins: CameraLogins? { nil }
    /// A source that does not log in.
    public func share(_ logins: CameraLogins) {}
    /// Most sources report all of their tracks at once.
    public var awaitsTracks: Bool { false }
}
