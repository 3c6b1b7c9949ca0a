import Testing
import Transport

@testable import Stations

@Suite struct PullScheduleTests {
    private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    @Test func aCameraThatIsAlwaysPulledNeedsNoHold() {
        var schedule = PullSchedule(mode: .always, idleTime: .seconds(10))
        #expect(!schedule.isWanted(at: at(0)))
        schedule.enable(true)
        #expect(schedule.isWanted(at: at(0)))
        let hold = schedule.hold(for: .liveView)
        schedule.end(hold, at: at(1))
        #expect(schedule.isWanted(at: at(1_000)) && schedule.nextDeadline(after: at(1)) == nil)
        schedule.enable(false)
        #expect(!schedule.isWanted(at: at(0)))
    }

    @Test func onDemandLastsAsLongAsTheLastHoldAndTheIdleTime() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        #expect(!schedule.isWanted(at: at(0)))
        let first = schedule.hold(for: .liveView)
        let second = schedule.hold(for: .snapshot)
        #expect(schedule.isWanted(at: at(0)) && schedule.nextDeadline(after: at(0)) == nil)
        schedule.end(first, at: at(5))
        schedule.end(first, at: at(6))
        #expect(schedule.isWanted(at: at(3_600)))
        schedule.end(second, at: at(3_600))
        #expect(schedule.isWanted(at: at(3_609)) && schedule.nextDeadline(after: at(3_600)) == at(3_610))
        #expect(!schedule.isWanted(at: at(3_610)) && schedule.nextDeadline(after: at(3_610)) == nil)
    }

    @Test func aViewerThatReturnsInTimeFindsItRunning() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        let first = schedule.hold(for: .liveView)
        schedule.end(first, at: at(100))
        let second = schedule.hold(for: .liveView)
        #expect(schedule.isWanted(at: at(200)))
        schedule.end(second, at: at(200))
        #expect(schedule.isWanted(at: at(209)) && !schedule.isWanted(at: at(210)))
    }

    @Test func aPressPullsAheadOfTheFirstViewer() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        schedule.hold(for: .press, atLeastUntil: at(80))
        #expect(schedule.isWanted(at: at(50)) && schedule.nextDeadline(after: at(50)) == at(80))
        // A viewer that stays only briefly does not shorten the hold.
        let hold = schedule.hold(for: .liveView)
        schedule.end(hold, at: at(52))
        #expect(schedule.isWanted(at: at(79)) && !schedule.isWanted(at: at(80)))
    }

    @Test func aHoldWithAnExpiryEndsByItselfAndLeavesNoIdleTime() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        let recording = schedule.hold(for: .recording, until: at(60))
        #expect(schedule.isWanted(at: at(59)) && schedule.nextDeadline(after: at(0)) == at(60))
        #expect(schedule.owners(at: at(59)) == [.recording])
        #expect(!schedule.isWanted(at: at(60)) && schedule.owners(at: at(60)).isEmpty)
        schedule.expire(at: at(60))
        schedule.end(recording, at: at(61))
        #expect(!schedule.isWanted(at: at(61)) && schedule.nextDeadline(after: at(61)) == nil)
        // A hold that ends early is followed by the idle time, like any other.
        let short = schedule.hold(for: .preRoll(.seconds(10)), until: at(200))
        schedule.end(short, at: at(100))
        #expect(schedule.isWanted(at: at(109)) && !schedule.isWanted(at: at(110)))
    }

    @Test func onlyTheHoldsOfThoseWhoWatchCountAsLive() {
        var schedule = PullSchedule(mode: .always, idleTime: .seconds(10))
        schedule.enable(true)
        _ = schedule.hold(for: .recording)
        _ = schedule.hold(for: .preRoll(.seconds(4)))
        #expect(!schedule.isWatched(at: at(0)) && schedule.nextDeadline(after: at(0)) == nil)
        for owner in [CameraHold.Owner.liveView, .reader, .snapshot] {
            let hold = schedule.hold(for: owner)
            #expect(schedule.isWatched(at: at(1)) && schedule.nextDeadline(after: at(1)) == nil)
            schedule.end(hold, at: at(1))
            #expect(!schedule.isWatched(at: at(1)))
        }
        // A press ends by itself, so something has to look then.
        schedule.hold(for: .press, atLeastUntil: at(40))
        #expect(schedule.isWatched(at: at(39)) && schedule.nextDeadline(after: at(10)) == at(40))
        #expect(!schedule.isWatched(at: at(40)) && schedule.nextDeadline(after: at(40)) == nil)
        // It ends the watching of a camera on demand, too, whose recording goes on.
        var onDemand = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        onDemand.enable(true)
        _ = onDemand.hold(for: .recording)
        onDemand.hold(for: .press, atLeastUntil: at(40))
        #expect(onDemand.nextDeadline(after: at(0)) == at(40) && onDemand.isWanted(at: at(50)))
    }

    @Test func manyPressesAreOneHoldThatLastsLonger() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        for second in 0..<1_000 { schedule.hold(for: .press, atLeastUntil: at(second + 30)) }
        #expect(schedule.owners(at: at(1_000)) == [.press])
        #expect(schedule.isWanted(at: at(1_028)) && !schedule.isWanted(at: at(1_029)))
    }
}
