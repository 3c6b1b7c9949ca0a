import Testing
import Transport

@testable import Congestion

/// When a report is overdue, so that a limit is halved. Peers report in their own time, and in bursts.
@Suite struct ReportPauseTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    private func at(_ milliseconds: Int) -> Instant { start + .milliseconds(milliseconds) }

    /// A peer that has reported every `pause` milliseconds, and has got a limit with its last report.
    private func limited(each pause: Int, until end: Int) -> BandwidthEstimator {
        var estimator = BandwidthEstimator()
        for time in stride(from: 0, through: end, by: pause) { estimator.recordHeard(at: at(time)) }
        estimator.begin(.queue, delivered: 8_000_000, loss: 0, at: at(end))
        return estimator
    }

    /// Lets time pass.
    /// - Returns: how often the limit became lower.
    private func halvings(_ estimator: inout BandwidthEstimator, from begin: Int, until end: Int) -> Int {
        var count = 0
        for time in stride(from: begin, to: end, by: 100) {
            let before = estimator.limit(at: at(time)) ?? 0
            estimator.recordTime(at: at(time))
            if let limit = estimator.limit(at: at(time)), limit < before { count += 1 }
        }
        return count
    }

    @Test(arguments: [2_000, 5_000, 7_000]) func aReportIsOverdueAfterTwiceTheUsualTime(pause: Int) {
        var estimator = limited(each: pause, until: pause * 10)
        #expect(halvings(&estimator, from: pause * 10, until: pause * 12) == 0)
        #expect(halvings(&estimator, from: pause * 12, until: pause * 12 + 100) == 1)
    }

    /// Lost packets are asked for many times a second, and each request may bring a report.
    @Test(arguments: [1, 20, 500]) func aBurstOfReportsDoesNotMakeTheNextOneOverdue(count: Int) {
        var estimator = limited(each: 7_000, until: 70_000)
        for index in 0..<count { estimator.recordHeard(at: at(70_000 + index * 2)) }
        let last = 70_000 + (count - 1) * 2
        #expect(halvings(&estimator, from: last, until: 79_000) == 0)
        // The wait still ends.
        #expect(halvings(&estimator, from: 79_000, until: last + 14_100) == 1)
    }

    /// The same holds for a burst in each of many regular intervals.
    @Test func repeatedBurstsDoNotMakeTheNextReportOverdue() {
        var estimator = limited(each: 7_000, until: 70_000)
        for burst in 0..<20 {
            let begin = 70_000 + burst * 7_000
            for index in 0..<100 { estimator.recordHeard(at: at(begin + index * 5)) }
            #expect(halvings(&estimator, from: begin + 500, until: begin + 7_000) == 0, "burst \(burst)")
        }
    }

    /// A peer that begins to report less often is limited too much for at most two of its reports.
    @Test func aPeerThatBeginsToReportLessOftenIsSoonKnownForIt() {
        var estimator = limited(each: 1_000, until: 60_000)
        var counts: [Int] = []
        for report in 0..<12 {
            let begin = 60_000 + report * 7_000
            if report > 0 { estimator.recordHeard(at: at(begin)) }
            counts.append(halvings(&estimator, from: begin, until: begin + 7_000))
        }
        #expect(counts[0] > 0 && counts[1] <= 1, "\(counts)")
        #expect(counts[2...].allSatisfy { $0 == 0 }, "\(counts)")
    }

    /// Feedback is regular, so a pause in it is soon forgotten, and the next one is noticed after two seconds again.
    @Test func aPauseInTheFeedbackIsForgotten() {
        var estimator = BandwidthEstimator()
        let log = SendLog()
        func feedback(from begin: Int, until end: Int) {
            for time in stride(from: begin, to: end, by: 100) {
                let traffic = BandwidthEstimator.Traffic(
                    datagrams: UInt64(time / 10), bytes: UInt64(time) * 120, demand: 1_000_000, mayBegin: false)
                estimator.endFeedback(traffic, log, at: at(time))
            }
        }
        feedback(from: 0, until: 4_000)
        feedback(from: 14_000, until: 30_000)
        estimator.begin(.queue, delivered: 8_000_000, loss: 0, at: at(29_900))
        #expect(halvings(&estimator, from: 30_000, until: 31_900) == 0)
        #expect(halvings(&estimator, from: 31_900, until: 32_000) == 1)
    }
}
