import Intake
import RTSP
import SDP

/// What an RTSP camera's session description offers, reduced to the tracks that are worth pulling, with their
/// addresses.
struct CameraDescription: Sendable {
    /// One track to pull.
    struct Track: Sendable {
        /// The description that is announced to the sink.
        var description: TrackDescription
        /// What the packets hold: a codec without a format is not pulled.
        var format: IncomingTrack.Format
        /// The absolute URI for SETUP.
        var controlURI: String
        /// The position of its `m=` line, from 0.
        var mediaIndex = 0
        /// The parameter sets of H.264 or H.265 in the description, without start codes.
        var parameterSets: [[UInt8]] = []
        /// Whether the payload type was guessed, so that the first packet's type counts instead.
        var hasUncertainPayloadType = false

        /// What its packets hold.
        var incoming: IncomingTrack.Description {
            IncomingTrack.Description(
                format: format, clockRate: description.codec.clockRate, payloadType: description.payloadType,
                hasUncertainPayloadType: hasUncertainPayloadType, parameterSets: parameterSets)
        }
    }

    /// The tracks: at most one of video and two of audio, video first, and codecs that most viewers accept before the
    /// rest.
    var tracks: [Track] = []
    /// The URI for PLAY and TEARDOWN.
    var presentationURI: String
    /// What is not pulled, and why.
    var notes: [CameraNote] = []
    /// Why nothing of the camera can be played; nil where something can be.
    var refusal: CameraFailure?
    /// The camera's speaker, where it describes one.
    var backChannel: BackChannelDescription?

    /// Reads a session description. `address` is where it came from; `baseURI` is what its control attributes are
    /// relative to.
    init(parsing text: String, baseURI: String, address: RTSPURL) throws(SDPError) {
        let session = try SessionDescription(parsing: text)
        // The session's control attribute names the presentation; without one it is the base.
        presentationURI = address.controlURI(session.control, base: baseURI)
        backChannel = BackChannelDescription(in: session, baseURI: baseURI, address: address)
        let offering = CameraOffering(session)
        notes = offering.notes
        refusal = offering.refusal
        tracks = offering.pulled.map { track in
            // A single media description without a control attribute is controlled by the presentation's URI
            // (RFC 2326, appendix C.3).
            Track(
                description: track.description, format: track.format,
                controlURI: address.controlURI(track.control, base: baseURI), mediaIndex: track.mediaIndex,
                parameterSets: track.parameterSets, hasUncertainPayloadType: track.hasUncertainPayloadType)
        }
    }

    /// Whether the camera distinguishes the tracks only by their position: several of them have the same control URI.
    var hasSharedControl: Bool { Set(tracks.map(\.controlURI)).count < tracks.count }
}
