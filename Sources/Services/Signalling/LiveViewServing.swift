import Stations

/// Live-view sessions held as leases, for the trait `WebRtcLiveView` and the WHEP endpoint.
///
/// Source: Home APIs for iOS, `WebRtcLiveViewTrait`; RFC 9725 and the WHEP draft for ``trickle(_:mediaSessionId:principal:)``.
public protocol LiveViewServing: Sendable {
    /// Answers an offer and starts sending.
    func startLiveView(_ request: StartLiveViewRequest) async throws(SignallingError) -> StartLiveViewResponse

    /// Moves the session's expiry. Idempotent: it sets the expiry to now plus the granted seconds and never shortens it.
    /// - Returns: the granted seconds from now.
    func extendLiveView(
        mediaSessionId: String, principal: String, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16

    /// Ends a session. Ending one of the principal's that has ended already is no error.
    /// - Throws: `unknownSession` for one that never was, that ended long ago, or that is another principal's.
    func stopLiveView(mediaSessionId: String, principal: String) async throws(SignallingError)

    /// The device of a session of the principal's that has ended lately; nil for every other identifier.
    func deviceOfEnded(_ mediaSessionId: String, principal: String) async -> String?

    /// Asks for another quality; the nearest that the camera has is used and returned.
    func changeLiveViewQuality(
        mediaSessionId: String, principal: String, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint

    /// Adds candidates to a session, or restarts its ICE when the fragment carries other credentials (RFC 8840).
    func trickle(
        _ fragment: String, mediaSessionId: String, principal: String
    ) async throws(SignallingError) -> TrickleResult

    /// All sessions now alive.
    func sessions() async -> [LiveViewSnapshot]
}

/// A service that forgets what has ended.
extension LiveViewServing {
    public func deviceOfEnded(_ mediaSessionId: String, principal: String) async -> String? { nil }
}

/// The size of picture that a viewer would like (Home APIs, `QualityHint`); raw values in the order of the reference.
public enum QualityHint: UInt64, Sendable, CaseIterable {
    case unspecified, sd, hd, fhd, qhd, uhd
}

/// What starts a live view.
public struct StartLiveViewRequest: Sendable {
    /// The device's identifier in the config.
    public var deviceID: String
    /// Who asks: the session is bound to this name.
    public var principal: String
    /// The viewer's SDP offer.
    public var offerSdp: String
    /// The size of picture that the viewer would like.
    public var qualityHint: QualityHint?
    /// Addresses at which the viewer reached the gateway (the HTTP connection's local address), as literals without
    /// port. They are offered as host candidates first, because the viewer has just proved that it can reach them.
    public var reachedAddresses: [String]
    /// The address that the viewer's request came from, as a literal without port; nil where nobody knows.
    public var viewerAddress: String?

    /// Describes a request.
    public init(
        deviceID: String, principal: String, offerSdp: String, qualityHint: QualityHint? = nil,
        reachedAddresses: [String] = [], viewerAddress: String? = nil
    ) {
        self.viewerAddress = viewerAddress
        self.deviceID = deviceID
        self.principal = principal
        self.offerSdp = offerSdp
        self.qualityHint = qualityHint
        self.reachedAddresses = reachedAddresses
    }
}

/// What a started live view is.
public struct StartLiveViewResponse: Sendable {
    /// An unguessable name of the session.
    public var mediaSessionId: String
    /// The SDP answer with all candidates.
    public var answerSdp: String
    /// The length of the lease in seconds.
    public var liveSessionDurationSeconds: UInt16
    /// Changes with each ICE restart; the entity tag of a WHEP session.
    public var iceGeneration: String
    /// In words, what of the offer was not used and why.
    public var notes: [String]

    /// Describes a started live view.
    public init(
        mediaSessionId: String, answerSdp: String, liveSessionDurationSeconds: UInt16, iceGeneration: String,
        notes: [String]
    ) {
        self.mediaSessionId = mediaSessionId
        self.answerSdp = answerSdp
        self.liveSessionDurationSeconds = liveSessionDurationSeconds
        self.iceGeneration = iceGeneration
        self.notes = notes
    }
}

/// What a trickled fragment did.
public enum TrickleResult: Sendable, Equatable {
    /// The candidates were taken.
    case added
    /// ICE starts again: the fragment of the gateway's new credentials and candidates, and the new generation.
    case restarted(fragment: String, iceGeneration: String)
}

/// Why a live view could not be started or changed.
public enum SignallingError: Error, Hashable, Sendable {
    /// The offer (or fragment) cannot be used; says what and where.
    case invalidOffer(String)
    /// No such device.
    case unknownDevice(String)
    /// No such session, or it has ended, or it belongs to another principal.
    case unknownSession
    /// No such clip, or it ended long ago.
    case unknownClip(String)
    /// It is another principal's; says who may.
    case permissionDenied(String)
    /// Camera and viewer share no codec; names both sides' codecs and what would help.
    case codecMismatch(String)
    /// The camera is not delivering; says its state and reason.
    case cameraUnavailable(String)
    /// The camera or the session is not in a state that allows this.
    case failedPrecondition(String)
    /// Somebody else talks to the camera.
    case talkbackBusy(String)
    /// A clip cannot be played; says what is wrong with it.
    case invalidClip(String)
    /// Too many sessions; says which limit.
    case limitReached(String)
    /// The camera took too long.
    case deadlineExceeded(String)
    /// A fault of the gateway.
    case internalFault(String)
}
