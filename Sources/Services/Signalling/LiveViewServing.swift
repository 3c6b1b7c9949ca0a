public import HomeTypes
import Transport

/// Live-view sessions held as leases, for the trait `WebRtcLiveView` and the WHEP endpoint.
///
/// Source: Home APIs for iOS, `WebRtcLiveViewTrait`; RFC 9725 and the WHEP draft for ``trickle(_:_:reachedAddresses:)``.
public protocol LiveViewServing: Sendable {
    /// Answers an offer and starts sending.
    func startLiveView(_ request: StartLiveViewRequest) async throws(SignallingError) -> StartLiveViewResponse

    /// Moves the session's expiry. Idempotent: it sets the expiry to now plus the granted seconds and never shortens
    /// it.
    /// - Returns: the granted seconds from now.
    func extendLiveView(
        _ session: SessionReference, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16

    /// Ends a session. Ending one that has ended recently is not an error.
    /// - Throws: `unknownSession` for one that never was, that ended long ago, or that is another principal's.
    func stopLiveView(_ session: SessionReference) async throws(SignallingError)

    /// Fails unless the session is alive.
    func requireSession(_ session: SessionReference) async throws(SignallingError)

    /// Waits until media can flow, at most `patience`. It ends earlier when the session does, or when the task is cancelled.
    /// - Returns: whether media can flow. A session that is not alive, or that is another principal's, has no media.
    func waitUntilConnected(_ session: SessionReference, atMost patience: Duration) async -> Bool

    /// Requests another quality. The nearest one that the camera has is used and returned.
    func changeLiveViewQuality(
        _ session: SessionReference, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint

    /// Adds candidates to a session, or restarts its ICE if the fragment carries other credentials (RFC 8840).
    /// - Parameter reachedAddresses: see ``StartLiveViewRequest/reachedAddresses``; a restart offers them.
    func trickle(
        _ fragment: String, _ session: SessionReference, reachedAddresses: [String]
    ) async throws(SignallingError) -> TrickleResult

    /// All live sessions of all principals, with their counters.
    func sessions() async -> [LiveViewSnapshot]

    /// One live session of any principal, with its counters; nil if no session has this name.
    func session(_ mediaSessionId: String) async -> LiveViewSnapshot?

    /// Why a session ended recently; nil for one that has not.
    func end(of mediaSessionId: String) async -> SessionEnd?

    /// All live sessions' leases, without counters.
    func leases() async -> [SessionLease]

    /// The sessions that have started, changed or ended, for one reader.
    var changedSessions: ChangedSessions { get }
}

extension LiveViewServing {
    public func end(of mediaSessionId: String) async -> SessionEnd? { nil }
}

/// The lease of one session.
public struct SessionLease: Sendable, Equatable {
    /// The session's unguessable name.
    public var mediaSessionId: String
    /// The device that is watched.
    public var deviceID: String
    /// The principal that started it.
    public var principal: String
    /// Whether media can flow.
    public var isConnected: Bool
    /// Seconds until the lease ends.
    public var expiresInSeconds: Double

    /// Describes a lease.
    public init(
        mediaSessionId: String, deviceID: String, principal: String, isConnected: Bool, expiresInSeconds: Double
    ) {
        self.mediaSessionId = mediaSessionId
        self.deviceID = deviceID
        self.principal = principal
        self.isConnected = isConnected
        self.expiresInSeconds = expiresInSeconds
    }
}

/// The size of picture that a viewer would like (Home APIs, `QualityHint`).
public typealias QualityHint = Google.WebRtcLiveViewTrait.QualityHint

/// What starts a live view.
public struct StartLiveViewRequest: Sendable {
    /// The device's identifier in the config.
    public var deviceID: String
    /// The principal that asks: the session is bound to this name.
    public var principal: String
    /// The viewer's SDP offer.
    public var offerSdp: String
    /// The size of picture that the viewer would like.
    public var qualityHint: QualityHint?
    /// Addresses at which the viewer reaches the gateway (the HTTP connection's local address), as literals without
    /// port, the best first. They are offered as host candidates, and checked before all others, because the viewer has
    /// just proved that it can reach them.
    public var reachedAddresses: [String]
    /// The address that the viewer's request came from, as a literal without port; nil if it is not known.
    public var viewerAddress: String?
    /// When the answer is of no more use; nil for no such time.
    public var deadline: Instant?

    /// Describes a request.
    public init(
        deviceID: String, principal: String, offerSdp: String, qualityHint: QualityHint? = nil,
        reachedAddresses: [String] = [], viewerAddress: String? = nil, deadline: Instant? = nil
    ) {
        self.viewerAddress = viewerAddress
        self.deadline = deadline
        self.deviceID = deviceID
        self.principal = principal
        self.offerSdp = offerSdp
        self.qualityHint = qualityHint
        self.reachedAddresses = reachedAddresses
    }

    /// How long the request may still take.
    func timeLeft(at now: Instant, atMost most: Duration) -> Duration {
        deadline.map { min(most, max(.zero, $0 - now)) } ?? most
    }
}

/// A live view that was started.
public struct StartLiveViewResponse: Sendable {
    /// An unguessable name of the session.
    public var mediaSessionId: String
    /// The SDP answer with all candidates.
    public var answerSdp: String
    /// The length of the lease in seconds.
    public var liveSessionDurationSeconds: UInt16
    /// Changes with each ICE restart; the entity tag of a WHEP session.
    public var iceGeneration: String
    /// Which parts of the offer were not used, and why.
    public var notes: [SessionNote]

    /// Describes a started live view.
    public init(
        mediaSessionId: String, answerSdp: String, liveSessionDurationSeconds: UInt16, iceGeneration: String,
        notes: [SessionNote]
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
    /// The candidates were added.
    case added
    /// ICE restarts: the fragment with the gateway's new credentials and candidates, and the new generation.
    case restarted(fragment: String, iceGeneration: String)
}
