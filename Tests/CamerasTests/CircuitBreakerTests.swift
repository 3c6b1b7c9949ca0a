import Testing
import Transport

@testable import Cameras

@Suite struct CircuitBreakerTests {
    /// Fails until the circuit opens. Answers the pauses before, and when and until when it opened.
    private func open(
        _ circuit: inout CircuitBreaker, _ failure: CircuitBreaker.Failure, from start: Instant,
        random: inout RandomSource
    ) -> (pauses: [Duration], at: Instant, until: Instant, failures: Int)? {
        var now = start
        var pauses: [Duration] = []
        for _ in 0..<1000 {
            switch circuit.fail(failure, at: now, random: &random) {
            case .retry(let pause):
                pauses.append(pause)
                now += pause
            case .giveUp(let end, let failures):
                return (pauses, now, end, failures)
            }
        }
        return nil
    }

    @Test func pausesGrowAndAreJittered() {
        var circuit = CircuitBreaker()
        var random = RandomSource.seeded(5)
        var pauses: [Double] = []
        for _ in 0..<12 {
            guard case .retry(let pause) = circuit.fail(.unreachable, at: .zero, random: &random) else { continue }
            pauses.append(pause.inSeconds)
        }
        #expect(pauses.count == 12 && pauses[0] < 1)
        #expect(pauses.dropFirst(8).allSatisfy { $0 >= 2 && $0 < 6 })
        #expect(Set(pauses).count == 12)
    }

    @Test func aWrongPasswordIsTriedThreeTimesAndThenOnlyAfterAQuarterOfAnHour() throws {
        var circuit = CircuitBreaker()
        var random = RandomSource.seeded(1)
        let opened = try #require(open(&circuit, .credentialsRefused, from: .zero, random: &random))
        #expect(opened.failures == 3 && opened.pauses.count == 2)
        #expect(opened.pauses.allSatisfy { $0 >= .seconds(15) })
        #expect(opened.until - opened.at >= .seconds(810) && opened.until - opened.at < .seconds(990))
        #expect(circuit.openUntil == opened.until)
        // A day of a wrong password is a few dozen attempts.
        var (now, attempts) = (opened.until, 3)
        while now < .zero + .seconds(86_400) {
            guard case .giveUp(let end, let failures) = circuit.fail(.credentialsRefused, at: now, random: &random)
            else {
                Issue.record("the trial has failed in the same way, so the circuit opens again")
                return
            }
            attempts += 1
            #expect(failures == attempts)
            now = end
        }
        #expect(attempts < 35)
    }

    @Test func theTrialOfAHalfOpenCircuitClosesIt() throws {
        var circuit = CircuitBreaker()
        var random = RandomSource.seeded(2)
        _ = try #require(open(&circuit, .credentialsRefused, from: .zero, random: &random))
        circuit.succeed()
        #expect(circuit.openUntil == nil && circuit.failures == 0)
        guard case .retry = circuit.fail(.credentialsRefused, at: .zero, random: &random) else {
            Issue.record("the next failure is a first one")
            return
        }
    }

    @Test func eachKindOfFailureCountsByItself() throws {
        var circuit = CircuitBreaker()
        var random = RandomSource.seeded(3)
        // A camera that is away most of the time does not hide that its password is wrong.
        var refused = 0
        var hasOpened = false
        for attempt in 0..<12 where !hasOpened {
            let kind = attempt % 4 == 3 ? CircuitBreaker.Failure.credentialsRefused : .unreachable
            if kind == .credentialsRefused { refused += 1 }
            if case .giveUp(_, let failures) = circuit.fail(kind, at: .zero, random: &random) {
                #expect(kind == .credentialsRefused && failures == 3)
                hasOpened = true
            }
        }
        #expect(hasOpened && refused == 3)
        // The trial meets a camera that is away: that is not a wrong password, and it is tried again soon.
        guard case .retry = circuit.fail(.unreachable, at: .zero, random: &random) else {
            Issue.record("another kind of failure does not open it")
            return
        }
        #expect(circuit.openUntil == nil)
    }

    @Test func aCameraThatIsAwayForLongIsFoundWithinFiveMinutes() throws {
        var circuit = CircuitBreaker()
        var random = RandomSource.seeded(4)
        let opened = try #require(open(&circuit, .unreachable, from: .zero, random: &random))
        #expect(opened.failures == 450)
        // A reboot, and also a long update, are over before.
        #expect(opened.at > .zero + .seconds(1200))
        // Whenever it is back, it is found at once.
        #expect(opened.pauses.allSatisfy { $0 < .seconds(6) })
        var now = opened.until
        for _ in 0..<200 {
            guard case .giveUp(let end, _) = circuit.fail(.unreachable, at: now, random: &random) else { return }
            #expect(end - now < .seconds(300))
            now = end
        }
    }

    @Test func aCameraWithoutMediaIsLeftAloneAfterTenRefusals() throws {
        var circuit = CircuitBreaker()
        var random = RandomSource.seeded(6)
        let opened = try #require(open(&circuit, .mediaRefused, from: .zero, random: &random))
        #expect(opened.failures == 10 && opened.until - opened.at >= .seconds(270))
    }
}
