import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

/// The limits of watchers, what a watcher gets first, and what becomes of slow ones.
@Suite struct WatcherTests {
    private func makeHub(
        devices count: Int = 2, log: ChangeLog = ChangeLog(MemoryStore(log: "r")), watchers: Int = 64
    ) -> HomeHub {
        HomeHub(
            devices: (0..<count).map { .init(id: "d\($0)", name: "Device \($0)", kind: .doorbell) },
            drivers: [], signalling: FakeLiveView().services, log: log, watchers: watchers,
            now: { Date(timeIntervalSince1970: 1_000) })
    }

    private func press(_ hub: HomeHub, _ number: Int64) async {
        await hub.apply(.doorbellPressed(.init(priority: number)), deviceID: "d0")
    }

    /// The numbers of the presses among these events.
    private func presses(_ events: [HomeEvent]) -> [Int64] {
        events.compactMap { if case .doorbellPressed(_, _, let press) = $0.change { press.priority } else { nil } }
    }

    private func devices(_ events: [HomeEvent]) -> Int {
        events.count { if case .device = $0.change { true } else { false } }
    }

    private func isMissed(_ event: HomeEvent?) -> Bool { event?.name == "missed" }

    private func collect(_ stream: HomeEvents) async -> [HomeEvent] {
        var events: [HomeEvent] = []
        for await event in stream { events.append(event) }
        return events
    }

    @Test(arguments: [1, 255, 256, 257, 3_000]) func theStateIsToldWholeHoweverManyDevicesThereAre(count: Int)
        async throws
    {
        let hub = makeHub(devices: count)
        let stream = try await hub.changes(principal: "owner")
        for number in 0..<Int64(300) { await press(hub, number) }
        #expect(await hub.watcherCount == 1)
        await hub.finishChanges()
        let events = await collect(stream)
        #expect(devices(events) == count)
        #expect(presses(events) == Array(0..<300))
        // Only with the last device does a client have a place to return to: it has the whole state then.
        #expect(events[...count].map(\.id) == Array(repeating: "", count: count) + ["r-1-1"])
    }

    @Test func aWatcherThatReadsLateGetsEverythingFromTheLog() async throws {
        let hub = makeHub()
        let stream = try await hub.changes(principal: "owner")
        let total = Int64(3 * ChangeLog.tailCapacity)
        for number in 0..<total { await press(hub, number) }
        await hub.finishChanges()
        let events = await collect(stream)
        #expect(presses(events) == Array(0..<total))
        #expect(!events.contains(where: isMissed))
    }

    @Test func aWatcherThatReturnsGetsEveryChangeSinceAndNoStateAgain() async throws {
        let hub = makeHub()
        var first = try await hub.changes(principal: "owner").makeAsyncIterator()
        await press(hub, 1)
        var seen: [HomeEvent] = []
        for _ in 0..<4 { if let event = await first.next() { seen.append(event) } }
        await press(hub, 2)
        await hub.apply(.eventSource(.init(state: .subscribed)), deviceID: "d1")
        await press(hub, 3)
        let second = try await hub.changes(principal: "owner", after: seen.last?.id)
        await hub.finishChanges()
        let events = await collect(second)
        #expect(events.map(\.name) == ["DoorbellPressed", "device", "DoorbellPressed"])
        #expect(presses(events) == [2, 3])
    }

    @Test func aWatcherThatLeavesBeforeItReadTheWholeStateGetsItAgain() async throws {
        let hub = makeHub()
        var first = try await hub.changes(principal: "owner").makeAsyncIterator()
        let place = try #require(await first.next()?.id)
        #expect(place == "")
        let again = try await hub.changes(principal: "owner", after: place)
        await hub.finishChanges()
        let events = await collect(again)
        #expect(devices(events) == 2 && !events.contains(where: isMissed))
    }

