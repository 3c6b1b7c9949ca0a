import RTP
import Testing
import Transport

@Suite struct FramedStreamTests {
    private static let packets: [[UInt8]] = [[1], [], [2, 3, 4], [UInt8](repeating: 9, count: 300), [5]]

    private static func stream(of packets: [[UInt8]]) -> [UInt8] {
        packets.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
    }

    /// Reads a stream that comes in pieces of `size` bytes.
    private static func read(
        _ stream: [UInt8], size: Int, longest: Int = 300
    ) throws(FramedStreamReader.FrameTooLong) -> [[UInt8]] {
        var reader = FramedStreamReader(longestFrame: longest)
        var found: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
            defer { copy.deallocate() }
            copy.copyBytes(from: piece)
            try reader.read(UnsafeRawBufferPointer(copy)) { found.append(Array($0)) }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 299, 1000]) func packetsComeOutAsTheyWentInHoweverTheStreamIsCut(size: Int) throws {
        #expect(try Self.read(Self.stream(of: Self.packets), size: size) == Self.packets)
    }

    @Test(arguments: [1, 2, 1000]) func aFrameThatIsTooLongEndsTheStream(size: Int) {
        let stream = Self.stream(of: [[1], [UInt8](repeating: 9, count: 301)])
        #expect(throws: FramedStreamReader.FrameTooLong(count: 301)) { try Self.read(stream, size: size) }
    }

    @Test func anUnfinishedFrameIsAllThatIsHeld() throws {
        var reader = FramedStreamReader(longestFrame: 300)
        for _ in 0..<100 {
            try Self.stream(of: Self.packets).withUnsafeBytes { try reader.read($0) { _ in } }
        }
        #expect(reader.pendingByteCount == 0)
        try ([1, 44, 7] as [UInt8]).withUnsafeBytes { try reader.read($0) { _ in } }
        #expect(reader.pendingByteCount == 3)
    }

    @Test(arguments: UInt64(0)..<200) func damagedStreamsAreReadTheSameHoweverTheyAreCut(seed: UInt64) {
        var random = RandomSource.seeded(seed)
        var stream = Self.stream(of: Self.packets)
        for _ in 0..<4 {
            stream[Int(random.next() % UInt64(stream.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        let whole = try? Self.read(stream, size: stream.count)
        let cut = try? Self.read(stream, size: 1 + Int(random.next() % 50))
        #expect(whole == cut)
        #expect((whole ?? []).allSatisfy { $0.count <= 300 })
    }

    @Test func aQueueThatIsFullDropsWholePackets() throws {
        var queue = FramedStreamQueue(limit: 1000)
        var sent: [[UInt8]] = []
        var written: [UInt8] = []
        var random = RandomSource.seeded(7)
        for round in 0..<2000 {
            let packet = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: Int(random.next() % 300))
            if packet.withUnsafeBytes({ queue.append($0) }) { sent.append(packet) }
            #expect(queue.byteCount <= 1000)
            // The connection takes less than what comes, and cuts it anywhere.
            var room = Int(random.next() % 200)
            queue.drain { bytes in
                let count = min(room, bytes.count, 1 + Int(random.next() % 80))
                written += bytes.prefix(count)
                room -= count
                return count
            }
        }
        queue.drain { bytes in
            written += bytes
            return bytes.count
        }
        #expect(queue.isEmpty && queue.drops > 0 && queue.drops == 2000 - UInt64(sent.count))
        #expect(try Self.read(written, size: 64) == sent)
    }
}
