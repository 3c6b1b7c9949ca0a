import Testing
import Transport

@testable import PushAvStreamTransport

/// The time by which recordings grow old, while the machine's clock is right, leaps, and is set back.
@Suite struct RetentionClockTests {
    private static let start: Int64 = 1_763_900_000_000
    private static let hour: Int64 = 3_600_000
    private static let year = 365 * 24 * hour

    /// A reading some hours after the start of the machine.
    private func reading(
        hours: Double, ahead: Int64 = 0, isSynchronized: Bool = false
    ) -> RetentionClock.Reading {
        let passed = Int64(hours * Double(Self.hour))
        return RetentionClock.Reading(
            wall: Self.start + passed + ahead, uptime: Instant(nanoseconds: passed * 1_000_000),
            isSynchronized: isSynchronized)
    }

    @Test func `a clock that runs counts`() {
        var clock = RetentionClock()
        for hours in [0, 0.1, 5, 100, 10_000] {
            #expect(clock.time(at: reading(hours: hours)) == Self.start + Int64(hours * Double(Self.hour)))
        }
        #expect(clock.lead == 0)
    }

    @Test func `a leap counts after a day`() {
        var clock = RetentionClock()
        _ = clock.time(at: reading(hours: 0))
        #expect(clock.time(at: reading(hours: 1, ahead: Self.year)) == Self.start + Self.hour)
        #expect(clock.lead == Self.year)
        #expect(clock.time(at: reading(hours: 24.9, ahead: Self.year)) == reading(hours: 24.9).wall)
        #expect(clock.time(at: reading(hours: 25, ahead: Self.year)) == reading(hours: 25, ahead: Self.year).wall)
        #expect(clock.lead == 0)
    }

    @Test func `a leap that a time server made or confirms counts at once`() {
        var clock = RetentionClock()
        _ = clock.time(at: reading(hours: 0))
        let made = reading(hours: 1, ahead: Self.hour, isSynchronized: true)
        #expect(clock.time(at: made) == made.wall)
        _ = clock.time(at: reading(hours: 2, ahead: Self.year))
        let confirmed = reading(hours: 3, ahead: Self.year, isSynchronized: true)
        #expect(clock.time(at: confirmed) == confirmed.wall)
    }

    @Test func `a clock that is set back after a leap counts, and the leap is forgotten`() {
        var clock = RetentionClock()
        _ = clock.time(at: reading(hours: 0))
        _ = clock.time(at: reading(hours: 1, ahead: Self.year))
        #expect(clock.time(at: reading(hours: 2)) == reading(hours: 2).wall)
        #expect(clock.lead == 0)
        #expect(clock.time(at: reading(hours: 30)) == reading(hours: 30).wall)
    }

    @Test func `a clock that is set back without a leap counts`() {
        var clock = RetentionClock()
        _ = clock.time(at: reading(hours: 0, ahead: Self.year))
        #expect(clock.time(at: reading(hours: 1)) == reading(hours: 1).wall)
        #expect(clock.lead == 0)
    }

    @Test func `a second leap begins another day`() {
        var clock = RetentionClock()
        _ = clock.time(at: reading(hours: 0))
        _ = clock.time(at: reading(hours: 1, ahead: Self.year))
        #expect(clock.time(at: reading(hours: 20, ahead: 2 * Self.year)) == reading(hours: 20).wall)
        #expect(clock.time(at: reading(hours: 43, ahead: 2 * Self.year)) == reading(hours: 43).wall)
        #expect(clock.lead == 2 * Self.year)
        _ = clock.time(at: reading(hours: 44, ahead: 2 * Self.year))
        #expect(clock.lead == 0)
    }

    @Test func `steps of less than a minute count`() {
        var clock = RetentionClock()
        _ = clock.time(at: reading(hours: 0))
        #expect(clock.time(at: reading(hours: 1, ahead: 59_000)) == reading(hours: 1, ahead: 59_000).wall)
        #expect(clock.lead == 0)
    }

    @Test func `a long pause between runs is doubted, and a short one is not`() {
        var short = RetentionClock(after: .init(time: Self.start - 24 * Self.hour))
        #expect(short.time(at: reading(hours: 0)) == Self.start)
        var long = RetentionClock(after: .init(time: Self.start - Self.year))
        #expect(long.time(at: reading(hours: 0)) == Self.start - Self.year)
        #expect(long.time(at: reading(hours: 5)) == Self.start - Self.year + 5 * Self.hour)
        #expect(long.time(at: reading(hours: 24)) == reading(hours: 24).wall)
        var confirmed = RetentionClock(after: .init(time: Self.start - Self.year))
        #expect(confirmed.time(at: reading(hours: 0, isSynchronized: true)) == Self.start)
    }

    @Test func `the next run doubts a leap for what is left of the day`() {
        var first = RetentionClock()
        _ = first.time(at: reading(hours: 0))
        _ = first.time(at: reading(hours: 1, ahead: Self.year))
        _ = first.time(at: reading(hours: 11, ahead: Self.year))
        var second = RetentionClock(after: first.record)
        #expect(second.time(at: reading(hours: 20, ahead: Self.year)) == reading(hours: 20).wall)
        #expect(second.time(at: reading(hours: 33.5, ahead: Self.year)) == reading(hours: 33.5).wall)
        #expect(second.time(at: reading(hours: 34, ahead: Self.year)) == reading(hours: 34, ahead: Self.year).wall)
        // Another leap while the gateway was off.
        var third = RetentionClock(after: first.record)
        #expect(third.time(at: reading(hours: 20, ahead: 2 * Self.year)) == reading(hours: 11).wall)
        // The clock was put right while it was off.
        var fourth = RetentionClock(after: first.record)
        #expect(fourth.time(at: reading(hours: 20)) == reading(hours: 20).wall)
        #expect(fourth.lead == 0)
    }

    @Test func `a clock that is behind the earlier run counts`() {
        var clock = RetentionClock(after: .init(time: Self.start + Self.year))
        #expect(clock.time(at: reading(hours: 0)) == Self.start)
        #expect(clock.lead == 0)
    }
}
