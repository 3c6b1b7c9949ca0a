import StreamFormats
import Testing
import Transport

@testable import Cameras

struct StreamTimingTests {
    @Test func `Sound whose times are rounded to milliseconds has an even clock`() {
        var clock = SampleClock(clockRate: 48_000)
        var last: UInt32?
        for frame in 0..<Int64(2_000) {
            // 1024 samples at 48 kHz are 21.33 ms.
            let milliseconds = frame * 1024 / 48
            let timestamp = clock.timestamp(at: milliseconds * 90, lasting: 1024)
            if let last { #expect(timestamp &- last == 1024) }
            last = timestamp
        }
    }

    @Test func `A clock that runs a little fast is followed, and a gap is kept`() {
        var clock = SampleClock(clockRate: 8000)
        var time: Int64 = 1 << 40
        var last = clock.timestamp(at: time, lasting: 160)
        for _ in 0..<5_000 {
            // 0.1 % slower than the samples say.
            time += 1802
            let next = clock.timestamp(at: time, lasting: 160)
            #expect((159...161).contains(next &- last))
            last = next
        }
        let stated = UInt32(truncatingIfNeeded: time * 8 / 90)
        #expect(abs(Int32(bitPattern: stated &- last)) <= 20)
        #expect(clock.timestamp(at: time + 90_000, lasting: 160) &- last > 7_900)
    }

    private static func unit(_ decoding: Int64, track: Int = 0) -> StreamUnit {
        StreamUnit(track: track, bytes: [1], presentation: decoding, decoding: decoding)
    }

    @Test func `Units of a segment are handed out when their time has come`() {
        var paced = PacedUnits()
        let begin = Instant.zero + .seconds(100)
        for index in 0..<Int64(10) { paced.append(Self.unit(index * 9000), epoch: 0, track: 0) }
        for index in 0..<Int64(10) { paced.append(Self.unit(index * 9000 + 4500, track: 1), epoch: 0, track: 1) }
        var times: [Int64] = []
        var now = begin
        while !paced.isEmpty {
            while let entry = paced.next(at: now) {
                times.append(entry.unit.decoding)
                #expect((now - begin).wholeNanoseconds / 100_000 == entry.unit.decoding / 9)
            }
            if let next = paced.nextDue { now = next }
        }
        #expect(times == (0..<20).map { $0 * 4500 })
    }

    @Test func `Waiting units count with the memory around them, and have a bound`() {
        var paced = PacedUnits()
        for _ in 0..<1_000 { paced.append(Self.unit(0), epoch: 0, track: 0) }
        #expect(paced.byteCount > 100_000 && !paced.isOverfull)
        for _ in 0..<1_000 { #expect(paced.next(at: .zero + .seconds(1)) != nil) }
        #expect(paced.isEmpty)
        // All have the same memory.
        let unit = StreamUnit(
            track: 0, bytes: [UInt8](repeating: 0, count: StreamUnit.maximumLength), presentation: 0, decoding: 0)
        for _ in 0..<25 { paced.append(unit, epoch: 0, track: 0) }
        #expect(!paced.isOverfull)
        paced.append(unit, epoch: 0, track: 0)
        #expect(paced.isOverfull)
    }

    @Test func `A unit that was handed out is not kept`() {
        var paced = PacedUnits()
        for _ in 0..<2 {
            let unit = StreamUnit(
                track: 0, bytes: [UInt8](repeating: 0, count: 1_000), presentation: 0, decoding: 0)
            paced.append(unit, epoch: 0, track: 0)
        }
        guard var entry = paced.next(at: .zero + .seconds(1)) else {
            Issue.record("nothing is due")
            return
        }
        // Writing to an array copies it only if somebody else has it.
        let before = entry.unit.bytes.withUnsafeBufferPointer { $0.baseAddress }
        entry.unit.bytes[0] = 2
        #expect(entry.unit.bytes.withUnsafeBufferPointer { $0.baseAddress } == before)
        #expect(!paced.isEmpty)
    }

    @Test func `What comes too late moves what follows, and another clock begins at once`() {
        var paced = PacedUnits()
        let begin = Instant.zero + .seconds(100)
        paced.append(Self.unit(0), epoch: 0, track: 0)
        #expect(paced.next(at: begin) != nil && paced.next(at: begin) == nil)
        // Due after one second, but it comes after three.
        paced.append(Self.unit(90_000), epoch: 0, track: 0)
        paced.append(Self.unit(180_000), epoch: 0, track: 0)
        #expect(paced.next(at: begin + .seconds(3))?.unit.decoding == 90_000)
        #expect(paced.next(at: begin + .seconds(3)) == nil)
        #expect(paced.nextDue == begin + .seconds(4))
        #expect(paced.next(at: begin + .seconds(4))?.unit.decoding == 180_000)
        // A clock that has leapt, with and without an announcement.
        paced.append(Self.unit(1 << 40), epoch: 0, track: 0)
        #expect(paced.next(at: begin + .seconds(5)) != nil)
        paced.append(Self.unit(7), epoch: 1, track: 0)
        #expect(paced.next(at: begin + .seconds(5))?.epoch == 1)
    }
}
