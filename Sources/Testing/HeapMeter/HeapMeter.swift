import Foundation
import Glibc

/// What the process holds on glibc's heap.
package enum HeapMeter {
    /// Whether the heap can be measured. It cannot with another allocator than glibc's, as in a sanitizer's build.
    package static var works: Bool {
        let probe = UnsafeMutableRawPointer.allocate(byteCount: 100_000_000, alignment: 16)
        let withProbe = allocatedBytes()
        probe.deallocate()
        guard let withProbe, let withoutProbe = allocatedBytes() else { return false }
        return withProbe - withoutProbe > 50_000_000
    }

    /// The bytes that glibc's heap has allocated, from its own report; nil if there is none. Swift does not see the
    /// simpler function, mallinfo2.
    package static func allocatedBytes() -> Int? {
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
        // The totals over all arenas come last.
        func size(_ prefix: String) -> Int {
            let line = lines.last { $0.hasPrefix(prefix) }
            return line?.components(separatedBy: "size=\"").last?.split(separator: "\"").first.flatMap { Int($0) } ?? 0
        }
        return size("<system type=\"current\"") - size("<total type=\"fast\"") - size("<total type=\"rest\"")
            + size("<total type=\"mmap\"")
    }
}
