import SCTP
import Testing
import Transport

@testable import DataChannels

/// There is one host in a process, so these tests take turns.
@Suite("The host of data channels", .serialized)
struct DataChannelHostTests {
    /// A host with one peer whose association is up.
    private func connected(
        port: UInt16, limits: DataChannelLimits = DataChannelLimits()
    ) throws -> (DataChannelHost, FarSide) {
        let host = DataChannelHost(limits: limits)
        let far = try FarSide(port: port, host: host)
        try far.connect()
        #expect(far.run { far.state.withLock { $0.association != nil } })
        return (host, far)
    }

    private func stop(_ host: DataChannelHost) async {
        host.stop()
        // Its port is free for the next test once the thread has ended.
        for _ in 0..<12_000 {
            if let endpoint = try? SCTPEndpoint() { return withExtendedLifetime(endpoint) {} }
            pause(milliseconds: 10)
        }
    }

    @Test("opens channels, and carries texts both ways")
    func exchanges() async throws {
        let (host, far) = try connected(port: 7001)
        let first = try #require(try far.open("data"))
        let second = try #require(try far.open("data-channel1"))
        #expect(far.run { far.reported.count == 2 })
        #expect(
            far.reported == [
                .opened(channel: first, label: "data"), .opened(channel: second, label: "data-channel1"),
            ])
        try far.send("hello", on: second)
        #expect(far.run { far.reported.last == .text(channel: second, "hello") })
        far.channels?.send("to one", on: first)
        far.channels?.send("to all", kind: "state")
        #expect(far.run { far.texts.count == 3 })
        #expect(far.texts.sorted() == ["to all", "to all", "to one"])
        let counters = await host.counters()
        #expect(counters.associations == 1 && counters.aborted == 0)
        await stop(host)
    }

    @Test("closes a channel with its peer, which may open it again")
    func closes() async throws {
        let (host, far) = try connected(port: 7002)
        let stream = try #require(try far.open("data"))
        #expect(far.run { far.reported.count == 1 })
        try far.perform(far.state.withLock { $0.table.close(stream) })
        #expect(far.run { far.reported.last == .closed(channel: stream) })
        // The stream that the host sends on is reset as well.
        #expect(far.run(steps: 20) { false } == false)
        #expect(try far.open("again") == stream)
        #expect(far.run { far.reported.last == .opened(channel: stream, label: "again") })
        await stop(host)
    }

    @Test("says its last word before it ends")
    func ends() async throws {
        let (host, far) = try connected(port: 7003)
        _ = try far.open("data")
        #expect(far.run { far.reported.count == 1 })
        let isDone = Locked(false)
        far.channels?.end(saying: "goodbye") { isDone.withLock { $0 = true } }
        #expect(far.run { far.state.withLock { $0.hasEnded } && isDone.withLock { $0 } })
        #expect(far.texts == ["goodbye"])
        #expect(await host.counters().associations == 0)
        await stop(host)
        // One that has been stopped answers as well.
        far.channels?.end { isDone.withLock { $0 = false } }
        #expect(!isDone.withLock { $0 })
    }

    @Test("keeps the newest state for a peer that reads slowly, and cuts it off when an answer finds no room")
    func slowPeer() async throws {
        let (host, far) = try connected(port: 7004)
        let stream = try #require(try far.open("data"))
        #expect(far.run { far.reported.count == 1 && !far.state.withLock { $0.table.openStreams.isEmpty } })
        let padding = String(repeating: "x", count: 1_000)
        // Nothing is carried meanwhile.
        for number in 0..<200 { far.channels?.send("\(number) \(padding)", kind: "state") }
        #expect(await host.counters().aborted == 0)
        #expect(far.run { far.texts.last?.hasPrefix("199 ") == true })
        #expect(far.texts.count < 100)
        for number in 0..<200 { far.channels?.send("\(number) \(padding)", on: stream) }
        #expect(await host.counters().aborted == 1)
        #expect(far.run { far.reported.last == .ended })
        await stop(host)
    }

    @Test("cuts off a peer that asks without end")
    func flood() async throws {
        let (host, far) = try connected(port: 7005)
        let stream = try #require(try far.open("data"))
        #expect(far.run { far.reported.count == 1 })
        let most = DataChannelLimits().waitingMessages
        for _ in 0..<most { try far.send("{}", on: stream) }
        #expect(far.run { far.reported.count == 1 + most })
        far.channels?.recordHandled()
        try far.send("{}", on: stream)
        #expect(far.run { far.reported.count == 2 + most })
        try far.send("{}", on: stream)
        #expect(far.run { far.reported.last == .ended })
        #expect(await host.counters().aborted == 1)
        await stop(host)
    }

    @Test("ignores packets for other ports, and those that find no room")
    func strayPackets() async throws {
        let host = DataChannelHost()
        let far = try FarSide(port: 7006, host: host)
        let channels = try #require(far.channels)
        let other: [UInt8] = [0x1B, 0x5F, 0x13, 0x88] + [UInt8](repeating: 0, count: 28)
        other.withUnsafeBytes { channels.receive($0) }
        [UInt8](repeating: 1, count: 3).withUnsafeBytes { channels.receive($0) }
        #expect(await host.counters().strayPackets == 2)
        let large = [UInt8](repeating: 0, count: DataChannelLimits().waitingBytes + 1)
        large.withUnsafeBytes { channels.receive($0) }
        #expect(await host.counters().droppedPackets == 1)
        #expect(await host.counters().associations == 0)
        await stop(host)
    }
}
