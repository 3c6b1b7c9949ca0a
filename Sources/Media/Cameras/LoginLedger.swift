import RTSP
import Transport

/// The outcome of logins with a camera's user name and password, for all sources that use them. A camera counts wrong
/// answers by account, over all connections, and many cameras lock the account after five. It reads no clock.
///
/// A session tries one authentication scheme. Another one that the camera offers is tried once without a pause, so a
/// camera whose Digest is broken plays at once with Basic. That makes four wrong answers until the circuit opens.
struct LoginLedger: Sendable {
    /// While one source tries again after a refusal, the others wait for the outcome.
    private static let trial: Duration = .seconds(20)

    /// Whether the camera has accepted the credentials by Digest, on any of its streams.
    var takesDigest = false
    /// The schemes that were refused while the camera offered others.
    private(set) var refusedSchemes: [Challenge.Scheme] = []
    private var circuit = CircuitBreaker()
    private var hasTriedOther = false
    private var blockedUntil: Instant?
    /// Why the last login was refused.
    private(set) var reason = CameraFailure.rtsp(.unauthorized(.credentialsRefused))

    /// Why a source may not log in now: until when, and the state that it reports meanwhile. Nil if it may log in.
    mutating func admit(at now: Instant) -> (until: Instant, state: SourceState)? {
        guard circuit.failures > 0 else { return nil }
        guard let end = blockedUntil, now < end else {
            blockedUntil = now + Self.trial
            return nil
        }
        guard circuit.openUntil == nil else {
            return (end, .givenUp(until: end, failures: circuit.failures, reason: reason))
        }
        return (end, .backingOff(seconds: (end - now).inSeconds, reason: reason))
    }

    /// Records that the camera has refused the credentials with one authentication scheme. Returns whether to try
    /// another one at once.
    mutating func refuse(_ refusal: RTSPClient.RefusedLogin?) -> Bool {
        guard let refusal else { return false }
        guard refusal.offersOther else {
            // None is left: the next session begins again, with a scheme other than this one.
            refusedSchemes = [refusal.scheme]
            return false
        }
        if !refusedSchemes.contains(refusal.scheme) { refusedSchemes.append(refusal.scheme) }
        guard !hasTriedOther else { return false }
        hasTriedOther = true
        return true
    }

    /// Records that a source has failed because the camera does not accept the credentials.
    mutating func fail(
        _ reason: CameraFailure, at now: Instant, random: inout RandomSource
    ) -> (until: Instant, state: SourceState) {
        self.reason = reason
        switch circuit.fail(.credentialsRefused, at: now, random: &random) {
        case .retry(let pause):
            blockedUntil = now + pause
            return (now + pause, .backingOff(seconds: pause.inSeconds, reason: reason))
        case .giveUp(let end, let failures):
            blockedUntil = end
            return (end, .givenUp(until: end, failures: failures, reason: reason))
        }
    }

    /// Records that the camera accepts the credentials.
    mutating func succeed() {
        circuit.succeed()
        hasTriedOther = false
        blockedUntil = nil
    }
}
