import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct DeviceEventTests {
    func makeHub(log: ChangeLog = ChangeLog(MemoryStore(log: "r"))) -> HomeHub {
        HomeHub(
            devices: [
                .init(id: "door", name: "Door", kind: .doorbell), .init(id: "yard", name: "Yard", kind: .camera),
            ],
            drivers: [FakeCamera("door")], signalling: FakeLiveView().services, log: log,
            now: { Date(timeIntervalSince1970: 1_000) })
    }

    @Test func aDetectionIsReportedKeptAndShownWhileItLasts() async throws {
        let hub = makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<3 { _ = await events.next() }
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

    @Test func theHistoryBeginsWithWhatAnEarlierGatewayKept() async throws {
        let kept = (0..<300).map { index in
            DeviceEvent(
                id: "old-\(index)", deviceID: "door", at: Date(timeIntervalSince1970: Double(index)),
                Google.DoorbellPressTrait.DoorbellPressedEvent(priority: Int64(index)))
        }
        let log = ChangeLog(MemoryStore(log: "r"))
        log.adopt(kept)
        let hub = makeHub(log: log)
        let events = try await hub.events(of: "door")
        #expect(events.map(\.priority) == (100..<300).reversed().map(Int64.init))
        #expect(events.first?.timestamp == Date(timeIntervalSince1970: 299))
        #expect(try await hub.events(of: "door", after: events[2].id).map(\.priority) == [299, 298])
        // An event that is no longer known: everything may be newer.
        #expect(try await hub.events(of: "door", after: "gone-1").count == HomeHub.maximumEvents)
        #expect(try await hub.events(of: "door", since: Date(timeIntervalSince1970: 298)).count == 2)
        #expect(try await hub.events(of: "yard").isEmpty)
    }

    @Test func theStateOfTheEventsConnectionIsShown() async throws {
        let hub = makeHub()
        #expect(try await hub.device("door").eventSource == nil)
        let status = EventSourceStatus(state: .backingOff, reason: "no answer", model: "D3")
        await hub.apply(.eventSource(status), deviceID: "door")
        #expect(try await hub.device("door").eventSource == status)
    }
}
