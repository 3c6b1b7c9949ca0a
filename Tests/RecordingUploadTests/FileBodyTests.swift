import Foundation
import Testing

@testable import RecordingUpload

@Suite("A file as the body of a request") struct FileBodyTests {
    @Test("says since when the connection is busy with it, and not while it waits for the file to grow")
    func busy() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data([1, 2, 3, 4, 5]).write(to: URL(fileURLWithPath: path))
        let growth = GrowingFile()
        let body = FileBody(path: path, byteCount: nil, growth: growth)
        // Until the first piece is asked for, the connection is being made.
        #expect(body.progress.busySince != nil)
        growth.grow(to: 2, isEnded: false)
        var iterator = body.makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        let first = try #require(body.progress.busySince)
        let next = Task { [iterator] in
            var iterator = iterator
            return try await iterator.next() != nil
        }
        for _ in 0..<1_000_000 where body.progress.busySince != nil { await Task.yield() }
        #expect(body.progress.busySince == nil)
        growth.grow(to: 5, isEnded: true)
        #expect(try await next.value)
        #expect(try #require(body.progress.busySince) >= first)
    }
}
