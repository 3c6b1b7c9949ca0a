import LiveViewClient
import Testing
import Transport

@Suite struct FrameArrivalsTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    /// A view of a camera with 30 frames a second that has `backlog` frames to catch up on, whose timestamps span 3,000 ticks
    /// at most, and that gets them within `duration`.
    private func makeView(backlog: Int, duration: Duration, live: Int = 40) -> FrameArrivals {
        var arrivals = FrameArrivals()
        var timestamp = UInt32.max - 1_000
        let step = backlog > 0 ? UInt32(min(3_000, 3_000 * backlog) / backlog) : 0
        for index in 0..<backlog {
            arrivals.record(
                timestamp: timestamp,
                at: start + .nanoseconds(duration.wholeNanoseconds * Int64(index) / Int64(backlog)))
            timestamp &+= step
        }
        for index in 0..<live {
            // Frames that were made while the backlog was on its way wait behind it.
            let made = start + .nanoseconds(Int64(index) * 33_333_333)
            arrivals.record(timestamp: timestamp, at: max(made, start + duration) + .milliseconds(index % 5))
            timestamp &+= 3_000
        }
        return arrivals
    }

    @Test(arguments: [10, 60, 120, 310], [20, 80, 250])
    func theLastFrameThatWaitedEndsTheBacklog(backlog: Int, milliseconds: Int) throws {
        let duration = Duration.milliseconds(milliseconds)
        let caughtUp = try #require(makeView(backlog: backlog, duration: duration).caughtUp())
        #expect(abs((caughtUp - start - duration).inSeconds) < 0.021, "\(caughtUp - start)")
    }

    @Test func withoutABacklogTheFirstFrameIsLive() throws {
        #expect(try #require(makeView(backlog: 0, duration: .zero).caughtUp()) == start)
    }

    @Test func aFewFramesSayNothing() {
        #expect(FrameArrivals().caughtUp() == nil)
        #expect(makeView(backlog: 2, duration: .milliseconds(5), live: 7).caughtUp() == nil)
        #expect(makeView(backlog: 100, duration: .milliseconds(50), live: 2).caughtUp() == nil)
    }
}
