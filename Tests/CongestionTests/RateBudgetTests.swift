import Testing
import Transport

@testable import Congestion

/// What may leave to one peer.
@Suite struct RateBudgetTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func repairsGetAShareOfWhatIsSent() {
        var budget = RateBudget()
        #expect(budget.takeForRepair(1, at: start) == false)
        budget.earn(bytesSent: 1_000, recentBytes: 1_000, .usual)
        #expect(budget.takeForRepair(500, at: start) && !budget.takeForRepair(1, at: start))
        budget.earn(bytesSent: 2_000, recentBytes: 1_000, .lossy)
        #expect(budget.takeForRepair(2_000, at: start) && !budget.takeForRepair(1, at: start))
        #expect(budget.takeForRepair(-1, at: start) == false)
        // An hour without a request saves up a second's share, or what a key frame needs.
        budget.earn(bytesSent: 900_000_000, recentBytes: 250_000, .usual)
        #expect(budget.repairCredit == 125_000)
        budget.earn(bytesSent: 900_000_000, recentBytes: 0, .usual)
        #expect(budget.repairCredit == RateBudget.leastCapacity)
    }

    /// Neither the way down nor the way up again earns anything.
    @Test func aTotalThatFallsEarnsNothing() {
        var budget = RateBudget()
        budget.earn(bytesSent: 100_000, recentBytes: 250_000, .usual)
        #expect(budget.repairCredit == 50_000)
        for _ in 0..<10 {
            budget.earn(bytesSent: 1_000, recentBytes: 250_000, .usual)
            #expect(budget.repairCredit == 50_000)
            budget.earn(bytesSent: 100_000, recentBytes: 250_000, .usual)
            #expect(budget.repairCredit == 50_000)
        }
        budget.earn(bytesSent: 101_000, recentBytes: 250_000, .usual)
        #expect(budget.repairCredit == 50_500)
    }

    @Test func aRepairThatHasNotLeftCostsNothing() {
        var budget = RateBudget()
        budget.earn(bytesSent: 10_000, recentBytes: 10_000, .usual)
        let isAllowed = budget.takeForRepair(1_200, at: start)
        #expect(isAllowed && budget.repairCredit == 3_800)
        budget.giveBack(repair: 1_200, spent: 1_250)
        #expect(budget.repairCredit == 5_000)
        // With a limit, repairs take from the bucket until they are three tenths of a second ahead.
        budget.setLimit(1_000_000, at: start)
        var sent = 0
        while budget.takeForRepair(1_200, at: start) {
            budget.spend(datagrams: 1, bytes: 1_250)
            sent += 1
        }
        #expect(sent == 30)
        budget.giveBack(repair: 1_200, spent: 1_250)
        let isAllowedAgain = budget.takeForRepair(1_200, at: start)
        #expect(isAllowedAgain && budget.repairCredit == 5_000)
    }

    /// What was saved up is not spent into a line that may have no room.
    @Test func savedUpCreditIsGivenUpWhenLossIsSuddenlyHeavy() {
        var budget = RateBudget()
        budget.earn(bytesSent: 10_000_000, recentBytes: 250_000, .usual)
        #expect(budget.repairCredit == 125_000)
        budget.earn(bytesSent: 10_000_000, recentBytes: 250_000, .sudden)
        #expect(budget.repairCredit == RateBudget.suddenCapacity)
        while budget.takeForRepair(1_200, at: start) {}
        budget.earn(bytesSent: 10_010_000, recentBytes: 250_000, .sudden)
        #expect(budget.takeForRepair(3_000, at: start) && !budget.takeForRepair(1_200, at: start))
    }

    /// Sound each 20 ms, repairs as many as may leave, and pictures as many as may leave.
    private func share(
        of limit: Double, sound: Int, repairs: Bool
    ) -> (sound: Double, repairs: Double, pictures: Double) {
        var budget = RateBudget()
        budget.setLimit(limit, at: start)
        var sent = (sound: 0.0, repairs: 0.0, pictures: 0.0)
        for step in 0..<1_000 as Range<Int64> {
            let now = start + .milliseconds(step * 10)
            if step % 2 == 0 {
                budget.spend(datagrams: 1, bytes: sound)
                sent.sound += Double(sound + 28)
            }
            while repairs, budget.takeForRepair(1_200, at: now) {
                budget.spend(datagrams: 1, bytes: 1_200)
                sent.repairs += 1_228
            }
            for _ in 0..<budget.packets(at: now) {
                budget.spend(datagrams: 1, bytes: 1_200)
                sent.pictures += 1_228
            }
        }
        let scale = 8 / 10.0
        return (sent.sound * scale, sent.repairs * scale, sent.pictures * scale)
    }

    @Test func soundComesBeforeRepairsAndTheseBeforePictures() {
        let usual = share(of: 1_000_000, sound: 110, repairs: false)
        #expect(usual.sound == 55_200 && abs(usual.sound + usual.pictures - 1_000_000) < 10_000, "\(usual)")
        let repaired = share(of: 1_000_000, sound: 110, repairs: true)
        #expect(repaired.sound == 55_200 && repaired.pictures < 10_000, "\(repaired)")
        // No more than the limit, and what repairs may take in advance.
        #expect(repaired.sound + repaired.repairs < 1_035_000, "\(repaired)")
        // Sound needs all of it, and gets it.
        let narrow = share(of: 100_000, sound: 400, repairs: true)
        #expect(narrow.sound == 171_200 && narrow.pictures == 0, "\(narrow)")
    }

    @Test func aLimitThatEndsLeavesNoDebt() {
        var budget = RateBudget()
        budget.setLimit(100_000, at: start)
        budget.spend(datagrams: 100, bytes: 120_000)
        #expect(budget.packets(at: start) == 0)
        // The debt is at most what a second brings.
        #expect(budget.packets(at: start + .milliseconds(1_010)) > 0)
        budget.setLimit(nil, at: start)
        #expect(!budget.isLimited)
        budget.setLimit(1_000_000, at: start + .seconds(1))
        #expect(budget.packets(at: start + .milliseconds(1_010)) > 0)
    }
}
