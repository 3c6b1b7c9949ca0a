import RTP

extension FuzzTarget {
    static let framedStream = FuzzTarget(
        "framed-stream", "a viewer's TCP connection, cut at any place, and a queue that it reads as it likes",
        maximumLength: 4096,
        seeds: {
            [
                [0, 3, 1, 2, 3, 0, 0, 0, 1, 9], [0, 200, 1], [0xFF, 0xFF],
                (0..<40).flatMap { [0, 2, UInt8($0), 1] },
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var whole: [[UInt8]] = []
        var wholeFails = false
        var reader = FramedStreamReader(longestFrame: longestFrame)
        do throws(FramedStreamReader.FrameTooLong) {
            try reader.read(bytes) { whole.append(Array($0)) }
        } catch {
            wholeFails = true
        }
        // The same stream in pieces, whose sizes follow from its bytes.
        var pieces: [[UInt8]] = []
        var piecesFail = false
        var cutting = FramedStreamReader(longestFrame: longestFrame)
        var queue = FramedStreamQueue(limit: 512)
        var left: [UInt8] = []
        var accepted: [[UInt8]] = []
        var input = FuzzInput(bytes)
        while !input.isEmpty, !piecesFail {
            let size = 1 + Int(bytes[bytes.count - 1] & 31)
            do throws(FramedStreamReader.FrameTooLong) {
                try cutting.read(input.bytes(size)) { packet in
                    pieces.append(Array(packet))
                    if queue.append(packet) { accepted.append(Array(packet)) }
                }
            } catch {
                piecesFail = true
            }
            try require(cutting.pendingByteCount < longestFrame + 2, "more than one frame is held")
            try require(queue.byteCount <= 512, "the queue grows beyond its limit")
            var calls = 0
            queue.drain { waiting in
                calls += 1
                guard calls < 3 else { return 0 }
                let count = min(waiting.count, size)
                left += waiting.prefix(count)
                return count
            }
        }
        try require(whole == pieces && wholeFails == piecesFail, "the cuts decide what is read")
        queue.drain { waiting in
            left += waiting
            return waiting.count
        }
        var again: [[UInt8]] = []
        var last = FramedStreamReader(longestFrame: longestFrame)
        left.withUnsafeBytes { raw in
            do throws(FramedStreamReader.FrameTooLong) { try last.read(raw) { again.append(Array($0)) } } catch {}
        }
        try require(again == accepted && last.pendingByteCount == 0, "what leaves are not whole frames")
    }

    private static let longestFrame = 256
}
