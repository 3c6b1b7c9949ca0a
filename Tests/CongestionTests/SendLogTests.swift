import Testing
import Transport

@testable import Congestion

/// From a transport-wide sequence number back to what was sent under it.
@Suite struct SendLogTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func run(_ index: UInt64?, _ count: Int, _ kind: SendLog.Kind = .picture, last: Int = 1_000) -> SendLog.Run
    {
        SendLog.Run(kind: kind, index: index, count: count, segmentSize: 1_200, byteCount: (count - 1) * 1_200 + last)
    }

    @Test func numbersLeadBackAcrossTheWrap() {
        var log = SendLog()
        #expect(log.takeArrival(of: 0) == nil && log.takeMissing(from: 0, count: 9).isEmpty)
        var number = UInt16(65_500)
        for round in 0..<100 as Range<UInt64> {
            let at = start + .milliseconds(round)
            log.add(run(round * 10, 5), from: number, at: at)
            log.add(run(round * 10 + 3, 1, .retransmission), from: number &+ 5, at: at)
            number &+= 6
        }
        for round in 40..<100 as Range<UInt64> {
            let first = UInt16(truncatingIfNeeded: 65_500 + round * 6)
            for offset in 0..<5 as Range<UInt64> {
                #expect(
                    log.takeArrival(of: first &+ UInt16(offset))
                        == SendLog.Packet(
                            number: 65_500 + round * 6 + offset, kind: .picture, index: round * 10 + offset,
                            sentAt: start + .milliseconds(round), byteCount: offset == 4 ? 1_000 : 1_200,
                            wasMissing: false))
            }
            let again = log.takeArrival(of: first &+ 5)
            #expect(again?.kind == .retransmission && again?.index == round * 10 + 3)
        }
        // What has not been sent yet.
        #expect(log.takeArrival(of: number) == nil && log.takeArrival(of: number &+ 30_000) == nil)
    }

    @Test func eachPacketArrivesOnceAndIsMissingOnce() {
        var log = SendLog()
        log.add(run(0, 10), from: 100, at: start)
        #expect(log.takeArrival(of: 101) != nil && log.takeArrival(of: 101) == nil)
        // Reports on what came before are over.
        #expect(log.takeMissing(from: 90, count: 15) == 102..<105)
        #expect(log.takeMissing(from: 90, count: 15).isEmpty)
        #expect(log.recordMissing(103)?.wasMissing == false)
        // It was late, and not lost.
        #expect(log.takeArrival(of: 103)?.wasMissing == true)
        #expect(log.recordMissing(103) == nil)
        // A message that claims everything, and what was never sent.
        #expect(log.takeMissing(from: 100, count: 65_528) == 105..<110)
        #expect(log.takeMissing(from: 110, count: 65_528).isEmpty)
        #expect(log.unreported == 110)
    }

    @Test func numbersThatWereNotLoggedAreSkipped() {
        var log = SendLog()
        log.add(run(0, 2), from: 65_534, at: start)
        log.add(run(nil, 2), from: 3, at: start)
        #expect(log.next == 65_541)
        #expect(log.takeMissing(from: 65_534, count: 7) == 65_534..<65_541)
        #expect(log.recordMissing(65_536) == nil && log.recordMissing(65_538) == nil)
        #expect(log.recordMissing(65_539)?.index == nil && log.recordMissing(65_540) != nil)
    }

    @Test func theLogGrowsOnlyWhileMuchIsSent() {
        var log = SendLog()
        var number = UInt16(0)
        func send(_ runs: Int, each pause: Duration, from begin: Instant) -> Instant {
            var now = begin
            for _ in 0..<runs {
                log.add(run(nil, 1), from: number, at: now)
                number &+= 1
                now += pause
            }
            return now
        }
        var now = send(1_000, each: .milliseconds(20), from: start)
        #expect(log.takeArrival(of: number &- 128) != nil && log.takeArrival(of: number &- 129) == nil)
        now = send(5_000, each: .microseconds(100), from: now)
        #expect(log.takeArrival(of: number &- 1_024) != nil && log.takeArrival(of: number &- 1_025) == nil)
        // What has been forgotten is not missing.
        #expect(log.takeMissing(from: number &- 3_000, count: 3_000).count == 1_023)
        #expect(log.takeMissing(from: number &- 1, count: 1).isEmpty)
        log.add(run(nil, 3), from: number, at: now)
        #expect(log.takeMissing(from: number &- 3_000, count: 4_000).count == 3)
    }

    /// Whatever feedback says, it costs no more than what was sent.
    @Test func randomFeedbackIsAnsweredOnceForEachPacket() {
        for seed in 0..<20 as Range<UInt64> {
            var random = RandomSource.seeded(seed)
            var log = SendLog()
            var number = UInt16(truncatingIfNeeded: random.next())
            var (sent, arrived, missing) = (0, 0, 0)
            for step in 0..<3_000 as Range<Int64> {
                let count = Int(random.next() % 64) + 1
                log.add(run(UInt64(step) * 64, count), from: number, at: start + .milliseconds(step))
                number &+= UInt16(count)
                sent += count
                for _ in 0..<5 {
                    let claimed = UInt16(truncatingIfNeeded: random.next())
                    if random.next() % 2 == 0 {
                        if log.takeArrival(of: claimed) != nil { arrived += 1 }
                    } else {
                        missing += log.takeMissing(from: claimed, count: Int(random.next() % 65_536)).count
                    }
                }
            }
            #expect(arrived <= sent && missing <= sent && arrived + missing > 0, "\(seed)")
        }
    }
}
