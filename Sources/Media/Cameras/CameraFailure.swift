import Codecs
import ONVIF
import RTSP
import SDP

/// Why a camera sends no media for now.
public enum CameraFailure: Error, Hashable, Sendable {
    /// No connection can be made.
    case unreachable(CameraUnreachable)
    /// The camera closed the connection.
    case connectionClosed
    /// The connection broke, with one of the system's error numbers.
    case connectionBroken(errorNumber: Int32)
    /// The camera redirects from one address to the next without end.
    case redirectionCircle
    /// The camera redirects to an address that asks for a password, and the password of the config is not for it.
    case passwordWithheld(address: String)
    /// An RTSP request failed.
    case rtsp(RTSPError)
    /// An ONVIF request failed.
    case onvif(ONVIFError)
    /// A camera that sends pictures over HTTP has failed.
    case pictures(PictureFailure)
    /// A camera that sends a stream other than RTP has failed.
    case stream(StreamFailure)
    /// The camera's session description cannot be read.
    case unreadableDescription(SDPError)
    /// The camera offers no track that can be played; says why of each.
    case nothingToPlay(notes: [CameraNote])
    /// The camera accepts sound for its speaker and sends no media.
    case noMedia
    /// The track that decides has stalled.
    case stalled(MediaKind)
    /// The camera agreed to play, and no packet came.
    case nothingCame(MediaKind, CameraProfile.Transport)
    /// The camera ended the RTSP session.
    case sessionEnded
    /// The camera ended the stream (RFC 3550, section 6.6).
    case streamEnded
    /// The gateway has no pair of UDP ports left.
    case noPorts
    /// The gateway has no file descriptor left.
    case noFileDescriptor
    /// The gateway could not start a thread.
    case noThread
    /// The built-in camera could not start its thread, with one of the system's error numbers.
    case noBuiltInThread(errorNumber: Int32)
    /// The built-in camera cannot encode.
    case encoding(CodecError)
    /// Nobody publishes the camera; says why the last publisher has gone.
    case noPublisher(after: PublicationEnd?)
}
