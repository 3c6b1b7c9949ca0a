import Transport

extension SourceFindings {
    /// Records a failed attempt to reach the camera.
    /// - Returns: until when to wait before the next one, and the state that is reported meanwhile.
    func pause(
        after failure: CircuitBreaker.Failure, _ reason: CameraFailure, at now: Instant, random: inout RandomSource
    ) -> (until: Instant, state: SourceState) {
        if failure == .credentialsRefused {
            return logins.withLock { $0.fail(reason, at: now, random: &random) }
        }
        switch circuit.withLock({ $0.fail(failure, at: now, random: &random) }) {
        case .retry(let pause):
            return (now + pause, .backingOff(seconds: pause.inSeconds, reason: reason))
        case .giveUp(let end, let failures):
            let surrender = SourceState.givenUp(until: end, failures: failures, reason: reason)
            self.surrender(surrender)
            return (end, surrender)
        }
    }
}
