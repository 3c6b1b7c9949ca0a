import Testing
import Transport

@testable import Congestion

/// Main stream or smaller one.
@Suite struct StreamChoiceTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func limited(_ limit: Double, at now: Instant) -> BandwidthEstimator {
        var estimator = BandwidthEstimator()
        estimator.limitation = RateLimit(
            because: .queue, delivered: limit / 0.85, loss: 0, floor: BandwidthEstimator.floor, at: now)
        return estimator
    }

    private func proven(_ rate: Double, at now: Instant) -> BandwidthEstimator {
        var estimator = BandwidthEstimator()
        estimator.feedbackAt = now
        estimator.proven = rate
        estimator.provenAt = now
        return estimator
    }

    @Test func aLimitBelowTheStreamAsksForASmallerOneNowAndThen() {
        var choice = StreamChoice()
        let narrow = limited(1_300_000, at: start)
        var wish = choice.takeWish(narrow, demand: 1_400_000, at: start)
        #expect(wish == nil, "it nearly fits")
        wish = choice.takeWish(narrow, demand: 2_200_000, at: start)
        #expect(wish == .smaller)
        wish = choice.takeWish(narrow, demand: 2_200_000, at: start + .seconds(1))
        #expect(wish == nil)
        wish = choice.takeWish(narrow, demand: 2_200_000, at: start + .seconds(2))
        #expect(wish == .smaller)
    }

    @Test func aLimitThatIsOnlyTriedMovesNobody() {
        var estimator = BandwidthEstimator()
        estimator.limitation = RateLimit(
            because: .trial, delivered: 1_000_000, loss: 0.4, floor: BandwidthEstimator.floor, at: start)
        var choice = StreamChoice()
        let wish = choice.takeWish(estimator, demand: 2_200_000, at: start)
        #expect(wish == nil)
    }

    @Test func theLargerStreamNeedsProofAndEachFailureALongerPause() {
        var choice = StreamChoice()
        var now = start
        var pauses: [Duration] = []
        for _ in 0..<6 {
            choice.recordSmaller(than: 2_000_000, at: now)
            let begin = now
            #expect(choice.larger == 2_000_000 && choice.probed(at: now) == nil)
            while choice.probed(at: now) == nil { now += .milliseconds(500) }
            pauses.append(now - begin)
            var wish = choice.takeWish(proven(2_200_000, at: now), demand: 400_000, at: now)
            #expect(wish == nil, "too little")
            wish = choice.takeWish(proven(2_400_000, at: now), demand: 400_000, at: now)
            #expect(wish == .larger)
            choice.recordLarger(at: now)
            #expect(choice.larger == nil)
            now += .seconds(5)
        }
        #expect(pauses == [3, 10, 20, 40, 60, 60].map { Duration.seconds($0) }, "\(pauses)")
        // One that lasts is not a failure.
        now += .seconds(30)
        choice.recordSmaller(than: 2_000_000, at: now)
        #expect(choice.probed(at: now + .seconds(3)) != nil)
    }

    @Test func aPeerWithoutFeedbackHasToTry() {
        var choice = StreamChoice()
        choice.recordSmaller(than: 2_000_000, at: start)
        let silent = BandwidthEstimator()
        var wish = choice.takeWish(silent, demand: 400_000, at: start + .seconds(19))
        #expect(wish == nil)
        wish = choice.takeWish(silent, demand: 400_000, at: start + .seconds(20))
        #expect(wish == .larger)
    }

    @Test func aMoveIsTakenBackWhenTheEstimateTurnsRound() {
        var choice = StreamChoice()
        var turn = choice.takeTurn(from: .smaller, limited(1_300_000, at: start), at: start)
        #expect(turn == nil && !choice.isTurning(at: start), "it is still needed")
        turn = choice.takeTurn(from: .smaller, BandwidthEstimator(), at: start)
        #expect(turn == .larger && choice.isTurning(at: start))
        turn = choice.takeTurn(from: .smaller, BandwidthEstimator(), at: start + .seconds(1))
        #expect(turn == nil, "once")
        choice.recordMove()
        #expect(!choice.isTurning(at: start))
        choice.recordSmaller(than: 2_000_000, at: start)
        let later = start + .seconds(10)
        turn = choice.takeTurn(from: .larger, limited(1_900_000, at: later), at: later)
        #expect(turn == nil, "it nearly fits")
        turn = choice.takeTurn(from: .larger, limited(300_000, at: later), at: later)
        #expect(turn == .smaller)
        #expect(choice.probed(at: later + .seconds(2)) == nil && choice.probed(at: later + .seconds(3)) != nil)
    }
}
