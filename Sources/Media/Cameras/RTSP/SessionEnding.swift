import RTSP
import Transport

/// How a session ended.
enum SessionEnding {
    /// The owner stopped it.
    case stopped
    /// The owner no longer waits for the thread: the sink must not be touched again.
    case abandoned
    /// The camera's media is elsewhere.
    case redirected(RTSPURL)
    /// A talk begins or has ended: the next session has the speaker or does without it.
    case restarted
    case failed(SessionFailure)

    /// The same, with one redirection too many as a failure.
    var asFailure: SessionEnding {
        guard case .redirected = self else { return self }
        return .failed(SessionFailure(.redirectionCircle, kind: .mediaRefused))
    }
}

/// Why a session failed, and what to learn from it.
struct SessionFailure {
    /// The kind of failure, where that decides what comes next.
    enum Kind {
        case other
        /// The credentials were refused or are missing.
        case credentialsRefused
        /// The camera asked for the password where that is not sent.
        case passwordWithheld
        /// The camera does not send over the requested transport.
        case transportRefused
        /// It refused every track.
        case tracksRefused
        /// It agreed to play, and no packet came.
        case nothingCame
        /// It did not answer when it was asked for its back channel.
        case featureSuspected
        /// It answers, but has nothing to play at this address.
        case mediaRefused
    }

    var reason: CameraFailure
    var kind = Kind.other
    /// How long packets had been coming.
    var playedFor: Duration = .zero
    /// The camera seems not to count the keep-alive that was used, or to end sessions because of it.
    var failedKeepAlive: RTSPKeepAlive?
    /// The credentials that the camera refused, where it says how.
    var refusedLogin: RTSPClient.RefusedLogin?
    /// How old the session became, where the camera ended it in spite of a keep-alive.
    var age: SessionAge?

    init(_ reason: CameraFailure, kind: Kind = .other) {
        self.reason = reason
        self.kind = kind
    }

    /// The failure as the circuit counts it.
    var asCircuitFailure: CircuitBreaker.Failure {
        switch kind {
        case .credentialsRefused: .credentialsRefused
        case .passwordWithheld, .tracksRefused, .mediaRefused, .transportRefused: .mediaRefused
        case .other, .nothingCame, .featureSuspected: .unreachable
        }
    }
}
