import Testing
import Transport

@testable import Congestion

/// Peers that report nothing, or seldom.
@Suite struct ReportWatchTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    /// Runs for some time in steps of 5 seconds.
    /// - Parameters:
    ///   - pause: the time between two reports; nil for none.
    ///   - sends: whether something is sent.
    /// - Returns: when the peer was silent first, in seconds.
    private func run(
        _ watch: inout ReportWatch, from begin: Int = 0, until end: Int, pause: Int? = nil, sends: Bool = true
    ) -> Int? {
        var silent: Int?
        for second in stride(from: begin, to: end, by: 5) {
            if let pause, second > 0, second % pause == 0 { watch.recordReport(at: start + .seconds(second)) }
            watch.recordTime(sent: sends ? UInt64(second + 1) * 1_000 : 1, at: start + .seconds(second))
            if watch.isSilent, silent == nil { silent = second }
        }
        return silent
    }

    @Test func aPeerThatReportsNothingIsSilentAfterHalfAMinute() {
        var watch = ReportWatch()
        #expect(run(&watch, until: 100) == 30)
        watch.recordReport(at: start + .seconds(100))
        #expect(!watch.isSilent)
    }

    /// A peer may report as seldom as it likes, as long as it does so in its own time.
    @Test(arguments: [5, 25, 60]) func aPeerThatReportsSeldomIsNotSilent(pause: Int) {
        var watch = ReportWatch()
        // The first report is in time.
        watch.recordReport(at: start)
        watch.recordReport(at: start + .seconds(min(pause, 25)))
        #expect(run(&watch, from: min(pause, 25), until: 600, pause: pause) == nil)
        #expect(run(&watch, from: 600, until: 900) != nil, "until it stops")
    }

    /// Each request for a lost packet may bring a report.
    @Test func aBurstOfReportsDoesNotShortenTheTimeOfAPeerThatSeldomReports() {
        var watch = ReportWatch()
        watch.recordReport(at: start)
        watch.recordReport(at: start + .seconds(25))
        for index in 0..<200 { watch.recordReport(at: start + .seconds(25) + .milliseconds(index * 5)) }
        #expect(run(&watch, from: 30, until: 200) == 105)
    }

    @Test func aPauseInWhichNothingWasSentDoesNotCountAsThePeersInterval() {
        var watch = ReportWatch()
        #expect(run(&watch, until: 60, pause: 5) == nil)
        #expect(run(&watch, from: 60, until: 660, sends: false) == nil)
        watch.recordReport(at: start + .seconds(660))
        #expect(run(&watch, from: 660, until: 900) == 690)
    }

    @Test func noPeerHasLongerThanThreeMinutes() {
        var watch = ReportWatch()
        watch.recordReport(at: start)
        watch.recordReport(at: start + .seconds(3_600))
        #expect(run(&watch, from: 3_600, until: 4_000) == 3_780)
    }

    @Test func thereIsNothingToReportWhileNothingIsSent() {
        var watch = ReportWatch()
        #expect(run(&watch, until: 300, sends: false) == nil)
        #expect(run(&watch, from: 300, until: 325) == nil)
        #expect(run(&watch, from: 325, until: 400) != nil)
    }

    @Test func aSilentPeerHasALowLimitUntilItReports() {
        var estimator = BandwidthEstimator()
        for second in 0..<40 { estimator.recordTime(sent: UInt64(second + 1) * 1_000, at: start + .seconds(second)) }
        #expect(estimator.limit(at: start + .seconds(40)) == ReportWatch.rate)
        estimator.recordPartialReport(at: start + .seconds(40))
        #expect(estimator.limit(at: start + .seconds(40)) == nil)
    }
}
