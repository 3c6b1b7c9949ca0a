import Cameras
import SDP
import Stations

/// Why an offer is not answered, with the line that shows it.
public struct OfferRefusal: Error, Hashable, Sendable {
    /// Why an offer is not answered.
    public enum Reason: Hashable, Sendable {
        /// No gateway could answer the offer.
        case invalid(NegotiationError)
        /// Both sides have media of the same kind, and share no codec.
        case noCommonCodec(NegotiationError)
        /// The viewer plays none of the camera's video.
        case noPlayableVideo(VideoMismatch)
        /// The offer asks for neither picture nor sound; says why of each `m=` line.
        case asksForNothing(camera: String, media: [UnservedMedia])
        /// The viewer plays nothing that the camera sends; says why of each `m=` line and of the camera's tracks.
        case playsNothing(camera: String, media: [UnservedMedia], faults: [TrackFault])
        /// A publisher's offer sends nothing.
        case sendsNothing
    }

    /// Why it is not answered.
    public var reason: Reason
    /// The line of the offer that shows it, from 1; nil where none does.
    public var line: Int?

    package init(_ reason: Reason, line: Int?) {
        self.reason = reason
        self.line = line
    }

    /// An offer that no gateway could answer.
    init(invalid error: NegotiationError, in offer: SessionDescription) {
        self.init(.invalid(error), line: error.line ?? offer.lineNumber(ofMediaAt: 0))
    }

    /// Whether both sides share no codec; otherwise the offer itself is at fault.
    public var isCodecMismatch: Bool {
        switch reason {
        case .noCommonCodec, .noPlayableVideo, .playsNothing: true
        case .invalid, .asksForNothing, .sendsNothing: false
        }
    }
}

/// A camera's video, of which the viewer plays none.
public struct VideoMismatch: Hashable, Sendable {
    /// What may help.
    public enum Remedy: Hashable, Sendable {
        /// Transcoding is off for the camera.
        case allowTranscoding
        /// The viewer does not play VP8, to which the gateway transcodes.
        case useViewerWithVP8
        /// The camera has no substream.
        case addSubstream
        /// Another codec of the camera.
        case changeCodec
    }

    /// The camera's identifier.
    public var camera: String
    /// The tracks that it sends.
    public var sent: [TrackDescription]
    /// What the viewer plays.
    public var played: [MediaCodec]
    /// What may help, the easiest first.
    public var remedies: [Remedy]
    /// Why tracks of the camera cannot be transcoded.
    public var faults: [TrackFault]
}

extension SessionDescription {
    /// The number of the first `m=` line that matches, or of the very first one.
    func lineOfMedia(_ isWanted: (MediaDescription) -> Bool) -> Int? {
        lineNumber(ofMediaAt: media.firstIndex { !$0.isRejected && isWanted($0) } ?? 0)
    }

    /// Whether the offer asks for a picture.
    var wantsVideo: Bool {
        media.contains { $0.kind == .video && !$0.isRejected && direction(of: $0).receives }
    }
}
