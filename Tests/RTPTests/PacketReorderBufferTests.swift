import RTP
import Testing
import Transport

@Suite struct PacketReorderBufferTests {
    private func drain(_ buffer: inout PacketReorderBuffer, at now: Instant) -> [String] {
        var result: [String] = []
        while let output = buffer.next(at: now) {
            switch output {
            case .gap(let count): result.append("gap \(count)")
            case .packet(let packet): result.append("\(packet.number & 0xFFFF):\(packet.payload.first ?? 0)")
            }
        }
        return result
    }

    private func insert(_ buffer: inout PacketReorderBuffer, _ number: UInt16, at now: Instant, count: Int = 1) {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count).withUnsafeBytes {
            _ = buffer.insert(sequenceNumber: number, timestamp: 0, marker: false, payload: $0, at: now)
        }
    }

    @Test func oneLostAudioPacketDelaysTheRestByNoMoreThanTheLimit() {
        var buffer = PacketReorderBuffer(maximumDelay: .milliseconds(60))
        insert(&buffer, 65_535, at: .zero)
        #expect(drain(&buffer, at: .zero) == ["65535:255"])
        insert(&buffer, 1, at: .ms(40))
        insert(&buffer, 2, at: .ms(60))
        #expect(drain(&buffer, at: .ms(99)) == [])
        #expect(buffer.nextDeadline == .ms(100))
        #expect(drain(&buffer, at: .ms(100)) == ["gap 1", "1:1", "2:2"])
        insert(&buffer, 0, at: .ms(101))
        #expect(drain(&buffer, at: .ms(101)) == [])
        #expect(buffer.lateCount == 1)
        #expect(buffer.lostCount == 1)
        #expect(buffer.nextDeadline == nil)
    }

    @Test func theByteLimitEndsTheWait() {
        var buffer = PacketReorderBuffer(maximumDelay: .seconds(100), maximumBytes: 10_000)
        insert(&buffer, 1, at: .zero)
        _ = drain(&buffer, at: .zero)
        for number: UInt16 in 3..<12 { insert(&buffer, number, at: .zero, count: 1_000) }
        #expect(drain(&buffer, at: .zero) == [])
        for number: UInt16 in 12..<14 { insert(&buffer, number, at: .zero, count: 1_000) }
        #expect(drain(&buffer, at: .zero).first == "gap 1")
        #expect(buffer.count == 0)
    }

    @Test func aJumpForwardIsAGap() {
        var buffer = PacketReorderBuffer(maximumDelay: .milliseconds(50))
        insert(&buffer, 1, at: .zero)
        _ = drain(&buffer, at: .zero)
        insert(&buffer, 3, at: .zero)
        insert(&buffer, 10_000, at: .zero)
        #expect(drain(&buffer, at: .zero) == ["gap 9998", "10000:16"])
    }
}
