import DatagramPort
import Logging
import PushAvStreamTransport
import Transport

/// The time by which recordings and kept pictures grow old. It is kept in the state folder, so that a clock that leaps while
/// the gateway is off is noticed at the next start.
final class RetentionTime: Sendable {
    /// Where it is kept in the state folder.
    static let fileName = "recording-time.json"
    /// How often it is written, in milliseconds.
    private static let interval: UInt64 = 3_600_000

    private struct State {
        var clock: RetentionClock
        /// The time in the file; nil if none is there.
        var kept: Int64?
    }

    private let directory: StateDirectory
    private let logger: Logger
    private let state: Locked<State>
    /// Whether the file could not be read and holds the time that counts.
    private let isFileInTheWay: Bool

    /// Reads the time of the earlier run.
    init(in directory: StateDirectory, logger: Logger) {
        self.directory = directory
        self.logger = logger
        let file = directory.readJSON(RetentionClock.Record.self, from: Self.fileName)
        if let failure = file.failure {
            logger.warning(
                """
                a clock that was set ahead while the gateway was off ages recordings and pictures, because the file cannot \
                be used
                """,
                metadata: ["reason": "\(failure)"])
        }
        isFileInTheWay = file.isInTheWay
        let kept = file.value.flatMap { min($0.time, $0.lead, $0.doubted) >= 0 ? $0 : nil }
        state = Locked(State(clock: RetentionClock(after: kept), kept: kept?.time))
    }

    /// The time that counts now, in milliseconds since 1970, UTC. Called on any thread that may wait for the disk.
    func now(
        at reading: RetentionClock.Reading = RetentionClock.Reading(
            wall: WallClock.milliseconds, uptime: MonotonicClock.now, isSynchronized: WallClock.isSynchronized)
    ) -> Int64 {
        let (time, before, lead, due) = state.withLock { state in
            let before = state.clock.lead
            let time = state.clock.time(at: reading)
            let isDue = state.kept.map { (time &- $0).magnitude >= Self.interval } ?? true
            if isDue { state.kept = time }
            return (time, before, state.clock.lead, isDue ? state.clock.record : nil)
        }
        report(lead: lead, before: before)
        if let due { keep(due) }
        return time
    }

    private func report(lead: Int64, before: Int64) {
        if lead > before {
            logger.warning(
                """
                the machine's clock has leapt ahead; recordings and pictures age by it once a time server confirms it, or \
                after a day
                """,
                metadata: ["hours": "\(lead / 3_600_000)"])
        } else if before > 0, lead == 0 {
            logger.notice("recordings and pictures age by the machine's clock again")
        }
    }

    private func keep(_ record: RetentionClock.Record) {
        guard !isFileInTheWay else { return }
        do {
            try directory.writeJSON(record, to: Self.fileName)
        } catch {
            // The next hour tries again.
            logger.warning("the time of recordings and pictures cannot be kept", metadata: ["reason": "\(error)"])
        }
    }
}
