import Foundation
import HomeFakes
import HomeTypes
import Synchronization
import Testing
import Transport

@testable import HomeHub

/// Events that somebody reports for a camera, and cameras that are replaced meanwhile.
@Suite struct ReportedEventTests {
    private static let yard = DeviceDescription(id: "yard", name: "Yard", kind: .camera)
    private let camera = FakeCamera("yard")

    /// A home that follows the camera.
    private func makeHub(_ store: any LocalStore = MemoryStore(log: "r")) async -> HomeHub {
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, log: ChangeLog(store),
            now: { Date(timeIntervalSince1970: 1_000) })
        // It has no device to wait for yet, and follows those that come.
        await hub.run()
        await hub.setDevices([Self.yard], drivers: [camera])
        return hub
    }

    /// A client that is told so reports the event again, and it is there twice.
    @Test func `an event that waits for a slow disk is not lost with a camera that is replaced now`() async throws {
        let store = FailingStore()
        let hub = await makeHub(store)
        let log = hub.log
        await log.settle()
        let before = log.newest
        camera.whenReportsApply.withLock { $0 = { _ = await becomesTrue { log.newest != before } } }
        store.hold()
        let report = Task { try await hub.report(ReportedEvent(type: .motion), of: "yard") }
        #expect(await becomesTrue { log.boundedWaits == 1 })
        await hub.setDevices([Self.yard], drivers: [FakeCamera("yard")])
        store.release()
        #expect(try await report.value)
        log.flush()
        #expect(try await hub.events(of: "yard").count == 1)
    }

    @Test func `an event is lost with a camera that is replaced before the home has read it`() async throws {
        let hub = await makeHub()
        camera.whenReportsApply.withLock {
            $0 = { await hub.setDevices([Self.yard], drivers: [FakeCamera("yard")]) }
        }
        let failure = await #expect(throws: HomeError.self) {
            try await hub.report(ReportedEvent(type: .motion), of: "yard")
        }
        #expect(failure?.code == .unavailable)
    }

    @Test func `what a camera has reported can be waited for before another one takes its place`() async {
        let hub = await makeHub()
        let waits = Locked(0)
        camera.whenReportsApply.withLock { $0 = { waits.withLock { $0 += 1 } } }
        await hub.applyReports(of: ["attic", "yard"])
        #expect(waits.withLock { $0 } == 1)
        await hub.setDevices([Self.yard], drivers: [FakeCamera("yard")])
        await hub.applyReports(of: ["yard"])
        #expect(waits.withLock { $0 } == 1)
    }
}
