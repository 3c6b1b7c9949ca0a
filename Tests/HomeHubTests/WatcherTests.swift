import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

/// Who may watch, what a watcher is told first, and what becomes of slow ones.
@Suite struct WatcherTests {
    private func makeHub(devices count: Int = 2) -> HomeHub {
        HomeHub(
            devices: (0..<count).map { .init(id: "d\($0)", name: "Device \($0)", kind: .doorbell) },
            drivers: [], liveView: FakeLiveView(), run: "r", now: { Date(timeIntervalSince1970: 1_000) })
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

    private func isMissed(_ event: HomeEvent?) -> Bool {
        if case .missed? = event?.change { true } else { false }
    }

    @Test(arguments: [1, 255, 256, 257, 3_000]) func theStateIsToldWholeHoweverManyDevicesThereAre(count: Int)
        async throws
    {
        let hub = self.makeHub(devices: count)
        let stream = try await hub.changes(principal: "owner")
        // Also to a watcher that lags behind as far as it may before it reads at all.
        for number in 0..<Int64(ChangeStream.watcherCapacity - 1) { await self.press(hub, number) }
        #expect(await hub.watcherCount == 1)
        await hub.finishChanges()
        var events: [HomeEvent] = []
        for await event in stream { events.append(event) }
        #expect(self.devices(events) == count)
        #expect(self.presses(events) == Array(0..<Int64(ChangeStream.watcherCapacity - 1)))
    }

    @Test func aSlowWatcherIsToldThatItIsCutOffAndGoesOnWithoutALoss() async throws {
        let hub = self.makeHub()
        let stream = try await hub.changes(principal: "owner")
        let total = Int64(ChangeStream.watcherCapacity + 100)
        for number in 0..<total { await self.press(hub, number) }
        #expect(await hub.watcherCount == 0)
        var events: [HomeEvent] = []
        for await event in stream { events.append(event) }
        #expect(self.isMissed(events.last))
        #expect(events.count == 2 + ChangeStream.watcherCapacity + 1)
        // The word that it is cut off has no place: the client keeps the one of the last change that it read.
        #expect(events.last?.id == "")
        let place = try #require(events.dropLast().last?.id)
        let again = try await hub.changes(principal: "owner", lastEventID: place)
        await hub.finishChanges()
        var rest: [HomeEvent] = []
        for await event in again { rest.append(event) }
        #expect(!rest.contains(where: self.isMissed))
        #expect(self.presses(events) + self.presses(rest) == Array(0..<total))
    }

    @Test func aWatcherThatLeavesBeforeItReadWhatItMissedLosesNothing() async throws {
        let hub = self.makeHub()
        await self.press(hub, 0)
        for number in 1..<Int64(5) { await self.press(hub, number) }
        var second = try await hub.changes(principal: "owner", lastEventID: "r-1").makeAsyncIterator()
        // It reads the state of the first device alone, and comes back with the place of that.
        let place = try #require(await second.next()?.id)
        let third = try await hub.changes(principal: "owner", lastEventID: place)
        await hub.finishChanges()
        var events: [HomeEvent] = []
        for await event in third { events.append(event) }
        #expect(self.presses(events) == [1, 2, 3, 4])
    }

    @Test func whatIsKeptNoMoreIsNotPassedOverInSilence() async throws {
        let hub = self.makeHub()
        let total = Int64(ChangeStream.replayCapacity + 10)
        for number in 0..<total { await self.press(hub, number) }
        let stream = try await hub.changes(principal: "owner", lastEventID: "r-5")
        // The newest that is kept no more is the tenth: who has seen it has missed nothing.
        let complete = try await hub.changes(principal: "owner", lastEventID: "r-10")
        await hub.finishChanges()
        var events: [HomeEvent] = []
        for await event in stream { events.append(event) }
        #expect(self.isMissed(events[2]))
        #expect(self.presses(events) == Array(10..<total))
        events = []
        for await event in complete { events.append(event) }
        #expect(!events.contains(where: self.isMissed))
        #expect(self.presses(events) == Array(10..<total))
    }

    @Test func otherChangesPushNoPressOutOfWhatIsKept() async throws {
        let hub = self.makeHub()
        await self.press(hub, 7)
        for number in 0..<2_000 {
            await hub.apply(.source(.init(state: number.isMultiple(of: 2) ? .flowing : .stalled)), deviceID: "d0")
        }
        let stream = try await hub.changes(principal: "owner", lastEventID: "r-0")
        await hub.finishChanges()
        var events: [HomeEvent] = []
        for await event in stream { events.append(event) }
        #expect(self.presses(events) == [7] && !events.contains(where: self.isMissed))
    }

    @Test func oneTokenCannotTakeAllPlacesAlsoNotAllAtOnce() async throws {
        let hub = self.makeHub()
        func flood(_ principal: String) async -> [AsyncStream<HomeEvent>] {
            await withTaskGroup(of: AsyncStream<HomeEvent>?.self) { group in
                for _ in 0..<200 { group.addTask { try? await hub.changes(principal: principal) } }
                return await group.reduce(into: []) { if let stream = $1 { $0.append(stream) } }
            }
        }
        let share = HomeHub.maximumWatchers / 4
        var streams = await flood("guest")
        #expect(streams.count == share)
        #expect(await hub.watcherCount == share)
        for other in ["a", "b", "c"] { streams += await flood(other) }
        #expect(streams.count == 3 * share)
        streams += await flood("owner")
        #expect(streams.count == HomeHub.maximumWatchers)
        #expect(await hub.watcherCount == HomeHub.maximumWatchers)
        let error = await #expect(throws: HomeError.self) { try await hub.changes(principal: "owner") }
        #expect(error?.code == .resourceExhausted)
        // Whoever leaves makes room for the same principal.
        streams.removeAll()
        var attempts = 0
        while await hub.watcherCount > 0, attempts < 1_000_000 {
            attempts += 1
            await Task.yield()
        }
        _ = try await hub.changes(principal: "guest")
    }

    @Test func aHomeThatStopsEndsEveryStream() async throws {
        let hub = self.makeHub()
        let stream = try await hub.changes(principal: "owner")
        await hub.finishChanges()
        var events: [HomeEvent] = []
        for await event in stream { events.append(event) }
        #expect(self.devices(events) == 2 && !events.contains(where: self.isMissed))
        for await _ in try await hub.changes(principal: "owner") { Issue.record("a stream of a home that has stopped") }
    }
}
