import RTP
import Transport

extension FuzzTarget {
    static let reordering = FuzzTarget(
        "reordering", "packets in any order into the reorder buffer: out come the same, each once, in order",
        maximumLength: 2048,
        seeds: {
            [
                [0, 1, 1, 1, 0x40, 0xFF, 0xFE, 1, 0x40, 0, 3, 0x80, 90, 1], [0x81, 1, 0x40, 0x80, 0, 1, 1],
                [UInt8](repeating: 1, count: 200) + [0x40, 0xFF, 0, 0x80, 255],
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let startsAtFirst = input.byte() & 1 == 0
        var buffer = PacketReorderBuffer(
            maximumDelay: .milliseconds(100), maximumBytes: 4096, startsAtFirstPacket: startsAtFirst)
        var now = Instant.zero
        var number: UInt16 = 65_530
        var count: UInt32 = 0
        var previous: Int64?
        var seen: Set<UInt32> = []
        var taken = 0
        func take() throws(FuzzFailure) {
            while let output = buffer.next(at: now) {
                switch output {
                case .gap(let missing):
                    try require(missing > 0, "a gap of \(missing)")
                    if let last = previous { previous = last + Int64(missing) }
                case .packet(let packet):
                    taken += 1
                    // The stamp is the payload and the timestamp, and shows which insertion a packet is.
                    try require(packet.payload.count >= 4, "a payload of another length")
                    let stamp = packet.payload.loadUnaligned(as: UInt32.self)
                    try require(stamp == packet.timestamp, "the payload of another packet")
                    try require(seen.insert(stamp).inserted, "a packet twice")
                    previous = packet.number
                }
            }
        }
        var isRestarted = false
        while !input.isEmpty {
            let control = input.byte()
            if control & 0x40 != 0 {
                let before = number
                number = input.word()
                isRestarted = isRestarted || before != number
            } else {
                number &+= UInt16(control & 0x0F)
            }
            if control & 0x80 != 0 { now += .milliseconds(Int(input.byte())) }
            count += 1
            let payload = [UInt32](repeating: count, count: 1 + Int(control & 0x30))
            payload.withUnsafeBytes { raw in
                observe(buffer.insert(sequenceNumber: number, timestamp: count, marker: false, payload: raw, at: now))
            }
            if buffer.needsStart, control & 0x0F == 5 { buffer.start(at: number) }
            try take()
            try require(buffer.count <= 1024, "\(buffer.count) packets wait")
        }
        now += .seconds(1)
        try take()
        try require(UInt32(taken) <= count, "more packets than came")
        try require(buffer.count == 0 || buffer.needsStart, "packets wait for ever")
    }
}
