import DTLS
import Foundation
import Glibc
import Testing
import Transport

@Suite struct MemoryTests {
    /// The heap is the whole process's, in which other tests run, so the test takes many handshakes, has wide margins,
    /// and may be disturbed twice.
    @Test func aConnectedEndpointHasGivenItsMemoryBack() throws {
        // Another allocator than glibc's, as in a sanitizer's build, cannot be asked.
        let probe = UnsafeMutableRawPointer.allocate(byteCount: 100_000_000, alignment: 16)
        let withProbe = Self.allocatedBytes()
        probe.deallocate()
        guard let withoutProbe = Self.allocatedBytes(), let withProbe, withProbe - withoutProbe > 50_000_000 else {
            return
        }
        var measured: [(during: Int, after: Int)] = []
        for _ in 0..<3 {
            let (during, after) = try Self.bytesPerHandshake(count: 120)
            measured.append((during, after))
            // Two sides of 75 KiB each, and then of less than a kibibyte.
            if during > 100_000, after < during / 4 { return }
        }
        Issue.record("bytes per handshake, under way and connected: \(measured)")
    }

    private static func bytesPerHandshake(count: Int) throws -> (during: Int, after: Int) {
        let before = try #require(allocatedBytes())
        var handshakes: [Box] = []
        for _ in 0..<count {
            let box = Box(try Handshake())
            // The first flights are out, and the first of them answered.
            box.handshake.run(limit: .milliseconds(25))
            #expect(box.handshake.client.state == .handshaking && box.handshake.server.state == .handshaking)
            handshakes.append(box)
        }
        let during = try #require(allocatedBytes())
        for box in handshakes {
            box.handshake.run(limit: .milliseconds(100))
            #expect(box.handshake.client.state == .connected && box.handshake.server.state == .connected)
            box.handshake.forgetDatagrams()
        }
        let after = try #require(allocatedBytes())
        return withExtendedLifetime(handshakes) { ((during - before) / count, (after - before) / count) }
    }

    private final class Box {
        var handshake: Handshake

        init(_ handshake: consuming Handshake) {
            self.handshake = handshake
        }
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
