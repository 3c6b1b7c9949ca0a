import Testing
import Transport

@testable import Signalling

@Suite struct PullScheduleTests {
    private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    @Test func aCameraThatIsAlwaysPulledNeedsNoLease() {
        var schedule = PullSchedule(mode: .always, idleTime: .seconds(10))
        #expect(!schedule.isWanted(at: at(0)))
        schedule.enable(true)
        #expect(schedule.isWanted(at: at(0)))
        let lease = schedule.acquire(reason: "live view")
        schedule.release(lease, at: at(1))
        #expect(schedule.isWanted(at: at(1_000)) && schedule.nextDeadline(after: at(1)) == nil)
        schedule.enable(false)
        #expect(!schedule.isWanted(at: at(0)))
    }

    @Test func onDemandLastsAsLongAsTheLastLeaseAndTheIdleTime() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        #expect(!schedule.isWanted(at: at(0)))
        let first = schedule.acquire(reason: "live view")
        let second = schedule.acquire(reason: "snapshot")
        #expect(schedule.isWanted(at: at(0)) && schedule.nextDeadline(after: at(0)) == nil)
        schedule.release(first, at: at(5))
        schedule.release(first, at: at(6))
        #expect(schedule.isWanted(at: at(3_600)))
        schedule.release(second, at: at(3_600))
        #expect(schedule.isWanted(at: at(3_609)) && schedule.nextDeadline(after: at(3_600)) == at(3_610))
        #expect(!schedule.isWanted(at: at(3_610)) && schedule.nextDeadline(after: at(3_610)) == nil)
    }

    @Test func somebodyWhoComesBackInTimeFindsItRunning() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        let first = schedule.acquire(reason: "live view")
        schedule.release(first, at: at(100))
        let second = schedule.acquire(reason: "live view")
        #expect(schedule.isWanted(at: at(200)))
        schedule.release(second, at: at(200))
        #expect(schedule.isWanted(at: at(209)) && !schedule.isWanted(at: at(210)))
    }

    @Test func aPressPullsAheadOfTheFirstViewer() {
        var schedule = PullSchedule(mode: .onDemand, idleTime: .seconds(10))
        schedule.enable(true)
        schedule.noteAttention(for: .seconds(30), at: at(50))
        #expect(schedule.isWanted(at: at(50)) && schedule.nextDeadline(after: at(50)) == at(80))
        // A viewer who looks in briefly does not make it shorter.
        let lease = schedule.acquire(reason: "live view")
        schedule.release(lease, at: at(52))
        #expect(schedule.isWanted(at: at(79)) && !schedule.isWanted(at: at(80)))
    }
}
