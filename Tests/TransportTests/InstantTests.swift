import Testing
import Transport

@Suite("An instant")
struct InstantTests {
    @Test("moves by a duration and measures it")
    func adds() {
        var instant = Instant(nanoseconds: 1_500)
        instant += .microseconds(2)
        #expect(instant.nanoseconds == 3_500)
        #expect(instant - Instant(nanoseconds: 1_500) == .microseconds(2))
        #expect(instant - .nanoseconds(500) == Instant(nanoseconds: 3_000))
        #expect(Instant(nanoseconds: 1) < instant)
        #expect(instant - Instant(nanoseconds: 4_500) == .microseconds(-1))
    }

    @Test("stays at the ends of its range instead of wrapping around")
    func saturates() {
        let early = Instant(nanoseconds: .min)
        #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
        #expect(early - .seconds(1) == early)
        #expect(early + .seconds(-1) == early)
        #expect(Instant.distantFuture - .seconds(-1) == .distantFuture)
        #expect(Instant.distantFuture - Instant(nanoseconds: -1) == .nanoseconds(Int64.max))
        #expect(early - Instant(nanoseconds: 1) == .nanoseconds(Int64.min))
        #expect(Instant.zero + .seconds(Int64.max) == .distantFuture)
        #expect(Instant.zero - .seconds(Int64.max) == Instant(nanoseconds: -.max))
        #expect(Instant(nanoseconds: -2) - .seconds(Int64.max) == early)
        #expect(Instant.zero - .seconds(Int64.min) == .distantFuture)
        #expect(Instant.distantFuture - .nanoseconds(Int64.max) == .zero)
    }

    @Test("clamps a duration to whole nanoseconds, towards zero")
    func convertsDurations() {
        #expect(Duration(secondsComponent: 1, attosecondsComponent: 999_999_999).wholeNanoseconds == 1_000_000_000)
        #expect(Duration(secondsComponent: -1, attosecondsComponent: -1_999_999_999).wholeNanoseconds == -1_000_000_001)
        #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
        #expect(Duration.nanoseconds(Int64.max).wholeNanoseconds == .max)
        #expect(Duration.nanoseconds(Int64.min).wholeNanoseconds == .min)
        #expect((Duration.nanoseconds(Int64.max) + .nanoseconds(1)).wholeNanoseconds == .max)
    }

    @Test("divides durations like the standard library, whether or not they fit 64 bits")
    func dividesDurations() {
        let most = Duration(attoseconds: Int128(UInt64.max))
        let step = Duration(attoseconds: 1)
        let durations: [Duration] = [
            .zero, step, .nanoseconds(1) - step, .seconds(1) - step, .milliseconds(1_234_567) / 1_000, .seconds(18),
            most - step, most, most + step, .seconds(19), .seconds(86_400), .seconds(3_000_000_000),
        ]
        for duration in durations + durations.map({ .zero - $0 }) {
            let (seconds, attoseconds) = duration.components
            #expect(duration.wholeNanoseconds == seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            #expect(duration.inSeconds == Double(seconds) + Double(attoseconds) * 1e-18)
        }
    }

    @Test("shows durations in seconds and milliseconds")
    func showsDurations() {
        #expect(Duration.milliseconds(1_500).inSeconds == 1.5)
        #expect(Duration.microseconds(-250).inMilliseconds == -0.25)
    }
}
