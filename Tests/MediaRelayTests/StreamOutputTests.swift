import Testing

@testable import MediaRelay

@Suite struct StreamOutputTests {
    /// A line that takes a bit less than what comes.
    @Test func `the memory of what has gone is used again while something waits`() {
        var output = StreamOutput()
        var (added, taken, most): (UInt32, UInt32, Int) = (0, 0, 0)
        for round in 0..<300 {
            for _ in 0..<1_000 {
                withUnsafeBytes(of: added) { output.append($0) }
                added += 1
            }
            // At first nothing leaves.
            guard round >= 30 else { continue }
            let first = output.withBytes { $0.loadUnaligned(as: UInt32.self) }
            #expect(first == taken)
            output.remove(4_000)
            taken += 1_000
            most = max(most, output.footprint)
        }
        let waiting = output.count
        #expect(waiting == 4 * Int(added - taken) && waiting == 120_000)
        #expect(most < 3 * 120_000)
    }

    @Test func `nothing is held when all has gone`() {
        var output = StreamOutput()
        let bytes = [UInt8](repeating: 1, count: 100)
        bytes.withUnsafeBytes { output.append($0) }
        output.remove(99)
        let left = output.withBytes { Array($0) }
        #expect(left == [1])
        output.remove(1)
        let (count, footprint) = (output.count, output.footprint)
        #expect(count == 0 && footprint == 0)
    }
}
