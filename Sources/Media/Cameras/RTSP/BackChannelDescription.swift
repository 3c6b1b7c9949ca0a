import RTSP
import SDP

/// The speaker that a camera describes as an ONVIF back channel (ONVIF Streaming Specification, section 5.3), and
/// everything that a separate session needs to reach it.
public struct BackChannelDescription: Sendable, Hashable {
    /// The absolute URI for SETUP.
    public var controlURI: String
    /// The URI for PLAY and TEARDOWN.
    public var presentationURI: String
    /// The URI that the description's control attributes were relative to.
    public var baseURI: String
    /// The codecs that the camera plays, in its own order, each with its payload type; never empty.
    public var payloads: [RTPPayload]

    /// Describes a back channel.
    public init(controlURI: String, presentationURI: String, baseURI: String, payloads: [RTPPayload]) {
        self.controlURI = controlURI
        self.presentationURI = presentationURI
        self.baseURI = baseURI
        self.payloads = payloads
    }

    /// The first speaker of a session description that came from `address`; nil where it has none. Several audio tracks
    /// may be speakers, one for each codec. Their payload types are combined in one list only where they share one
    /// control URI.
    public init?(in session: SessionDescription, baseURI: String, address: RTSPURL) {
        guard let track = session.cameraTracks.first(where: { $0.role == .speaker }) else { return nil }
        self.baseURI = baseURI
        presentationURI = address.controlURI(session.control, base: baseURI)
        controlURI = address.controlURI(track.control, base: baseURI)
        payloads = track.payloads
    }
}
