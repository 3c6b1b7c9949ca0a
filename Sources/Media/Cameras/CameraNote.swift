import RTSP
import SDP
import StreamFormats

/// What the gateway has noticed about a camera besides its tracks: what it leaves out and why, and what else a person
/// should know.
public enum CameraNote: Hashable, Sendable {
    /// An `m=` line of the session description is the camera's speaker. Its position counts from 0.
    case backChannel(MediaKind, mediaIndex: Int)
    /// An `m=` line of the session description is not pulled; says why. Its position counts from 0.
    case notPulled(MediaKind, mediaIndex: Int, CameraOffering.Reason)
    /// The camera has refused to set up a track, and sends others.
    case trackRefused(MediaKind, RTSPError)
    /// The camera's address asks for SRTP inside TLS, which is not requested.
    case srtpNotRequested
    /// The camera's certificate is not the one of earlier connections, whose SHA-256 fingerprint this is, in hexadecimal
    /// with colons.
    case certificateChanged(earlierFingerprint: String)
    /// The camera sends a stream other than RTP.
    case stream(StreamAddress.Form)
    /// A part of such a stream is not supported.
    case unsupportedPart(UnsupportedPart)
    /// The camera sends JPEG pictures over HTTP: all of them in one answer, or one for each request.
    ///
    /// The size is that of the H.264 that is made of them, in pixels. The rate is in tenths of a picture per second, and
    /// nil before it is known. `cutOff` says how many pictures were cut off.
    case pictures(isSeries: Bool, width: Int, height: Int, tenthsPerSecond: Int?, cutOff: UInt64)
    /// A camera of this machine sends pictures of this size in pixels. The format is its four-character code in
    /// Video4Linux.
    case device(name: String, format: String, width: Int, height: Int)
    /// The ONVIF camera has no second profile that is a smaller video stream.
    case noSmallerStream
    /// How far the smaller stream of the camera has come, and the transport of its packets, for example `tcp`; nil before
    /// it plays.
    case substreamState(SourceState, transport: String?)
    /// Something about the smaller stream of the camera.
    indirect case substream(CameraNote)
}
