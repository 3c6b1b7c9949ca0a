import Testing
import Transport

@testable import SRTP

@Suite struct ReplayWindowTests {
    @Test func itAgreesWithAPlainSetOfWhatCame() {
        for seed in 0..<20 {
            var random = RandomSource.seeded(UInt64(seed))
            var window = ReplayWindow()
            var seen: Set<UInt64> = []
            var highest: UInt64 = 0
            var position: UInt64 = 100_000
            var disagreements = 0
            for _ in 0..<3_000 {
                // Mostly forwards, with jumps of any size round the window's, and back into it.
                position &+= [0, 1, 1, 1, 2, 63, 64, 65, 127, 128, 200].randomElement(using: &random) ?? 1
                let index = position &- UInt64.random(in: 0...140, using: &random)
                let expected = seen.isEmpty || index > highest || (highest - index < 128 && !seen.contains(index))
                if window.accepts(index) != expected { disagreements += 1 }
                if expected {
                    window.record(index)
                    seen.insert(index)
                    highest = max(highest, index)
                }
            }
            #expect(disagreements == 0, "seed \(seed)")
        }
    }

    @Test(
        arguments: [
            // The next and the one before, the window's middle, and both ways across the end of the sequence numbers.
            (0x0000_0005, 6, 0x0000_0006), (0x0001_0005, 4, 0x0001_0004), (0x0000_FFFF, 0, 0x0001_0000),
            (0x0000_FFF0, 0x0010, 0x0001_0010), (0x0001_0000, 0xFFFF, 0x0000_FFFF), (0x0001_7FFF, 0xFFFF, 0x0001_FFFF),
            (0x0001_7FFE, 0xFFFF, 0x0000_FFFF), (0x0001_8000, 0x0000, 0x0001_0000), (0x0001_8001, 0x0000, 0x0002_0000),
        ] as [(UInt64, UInt16, UInt64)])
    func theIndexIsEstimatedAsInRFC3711AppendixA(highest: UInt64, sequenceNumber: UInt16, expected: UInt64) {
        #expect(SRTPSource.estimateIndex(sequenceNumber: sequenceNumber, after: highest) == expected)
    }

    @Test func aPacketFromBeforeTheFirstHasNoIndex() {
        #expect(SRTPSource.estimateIndex(sequenceNumber: 0xFFFF, after: 5) == nil)
    }
}
