import Testing
import Transport

@testable import Congestion

/// The probes that follow one another, on a line that polices its rate with a bucket.
@Suite struct ProbePlanTests {
    private static let start = Instant(nanoseconds: 1_000_000_000_000)

    /// A sender of 0.6 Mbit/s whose path is probed for 2.6, in steps of 5 ms. Feedback comes each 100 ms.
    private struct Path {
        var plan = ProbePlan()
        var now = ProbePlanTests.start
        var log = SendLog()
        /// Bits a second, and bits; nil for a line that carries everything.
        var line: (rate: Double, bucket: Double)?
        var tokens = 0.0
        var sent: UInt64 = 0
        var probed = 0.0
        var failures = 0
        /// How each series of probes ended, in seconds from the start.
        var outcomes: [(at: Double, outcome: ProbePlan.Outcome)] = []
        /// When the first probe of each series began.
        var begins: [Double] = []
        private var isProbing = false
        private var number: UInt64 = 100
        private var unread: [(packet: SendLog.Packet, hasArrived: Bool)] = []
        private var owed = 0.0

        mutating func run(_ seconds: Int) {
            for step in 0..<seconds * 200 {
                now += .milliseconds(5)
                tokens = line.map { min(tokens + $0.rate * 0.005, $0.bucket) } ?? 0
                plan.want(2_600_000, failures: failures, at: now)
                owed += 600_000 / 8 * 0.005
                let due = Double(plan.bytesDue(sent, next: number, at: now))
                if due > 0, !isProbing { begins.append((now - ProbePlanTests.start).inSeconds) }
                isProbing = plan.isInFlight
                probed += due
                send(bytes: owed + due)
                if step % 20 == 19 { report() }
            }
        }

        private mutating func send(bytes: Double) {
            owed = bytes
            while owed >= 1_200 {
                owed -= 1_200
                sent += 1_200
                let packet = SendLog.Packet(
                    number: number, kind: .picture, index: nil, sentAt: now, byteCount: 1_172, wasMissing: false)
                let hasArrived = line == nil || tokens >= 9_600
                if hasArrived { tokens -= 9_600 }
                unread.append((packet, hasArrived))
                number += 1
            }
        }

        private mutating func report() {
            for (packet, hasArrived) in unread { plan.record(packet, hasArrived: hasArrived) }
            unread = []
            guard
                let outcome = plan.judge(reported: number, usualLoss: 0, queue: 0, sent, next: number, at: now)
            else { return }
            isProbing = plan.isInFlight
            outcomes.append(((now - ProbePlanTests.start).inSeconds, outcome))
        }
    }

    @Test func aLineWithRoomPassesAfterAllThreeProbes() throws {
        var path = Path()
        path.run(6)
        let (first, begin) = (try #require(path.outcomes.first), try #require(path.begins.first))
        #expect(first.outcome == .passed(2_600_000))
        #expect(first.at - begin > 1.8 && first.at - begin < 2.4, "\(first.at - begin)")
    }

    /// A socket that accepts nothing ends the probe: what has left before it says nothing about the path.
    @Test func aProbeThatMeetsAFullSocketHasFailed() throws {
        var plan = ProbePlan()
        plan.want(2_600_000, failures: 0, at: Self.start)
        let begin = try #require(plan.nextDeadline)
        let due = plan.bytesDue(0, next: 100, at: begin)
        #expect(due > 0)
        #expect(plan.isInFlight)
        plan.recordBlocked(at: begin)
        #expect(!plan.isInFlight)
        let next = try #require(plan.nextDeadline)
        #expect(next - begin == .milliseconds(2_500))
        let later = begin + .milliseconds(100)
        let outcome = plan.judge(reported: 200, usualLoss: 0, queue: 0, 10_000, next: 200, at: later)
        #expect(outcome == nil)
        // Nothing is in flight, so there is nothing to end.
        plan.recordBlocked(at: later)
        #expect(plan.nextDeadline == next)
    }

    /// More than the bucket holds is sent before the line is believed.
    @Test(arguments: [0.1, 0.5, 1]) func aPolicedLineFailsHoweverMuchItsBucketHolds(seconds: Double) {
        var path = Path()
        path.line = (1_300_000, 1_300_000 * seconds + 128_000)
        path.tokens = 1e9
        path.run(30)
        #expect(path.outcomes.count >= 4 && path.outcomes.allSatisfy { $0.outcome == .failed }, "\(path.outcomes)")
        // What is sent besides the peer's own stream has to fit into the line.
        #expect(path.probed * 8 / 30 < 1_300_000 * 0.75, "\(path.probed)")
    }

    /// A move up that does not last shows that the bucket is larger than the probe.
    @Test func aFailedWayUpMakesTheProbeLonger() {
        var path = Path()
        path.line = (1_300_000, 1_300_000 * 3)
        path.tokens = 1e9
        path.run(6)
        #expect(path.outcomes.first?.outcome == .passed(2_600_000))
        path.outcomes = []
        path.failures = 1
        path.run(30)
        #expect(!path.outcomes.isEmpty && path.outcomes.allSatisfy { $0.outcome == .failed }, "\(path.outcomes)")
    }

    /// It is still short enough for a way back within ten seconds.
    @Test func thePauseIsLongerAfterManyFailuresAndShortAgainAfterSuccess() throws {
        var path = Path()
        path.line = (1_300_000, 1_300_000)
        path.run(180)
        let pauses = zip(path.outcomes, path.begins.dropFirst()).map { $1 - $0.at }
        #expect(pauses.prefix(6).allSatisfy { $0 < 3.1 }, "\(pauses)")
        #expect(pauses.dropFirst(9).allSatisfy { $0 > 3 && $0 < 3.6 }, "\(pauses)")
        path.line = nil
        path.run(45)
        let passed = path.outcomes.filter { $0.outcome != .failed }.map(\.at)
        let (first, second) = (try #require(passed.first), try #require(passed.dropFirst().first))
        #expect(first < 180 + 6.5, "\(passed)")
        // The length of the probes is the rest.
        #expect(second - first < 9, "\(passed)")
    }
}
