import Testing
import Transport

@testable import MediaRelay

@Suite struct ConnectionBacklogTests {
    /// A kernel that holds 16 KiB and sends at a constant rate.
    private struct Line {
        var bytesPerSecond: Double
        var held = 0
        var now = Instant.zero
        var waiting = 0
        var backlog = ConnectionBacklog(most: 400 << 10)

        /// Time passes, and the queue is flushed.
        mutating func pass(_ duration: Duration) {
            now += duration
            held = max(0, held - Int(bytesPerSecond * duration.inSeconds))
            let taken = min(waiting, (16 << 10) - held)
            held += taken
            waiting -= taken
            backlog.record(taken: taken, waiting: waiting, at: now)
        }

        /// Adds runs of media as long as the limit allows.
        mutating func fill() {
            while waiting < backlog.limit { waiting += 1_200 }
        }
    }

    @Test(arguments: [30_000, 125_000, 500_000] as [Double])
    func whatWaitsForASlowLineIsAFifthOfASecond(bytesPerSecond: Double) {
        var line = Line(bytesPerSecond: bytesPerSecond)
        for _ in 0..<1_000 {
            line.fill()
            line.pass(.milliseconds(5))
        }
        let expected = max(bytesPerSecond * ConnectionBacklog.delay.inSeconds, Double(ConnectionBacklog.least))
        #expect(Double(line.backlog.limit) > expected * 0.7 && Double(line.backlog.limit) < expected * 1.4)
    }

    @Test func aFasterLineIsNoticed() {
        var line = Line(bytesPerSecond: 50_000)
        for _ in 0..<200 {
            line.fill()
            line.pass(.milliseconds(5))
        }
        #expect(line.backlog.limit < 20_000)
        line.bytesPerSecond = 3_000_000
        for _ in 0..<200 {
            line.fill()
            line.pass(.milliseconds(5))
        }
        #expect(line.backlog.limit > 200_000)
    }

    @Test func soundAloneDoesNotRaiseTheLimit() {
        var backlog = ConnectionBacklog(most: 1 << 20)
        for number in 0..<1_000 {
            backlog.record(taken: 120, waiting: 0, at: .zero + .milliseconds(20) * number)
        }
        #expect(backlog.limit == ConnectionBacklog.first)
        backlog.record(taken: 100_000, waiting: 0, at: .zero + .seconds(60))
        #expect(backlog.limit == 2 * ConnectionBacklog.first)
    }

    @Test func aLineThatStandsStillGetsTheLeast() {
        var line = Line(bytesPerSecond: 0)
        for _ in 0..<400 {
            line.fill()
            line.pass(.milliseconds(5))
        }
        #expect(line.backlog.limit == ConnectionBacklog.least)
    }
}
