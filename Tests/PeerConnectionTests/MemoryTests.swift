import Foundation
import Glibc
import PeerConnection
import Testing

@Suite struct MemoryTests {
    @Test func theValueItselfIsSmall() {
        #expect(MemoryLayout<PeerConnection>.size <= 4096)
    }

    /// The heap is the whole process's, in which other tests run, so the bound is wide and the test may be disturbed
    /// twice.
    @Test func aConnectedPeerHoldsLittle() throws {
        let probe = UnsafeMutableRawPointer.allocate(byteCount: 100_000_000, alignment: 16)
        let withProbe = Self.allocatedBytes()
        probe.deallocate()
        // Another allocator than glibc's, as in a sanitizer's build, cannot be asked.
        guard let withoutProbe = Self.allocatedBytes(), let withProbe, withProbe - withoutProbe > 50_000_000 else {
            return
        }
        var measured: [Int] = []
        for _ in 0..<3 {
            let before = try #require(Self.allocatedBytes())
            var peers: [Peer] = []
            for seed in UInt64(1)...100 {
                let session = try Session(seed: seed)
                #expect(session.connect())
                peers += [session.viewer, session.gateway]
            }
            let after = try #require(Self.allocatedBytes())
            measured.append(withExtendedLifetime(peers) { (after - before) / peers.count })
            if let last = measured.last, last < 65_536 { return }
        }
        Issue.record("bytes for each connected peer: \(measured)")
    }

    /// The bytes that glibc's heap has given out, from its own report; Swift does not see the shorter way, mallinfo2.
    private static func allocatedBytes() -> Int? {
        typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        guard let symbol = dlsym(nil, "malloc_info") else { return nil }
        let report = unsafeBitCast(symbol, to: Report.self)
        var text: UnsafeMutablePointer<CChar>?
        var count = 0
        guard let stream = open_memstream(&text, &count) else { return nil }
        _ = report(0, stream)
        fclose(stream)
        guard let text else { return nil }
        defer { free(text) }
        let lines = String(cString: text).split(separator: "\n")
        // The totals over all arenas stand last.
        func size(_ prefix: String) -> Int {
            let line = lines.last { $0.hasPrefix(prefix) }
            return line?.components(separatedBy: "size=\"").last?.split(separator: "\"").first.flatMap { Int($0) } ?? 0
        }
        return size("<system type=\"current\"") - size("<total type=\"fast\"") - size("<total type=\"rest\"")
            + size("<total type=\"mmap\"")
    }
}
