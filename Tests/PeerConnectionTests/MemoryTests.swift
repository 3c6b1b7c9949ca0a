import HeapMeter
import PeerConnection
import Testing

@Suite struct MemoryTests {
    @Test func theValueItselfIsSmall() {
        #expect(MemoryLayout<PeerConnection>.size <= 4096)
    }

    /// The heap is the whole process's, in which other tests run, so the bound is wide and the test may be disturbed
    /// often.
    @Test(.enabled(if: HeapMeter.works)) func aConnectedPeerHoldsLittle() throws {
        var measured: [Int] = []
        for _ in 0..<20 {
            let before = try #require(HeapMeter.allocatedBytes())
            var peers: [Peer] = []
            for seed in UInt64(1)...100 {
                let session = try Session(seed: seed)
                #expect(session.connect())
                peers += [session.viewer, session.gateway]
            }
            let after = try #require(HeapMeter.allocatedBytes())
            measured.append(withExtendedLifetime(peers) { (after - before) / peers.count })
            if let last = measured.last, last < 65_536 { return }
        }
        Issue.record("bytes for each connected peer: \(measured)")
    }
}
