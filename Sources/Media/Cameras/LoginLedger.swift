import RTSP
import Transport

/// What became of a camera's user name and password, for all sources that log in with them: a camera counts wrong
/// answers by account, however many connections bring them, and many lock it after five. It reads no clock.
///
/// One way of authentication is tried in a session. Another one that the camera offers is tried once without a pause, so
/// that a camera whose Digest is broken plays at once with Basic. That makes four wrong answers until the circuit opens.
struct LoginLedger: Sendable {
    /// While one source tries again after a refusal, the others wait for what comes of it.
    private static let trial: Duration = .seconds(20)

    /// Whether the camera has taken the credentials by Digest, on whichever of its streams.
    var takesDigest = false
    /// The ways that were refused although the camera offers others.
    private(set) var refusedSchemes: [Challenge.Scheme] = []
    private var circuit = CircuitBreaker()
    private var hasTriedOther = false
    private var blockedUntil: Instant?
    private var reason = ""

    /// Why a source may not log in now: until when, and what it tells meanwhile. Nil lets it through.
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

    /// The camera has refused the credentials in a way of authentication. Answers whether another one is to be tried at
    /// once.
    mutating func refuse(_ refusal: RTSPClient.RefusedLogin?) -> Bool {
        guard let refusal else { return false }
        guard refusal.offersOther else {
            // None is left: the next session begins anew, with another one than this.
            refusedSchemes = [refusal.scheme]
            return false
        }
        if !refusedSchemes.contains(refusal.scheme) { refusedSchemes.append(refusal.scheme) }
        guard !hasTriedOther else { return false }
        hasTriedOther = true
        return true
    }

    /// A source has failed for want of credentials that the camera takes.
    mutating func fail(
        _ reason: String, at now: Instant, random: inout RandomSource
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

    /// The camera takes the credentials.
    mutating func succeed() {
        circuit.succeed()
        hasTriedOther = false
        blockedUntil = nil
    }
}