    @Test func aCursorThatIsTooOldGetsTheStateAndASign() async throws {
        let store = MemoryStore(log: "r", maximumBytes: 40_000)
        let hub = makeHub(log: ChangeLog(store))
        let total = Int64(3 * ChangeLog.tailCapacity)
        for number in 0..<total { await press(hub, number) }
        // What has not been written cannot be dropped yet, however busy the machine is.
        await hub.log.settle()
        let old = try await hub.changes(principal: "owner", after: "r-1-5")
        let recent = try await hub.changes(principal: "owner", after: "r-1-\(total - 2)")
        await hub.finishChanges()
        let events = await collect(old)
        #expect(devices(events) == 2 && events.count == 4 && isMissed(events.last))
        #expect(presses(await collect(recent)) == Array(total - 3..<total))
    }

    @Test(arguments: [
        "other-1-1", "r-2-1", "r-1-999", "r-1-9223372036854775807", "r-1-99999999999999999999", "r-0-0", "r-1--1", "r-",
        "-", "--", "-7", "x", "r-1-1-1-1-1", "r-1-1-1-", "r-1-1--", "r-1-1--x", "r-1-1--1-",
        "' OR 1=1", String(repeating: "9", count: 400),
    ])
    func aCursorOfAnotherLogOrNonsenseGetsTheStateAndASign(cursor: String) async throws {
        let hub = makeHub()
        await press(hub, 1)
        let stream = try await hub.changes(principal: "owner", after: cursor)
        await hub.finishChanges()
        let events = await collect(stream)
        #expect(devices(events) == 2 && events.count == 4 && isMissed(events.last))
        #expect(events.last?.id == "")
    }

    @Test func aWatcherThatDoesNotReadIsCutOffAndGoesOnWithoutALoss() async throws {
        let hub = makeHub()
        let stream = try await hub.changes(principal: "owner")
        await press(hub, 1)
        for _ in 0...ChangeLog.patience { await hub.sendHeartbeat() }
        #expect(await hub.watcherCount == 0)
        let events = await collect(stream)
        // It reads the state that it had already, and learns why the stream ends.
        #expect(devices(events) == 2 && isMissed(events.last) && events.count == 4)
        let again = try await hub.changes(principal: "owner", after: events[2].id)
        await hub.finishChanges()
        #expect(presses(await collect(again)) == [1])
    }

    @Test func oneTokenCannotTakeAllPlacesAlsoNotAllAtOnce() async throws {
        let places = 64
        let hub = makeHub(watchers: places)
        func flood(_ principal: String) async -> [HomeEvents] {
            await withTaskGroup(of: HomeEvents?.self) { group in
                for _ in 0..<200 { group.addTask { try? await hub.changes(principal: principal) } }
                return await group.reduce(into: []) { if let stream = $1 { $0.append(stream) } }
            }
        }
        let share = places / 4
        var streams = await flood("guest")
        #expect(streams.count == share)
        #expect(await hub.watcherCount == share)
        for other in ["a", "b", "c"] { streams += await flood(other) }
        #expect(streams.count == 3 * share)
        streams += await flood("owner")
        #expect(streams.count == places)
        #expect(await hub.watcherCount == places)
        let error = await #expect(throws: HomeError.self) { try await hub.changes(principal: "owner") }
        #expect(error?.code == .resourceExhausted)
        // A watcher that leaves makes room for the same principal.
        streams.removeAll()
        // A task of the flood may hold its stream for a moment longer.
        for _ in 0..<1_000_000 {
            if await hub.watcherCount == 0 { break }
            await Task.yield()
        }
        #expect(await hub.watcherCount == 0)
        _ = try await hub.changes(principal: "guest")
    }

    @Test func aHomeThatStopsEndsEveryStream() async throws {
        let hub = makeHub()
        let stream = try await hub.changes(principal: "owner")
        await hub.finishChanges()
        let events = await collect(stream)
        #expect(devices(events) == 2 && !events.contains(where: isMissed))
        for await _ in try await hub.changes(principal: "owner") { Issue.record("a stream of a home that has stopped") }
    }

    @Test func aReaderWhoseTaskIsCancelledEnds() async throws {
        let hub = makeHub(devices: 1)
        let stream = try await hub.changes(principal: "owner")
        let reading = Task {
            var count = 0
            for await _ in stream { count += 1 }
            return count
        }
        reading.cancel()
        #expect(await reading.value <= 2)
    }
}
