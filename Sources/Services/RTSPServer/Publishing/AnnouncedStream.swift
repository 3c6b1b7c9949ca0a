import Cameras
import RTSP
import SDP

/// What the gateway uses of a session description that a publisher announces. It is chosen as from a camera's
/// (``CameraOffering``).
struct AnnouncedStream {
    /// One track that is used.
    struct Track {
        /// The position of its `m=` line, from 0.
        var mediaIndex: Int
        /// The description that is announced to the camera's source.
        var description: TrackDescription
        /// How the publisher is asked for a key frame; nil for one that does not say that it understands that.
        var feedback: KeyFrameFeedback?
    }

    /// The control attribute of each `m=` line.
    let controls: [String?]
    /// The tracks that are used: the picture first.
    let tracks: [Track]
    /// What is left out, and why.
    let notes: [CameraNote]

    /// Reads a session description.
    init(parsing text: String) throws(AnnouncementFault) {
        var session: SessionDescription
        do throws(SDPError) {
            session = try SessionDescription(parsing: text)
        } catch {
            throw .unreadable(error)
        }
        guard session.media.count <= RTSPServerSession.maximumTracks else {
            throw .tooManyTracks(session.media.count)
        }
        // A publisher sends everything that it announces. Of a camera, one of these words would mark a speaker.
        for index in session.media.indices {
            session.media[index].lines.removeAll { line in
                guard case .attribute(let attribute) = line else { return false }
                return Self.directions.contains(attribute.name.lowercased())
            }
        }
        let offering = CameraOffering(session)
        guard !offering.tracks.isEmpty else { throw .nothingUsable(offering.notes) }
        controls = session.media.map(\.control)
        tracks = zip(offering.mediaIndices, offering.tracks).map { index, description in
            Track(
                mediaIndex: index, description: description,
                feedback: KeyFrameFeedback(session.media[index], payloadType: description.payloadType))
        }
        notes = offering.notes
    }

    private static let directions: Set<String> = ["sendonly", "recvonly", "sendrecv", "inactive"]
}

/// How a publisher is asked for a key frame.
enum KeyFrameFeedback: Equatable {
    /// By a picture loss indication (RFC 4585, section 6.3.1).
    case pictureLossIndication
    /// By a full intra request (RFC 5104, section 4.3.1).
    case fullIntraRequest

    /// Reads the feedback that a media description names for a payload type. RTSP has no other request for a key frame, and
    /// most publishers name none: they send key frames by themselves.
    init?(_ media: MediaDescription, payloadType: UInt8) {
        guard media.kind == .video else { return nil }
        let named = media.rtcpFeedback.filter { $0.payloadType == nil || $0.payloadType == payloadType }.map(\.feedback)
        if named.contains("nack pli") {
            self = .pictureLossIndication
        } else if named.contains("ccm fir") {
            self = .fullIntraRequest
        } else {
            return nil
        }
    }
}

/// Why an announced session description cannot be used.
public enum AnnouncementFault: Error, Hashable, Sendable {
    /// It is not a session description.
    case unreadable(SDPError)
    /// It has more tracks than any camera.
    case tooManyTracks(Int)
    /// None of its tracks can be used; says why.
    case nothingUsable([CameraNote])
}
