import Codecs
import ONVIF
import RTSP
import SDP

extension CameraFailure {
    /// The failure as the end of a sentence about a camera.
    public var words: String {
        switch self {
        case .unreachable(let error): error.description
        case .connectionClosed: "the camera closed the connection"
        case .connectionBroken(let number):
            CameraUnreachable("the connection was lost", errorNumber: number).description
        case .redirectionCircle: "the camera redirects in a loop"
        case .passwordWithheld(let address): Redirection.withheldReason(address)
        case .rtsp(let error): error.description
        case .onvif(let error): error.description
        case .pictures(let failure): failure.words
        case .stream(let failure): failure.words
        case .unreadableDescription(let error): "the camera's description cannot be read: \(error)"
        case .nothingToPlay(let notes):
            "the camera offers nothing that can be played: "
                + (notes.isEmpty ? "its description has no m= line" : notes.map(\.description).joined(separator: "; "))
        case .noMedia: "the camera accepts sound but sends no media"
        case .stalled(let kind): "the \(kind == .audio ? "audio" : "video") has stalled"
        case .nothingCame(let kind, let transport):
            "the camera agreed to play but sent no \(kind == .audio ? "audio" : "video") "
                + (transport == .udp ? "over UDP" : "over TCP")
        case .sessionEnded: "the camera ended the session"
        case .streamEnded: "the camera ended the stream (RTCP BYE)"
        case .noPorts: "no pair of UDP ports is free"
        case .noFileDescriptor: "the process has no file descriptor left"
        case .noThread: "no thread could be started"
        case .noBuiltInThread(let number): "no thread for the built-in camera: error \(number)"
        case .encoding(let error): error.description
        case .noPublisher(let end?): "\(end.words); waiting for a publisher"
        case .noPublisher(nil): "waiting for a publisher"
        }
    }
}
