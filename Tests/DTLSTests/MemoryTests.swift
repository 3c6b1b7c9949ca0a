import DTLS
import HeapMeter
import Testing
import Transport

@Suite struct MemoryTests {
    /// The heap is the whole process's, in which other tests run, so the test takes many handshakes, has wide margins,
    /// and may be disturbed often.
    @Test(.enabled(if: HeapMeter.works)) func aConnectedEndpointHasGivenItsMemoryBack() throws {
        var measured: [(during: Int, after: Int)] = []
        for _ in 0..<20 {
            let (during, after) = try Self.bytesPerHandshake(count: 120)
            measured.append((during, after))
            // Two sides of 75 KiB each, and then of less than a kibibyte.
            if during > 100_000, after < during / 4 { return }
        }
        Issue.record("bytes per handshake, under way and connected: \(measured)")
    }

    private static func bytesPerHandshake(count: Int) throws -> (during: Int, after: Int) {
        let before = try #require(HeapMeter.allocatedBytes())
        var handshakes: [Box] = []
        for _ in 0..<count {
            let box = Box(try Handshake())
            // The first flights are out, and the first of them answered.
            box.handshake.run(limit: .milliseconds(25))
            #expect(box.handshake.client.state == .handshaking && box.handshake.server.state == .handshaking)
            handshakes.append(box)
        }
        let during = try #require(HeapMeter.allocatedBytes())
        for box in handshakes {
            box.handshake.run(limit: .milliseconds(100))
            #expect(box.handshake.client.state == .connected && box.handshake.server.state == .connected)
            box.handshake.forgetDatagrams()
        }
        let after = try #require(HeapMeter.allocatedBytes())
        return withExtendedLifetime(handshakes) { ((during - before) / count, (after - before) / count) }
    }

    private final class Box {
        var handshake: Handshake

        init(_ handshake: consuming Handshake) {
            self.handshake = handshake
        }
    }
}
