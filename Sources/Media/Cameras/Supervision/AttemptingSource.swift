import DatagramPort
import Transport

/// How an attempt to play a camera ended.
enum AttemptEnding {
    case stopped
    /// The owner no longer waits for the thread: the sink must not be touched again.
    case abandoned
    case failed(CameraFailure)
}

/// What keeps one camera's media flowing on its source's thread: it attempts, and pauses after a failure.
protocol AttemptingSource: ~Copyable {
    var control: SourceControl { get }
    var findings: SourceFindings { get }
    var random: RandomSource { get set }
    /// Plays until something fails.
    mutating func attempt() -> AttemptEnding
    /// Reports a state to the sink, unless the sink already knows it.
    mutating func report(_ state: SourceState)
    /// How long media have been coming in the newest attempt.
    func age(at now: Instant) -> Duration
    /// The failure as the circuit counts it.
    func circuitFailure(of reason: CameraFailure) -> CircuitBreaker.Failure
}

extension AttemptingSource where Self: ~Copyable {
    /// A source that has played this long has recovered: its next failure is treated as the first.
    private var recovery: Duration { .seconds(10) }

    /// Attempts until the source is stopped.
    mutating func loop() {
        // The source was stopped and started again in the meantime, but that does not correct a wrong password.
        let (open, last) = (findings.circuit.withLock { $0.openUntil }, findings.lastSurrender)
        if let open, open > MonotonicClock.now, let last { wait(until: open, telling: last) }
        awaitLogin()
        while !control.isStopping {
            switch attempt() {
            case .stopped: break
            case .abandoned: return
            case .failed(let reason):
                if age(at: MonotonicClock.now) >= recovery { findings.circuit.withLock { $0.succeed() } }
                let failure = circuitFailure(of: reason)
                let next = findings.pause(after: failure, reason, at: MonotonicClock.now, random: &random)
                wait(until: next.until, telling: next.state)
                awaitLogin()
            }
        }
        report(.stopped)
    }

    /// Waits while another attempt with the same credentials would only help to lock the account.
    private mutating func awaitLogin() {
        while !control.isStopping, let closed = findings.logins.withLock({ $0.admit(at: MonotonicClock.now) }) {
            wait(until: closed.until, telling: closed.state)
        }
    }

    private mutating func wait(until end: Instant, telling state: SourceState) {
        report(state)
        control.wait(until: end)
    }
}
