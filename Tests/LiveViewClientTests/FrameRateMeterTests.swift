import LiveViewClient
import Testing
import Transport

struct FrameRateMeterTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    /// A camera of 15 frames a second: `backlog` frames at once, and then `live` of them with a jitter of up to 40 ms.
    private func meter(backlog: Int, live: Int, firstTimestamp: UInt32 = 90_000) -> FrameRateMeter {
        var meter = FrameRateMeter(clockRate: 90_000)
        for number in 0..<(backlog + live) {
            let jitter = number % 3 * 20
            let arrival: Duration =
                number < backlog ? .milliseconds(2 * number / 10) : .milliseconds((number - backlog + 1) * 67 + jitter)
            meter.add(timestamp: firstTimestamp &+ UInt32(number * 6_000), arrival: start + arrival)
        }
        return meter
    }

    @Test func theBacklogIsCountedApartAndDoesNotRaiseTheRate() throws {
        let meter = meter(backlog: 50, live: 45)
        #expect(abs(meter.backlogFrames - 49) <= 2)
        let rate = try #require(meter.framesPerSecond)
        #expect(abs(rate - 15) < 0.01)
    }

    @Test(arguments: [5, 30, 52, 150])
    func aBacklogWithCloseTimestampsMayOutnumberTheLiveFrames(backlog: Int) throws {
        var meter = FrameRateMeter(clockRate: 90_000)
        var timestamp: UInt32 = 90_000
        for number in 0..<backlog {
            timestamp += 90
            meter.add(timestamp: timestamp, arrival: start + .microseconds(200 * number))
        }
        for number in 1...30 {
            timestamp += 6_000
            meter.add(timestamp: timestamp, arrival: start + .milliseconds(30 + number * 67 + number % 3 * 5))
        }
        #expect(abs(meter.backlogFrames - backlog) <= 1)
        #expect(abs(try #require(meter.framesPerSecond) - 15) < 0.3)
    }

    @Test func aViewWithoutABacklogHasNone() throws {
        let meter = meter(backlog: 0, live: 60)
        #expect(meter.backlogFrames <= 1)
        #expect(abs(try #require(meter.framesPerSecond) - 15) < 0.01)
    }

    @Test func timestampsContinueAcrossTheWrap() throws {
        let meter = meter(backlog: 30, live: 45, firstTimestamp: .max - 200_000)
        #expect(abs(try #require(meter.framesPerSecond) - 15) < 0.01)
    }

    @Test func framesThatAreMissingLowerTheRate() throws {
        var meter = FrameRateMeter(clockRate: 90_000)
        for number in 0..<150 where number % 3 != 2 {
            meter.add(timestamp: UInt32(number * 6_000), arrival: start + .milliseconds(number * 67))
        }
        #expect(abs(try #require(meter.framesPerSecond) - 10) < 0.2)
    }

    @Test func oneFrameHasNoRate() {
        #expect(meter(backlog: 0, live: 0).framesPerSecond == nil)
        #expect(meter(backlog: 0, live: 1).framesPerSecond == nil)
    }
}
