import Testing

@testable import Gateway

@Suite struct MemoryReturnTests {
    /// The seconds at which memory is returned, for the connections of each second.
    private func times(_ connections: [Int]) -> [Int] {
        var memory = MemoryReturn()
        return connections.indices.filter { memory.isDue(connections: connections[$0], at: UInt64($0)) }
    }

    @Test func `memory is returned once, some seconds after most of many connections have gone`() {
        #expect(times([1, 600, 680, 100, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]) == [8])
    }

    @Test func `memory is returned once after the start, while nothing happens`() {
        #expect(times(Array(repeating: 0, count: 31)) == [10])
        #expect(times(Array(repeating: 0, count: 10)) == [])
    }

    @Test func `the start is the first time, not the beginning of the clock`() {
        var memory = MemoryReturn()
        let due = (UInt64(500)..<530).filter { memory.isDue(connections: 0, at: $0) }
        #expect(due == [510])
    }

    @Test func `a few connections, or many that stay, return nothing after the start`() {
        #expect(times(Array(repeating: 20, count: 10) + Array(repeating: 0, count: 30)) == [10])
        #expect(times(Array(repeating: 600, count: 10) + Array(repeating: 300, count: 30)) == [10])
    }

    @Test func `many connections during the start do not keep the memory that they leave`() {
        #expect(times(Array(repeating: 600, count: 8) + Array(repeating: 2, count: 30)) == [10, 20])
    }

    @Test func `the program runs on without its pages, and uses less memory`() throws {
        // Other tests map pages meanwhile, and unmap some. Only the program's own are this many.
        let isLess = try (0..<20).contains { _ in
            let before = try residentFileKilobytes()
            MemoryReturn.release()
            return try residentFileKilobytes() < before - 1_024
        }
        #expect(isLess)
    }

    /// How much of this process's memory is pages of files.
    private func residentFileKilobytes() throws -> Int {
        let status = String(decoding: try RegularFile.read("/proc/self/status", limit: 1 << 20), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        let words = line.split { $0 == " " || $0 == "\t" }
        return try #require(Int(words[1]))
    }

    @Test func `a flood that comes and goes does not return memory all the time`() {
        let wave = Array(repeating: 600, count: 2) + Array(repeating: 0, count: 6)
        let found = times(Array([[Int]](repeating: wave, count: 10).joined()))
        #expect(!found.isEmpty)
        #expect(zip(found, found.dropFirst()).allSatisfy { $1 - $0 >= 10 })
    }
}
