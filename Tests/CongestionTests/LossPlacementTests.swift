import Testing
import Transport

@testable import Congestion

/// Random loss, loss in bursts, and loss for want of room.
@Suite struct LossPlacementTests {
    /// Loses packets of frames of 14 by `isLost`. Returns the first frame after which a lack of room is seen.
    private func firstDoubt(frames: UInt64, _ isLost: (Int) -> Bool) -> UInt64? {
        var placement = LossPlacement()
        for frame in 0..<frames {
            for position in 0..<14 where isLost(position) {
                placement.recordLost(frame: frame, position: position, of: 14)
            }
            if placement.showsLackOfRoom { return frame }
        }
        return nil
    }

    @Test(arguments: [0.05, 0.2, 0.5]) func randomLossIsNotTakenForALackOfRoom(loss: Double) {
        var random = RandomSource.seeded(4)
        #expect(firstDoubt(frames: 20_000) { _ in Double.random(in: 0..<1, using: &random) < loss } == nil)
    }

    @Test func lossInBurstsIsSeldomTakenForALackOfRoom() {
        var random = RandomSource.seeded(4)
        var isBad = false
        var doubts = 0
        for _ in 0..<40 {
            let doubt = firstDoubt(frames: 1_000) { _ in
                isBad = Double.random(in: 0..<1, using: &random) < (isBad ? 0.875 : 0.01)
                return isBad
            }
            if doubt != nil { doubts += 1 }
        }
        // 40 minutes. A limit that was wrong ends after a moment.
        #expect(doubts <= 4, "\(doubts)")
    }

    @Test func aLineThatTakesTheFirstPacketsOfEachFrameIsSeenWithinASecond() throws {
        var random = RandomSource.seeded(4)
        let exact = try #require(firstDoubt(frames: 100) { $0 >= 8 })
        #expect(exact < 12, "\(exact)")
        let lossy = try #require(
            firstDoubt(frames: 100) { $0 >= 8 || Double.random(in: 0..<1, using: &random) < 0.1 })
        #expect(lossy < 18, "\(lossy)")
    }

    @Test func singlePacketsAndTheMiddleHaveNoHalf() {
        var placement = LossPlacement()
        for frame in 0..<100 as Range<UInt64> {
            placement.recordLost(frame: frame, position: 0, of: 1)
            placement.recordLost(frame: frame, position: 1, of: 3)
        }
        #expect(!placement.showsLackOfRoom)
    }
}
