import StreamFormats
import Testing

struct TimestampUnwrapperTests {
    @Test func `A clock of 33 bits goes on after it has wrapped`() {
        var clock = TimestampUnwrapper(bits: 33)
        let end = Int64(1) << 33
        #expect(clock.unwrap(end - 3600) == end - 3600)
        #expect(clock.unwrap(0) == end)
        #expect(clock.unwrap(3600) == end + 3600)
        // A picture that is shown before the wrap may come after it.
        #expect(clock.unwrap(end - 3600) == end - 3600)
        #expect(clock.unwrap(7200) == end + 7200)
    }

    @Test func `A clock that steps back, or leaps, never overflows`() {
        var clock = TimestampUnwrapper(bits: 32)
        #expect(clock.unwrap(0) == 0)
        #expect(clock.unwrap(0xFFFF_FFFF) == -1)
        #expect(clock.unwrap(5) == 5)
        var value: Int64 = 5
        for step in 0..<10_000 {
            let next = clock.unwrap(Int64(step) * 0x7FFF_FFFF)
            #expect(abs(next - value) <= 1 << 31)
            value = next
        }
    }

    @Test func `A forged clock that leaps without end stays far from an overflow`() {
        var clock = TimestampUnwrapper(bits: 48)
        var times: Set<Bool> = []
        for step in 0..<100 {
            let time = clock.unwrap(Int64(step) &* 0x7FFF_FFFF_FFFF)
            // Milliseconds in ticks of 90 kHz, and their differences.
            #expect(abs(time) <= 1 << 50)
            times.insert(time >= 1 << 48)
        }
        #expect(times == [true, false], "it has leapt, and begun again")
    }
}
