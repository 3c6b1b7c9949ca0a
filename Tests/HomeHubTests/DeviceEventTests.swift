import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct DeviceEventTests {
    func makeHub(history: [DeviceEvent] = [], journal: @escaping @Sendable (DeviceEvent) -> Void = { _ in }) -> HomeHub
    {
        HomeHub(
            devices: [
                .init(id: "door", name: "Door", kind: .doorbell), .init(id: "yard", name: "Yard", kind: .camera),
            ],
            drivers: [FakeCamera("door")], liveView: FakeLiveView(), history: history, journal: journal, run: "r",
            now: { Date(timeIntervalSince1970: 1_000) })
    }

    @Test func aDetectionIsToldKeptAndShownWhileItLasts() async throws {
        let hub = self.makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<2 { _ = await events.next() }
        await hub.apply(.detection(.init(kind: .person, phase: .began, eventSessionId: "s")), deviceID: "door")
        guard case .detection("door", _, let began)? = await events.next()?.change else { throw UnexpectedEvent() }
        #expect(began.kind == .person)
        guard case .device(let device)? = await events.next()?.change else { throw UnexpectedEvent() }
        #expect(device.activeDetections == [.person])
        await hub.apply(.detection(.init(kind: .person, phase: .ended, eventSessionId: "s")), deviceID: "door")
        #expect(try await hub.device("door").activeDetections == [])
        let kept = try await hub.events(of: "door")
        #expect(kept.map(\.phase) == [.ended, .began])
        #expect(kept.map(\.eventSessionId) == ["s", "s"])
        #expect(kept.map(\.trait) == ["CameraPerson", "CameraPerson"])
    }

    @Test func aReturningWatcherIsToldOfTheDetectionsThatItMissed() async throws {
        let hub = self.makeHub()
        var first = try await hub.changes(principal: "owner").makeAsyncIterator()
        await hub.apply(.doorbellPressed(.init()), deviceID: "door")
        var place: String?
        for _ in 0..<3 { place = await first.next()?.id }
        await hub.apply(.detection(.init(kind: .motion, phase: .momentary, eventSessionId: "s")), deviceID: "door")
        var second = try await hub.changes(principal: "owner", lastEventID: place).makeAsyncIterator()
        for _ in 0..<2 { _ = await second.next() }
        guard case .detection("door", _, let missed)? = await second.next()?.change else { throw UnexpectedEvent() }
        #expect(missed.kind == .motion)
    }

    @Test func theHistoryIsBoundedAndBeginsWithWhatWasKept() async throws {
        let kept = (0..<300).map { index in
            DeviceEvent(
                id: "old-\(index)", deviceID: "door", at: Date(timeIntervalSince1970: Double(index)), .init())
        }
        let hub = self.makeHub(history: kept)
        #expect(try await hub.events(of: "door").count == HomeHub.maximumEvents)
        #expect(try await hub.events(of: "door").first?.id == "old-299")
        #expect(try await hub.events(of: "door", after: "old-297").map(\.id) == ["old-299", "old-298"])
        // An event that nobody knows any more: everything may be newer.
        #expect(try await hub.events(of: "door", after: "gone-1").count == HomeHub.maximumEvents)
        #expect(try await hub.events(of: "door", since: Date(timeIntervalSince1970: 298)).count == 2)
        #expect(EventHistory.capacity < 300)
    }

    @Test func theStateOfTheEventsConnectionIsShown() async throws {
        let hub = self.makeHub()
        #expect(try await hub.device("door").eventSource == nil)
        let status = EventSourceStatus(state: .backingOff, reason: "no answer", model: "D3")
        await hub.apply(.eventSource(status), deviceID: "door")
        #expect(try await hub.device("door").eventSource == status)
    }
}
