import Testing
import Transport

@testable import DatagramPort

@Suite("The pace of reading")
struct ReadingPaceTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func milliseconds(_ count: Int) -> Instant { start + .milliseconds(count) }

    @Test("stays at once while what can wait comes seldom")
    func watches() {
        var pace = ReadingPace()
        for count in 0..<5 { pace.recordRead(canWait: true, at: milliseconds(2 * count)) }
        #expect(pace.isWatching)
        #expect(!pace.shouldRead(at: milliseconds(1_000)))
    }

    @Test("lets what can wait wait for at most the interval when much of it comes")
    func waits() {
        var pace = ReadingPace()
        pace.recordRead(canWait: true, at: start)
        pace.recordRead(canWait: true, at: milliseconds(1))
        #expect(pace.due == milliseconds(1) + ReadingPace.interval)
        #expect(!pace.isWatching)
        #expect(!pace.shouldRead(at: start + .microseconds(1_999)))
        #expect(pace.shouldRead(at: milliseconds(2)), "a thread that is awake anyway reads sooner")
        pace.recordRead(canWait: true, at: milliseconds(30))
        #expect(pace.due == milliseconds(30) + ReadingPace.interval, "it goes on after a late read")
    }

    @Test("ends with a read that finds nothing, or something that cannot wait")
    func ends() {
        var pace = ReadingPace()
        for count in 0..<3 { pace.recordRead(canWait: true, at: milliseconds(count)) }
        pace.recordRead(canWait: false, at: milliseconds(4))
        #expect(pace.isWatching)
        pace.recordRead(canWait: true, at: milliseconds(5))
        #expect(pace.isWatching, "it takes two reads to begin again")
        pace.recordRead(canWait: true, at: milliseconds(6))
        #expect(!pace.isWatching)
    }

    private static let reads: [(batches: [Bool], canWait: Bool)] = [
        ([], false), ([true], true), ([true, true], true), ([true, false], false), ([false, true], false),
        ([false, true, true], false),
    ]

    @Test("lets a read wait only if each of its batches can", arguments: reads)
    func judgesReads(_ batches: [Bool], _ canWait: Bool) {
        var found = ReadFindings()
        for batch in batches { found.add(canWait: batch) }
        #expect(found.canWait == canWait)
    }

    @Test("reports once that a socket has to be watched, or no longer")
    func changes() {
        var paces = SocketPaces()
        var changes: [Bool] = []
        for (count, canWait) in [true, true, true, false, false].enumerated() {
            changes.append(paces.recordRead(of: .ipv6, canWait: canWait, at: milliseconds(count)))
        }
        #expect(changes == [false, true, false, true, false])
        #expect(paces.next == .distantFuture)
        for count in 0..<2 { _ = paces.recordRead(of: .ipv4, canWait: true, at: milliseconds(count)) }
        #expect(paces.next == milliseconds(1) + ReadingPace.interval)
        #expect(paces[.ipv6].isWatching && !paces[.ipv4].isWatching)
        paces[.ipv4].readLater(at: milliseconds(9))
        #expect(paces.next == milliseconds(9) + ReadingPace.interval)
    }
}
