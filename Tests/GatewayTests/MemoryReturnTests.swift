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

    @Test func `a few connections, or many that stay, return nothing`() {
        #expect(times(Array(repeating: 20, count: 10) + Array(repeating: 0, count: 30)) == [])
        #expect(times(Array(repeating: 600, count: 10) + Array(repeating: 300, count: 30)) == [])
    }

    @Test func `a flood that comes and goes does not return memory all the time`() {
        let wave = Array(repeating: 600, count: 2) + Array(repeating: 0, count: 6)
        let found = times(Array([[Int]](repeating: wave, count: 10).joined()))
        #expect(!found.isEmpty)
        #expect(zip(found, found.dropFirst()).allSatisfy { $1 - $0 >= 10 })
    }
}
