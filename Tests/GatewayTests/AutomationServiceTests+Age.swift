import Automation
import HomeHub
import Testing
import Transport

@testable import Gateway

/// How long runs are kept.
extension AutomationServiceTests {
    @Test func `a clock that leaps ahead deletes no run until it has stayed there for an hour`() async throws {
        let (rig, service) = try await withOneRun()
        await service.pruneIfDue()
        rig.time.withLock { $0.wall += 40 * 86_400_000 }
        rig.pass(milliseconds: 3_600_000)
        await service.pruneIfDue()
        #expect(rig.store.entries(ofRun: "x1").count == 2)
        rig.pass(milliseconds: 3_600_000)
        await service.pruneIfDue()
        #expect(rig.store.entries(ofRun: "x1").isEmpty)
    }

    @Test func `a clock that was wrong when the gateway started deletes no run`() async throws {
        let (rig, service) = try await withOneRun()
        rig.time.withLock { $0.wall += 40 * 86_400_000 }
        await service.pruneIfDue()
        rig.time.withLock { $0.wall -= 40 * 86_400_000 }
        rig.pass(milliseconds: 3_600_000)
        await service.pruneIfDue()
        #expect(rig.store.entries(ofRun: "x1").count == 2)
    }

    /// A service that has not begun to run anything, with the record of a run of now.
    private func withOneRun() async throws -> (AutomationServiceRig, AutomationService) {
        let rig = try await AutomationServiceRig()
        let wall = rig.time.withLock { $0.wall }
        func entry(_ number: Int, _ event: RunEntry.Event) -> RunEntry {
            RunEntry(automationID: "a1", runID: "x1", number: number, at: wall, event: event)
        }
        var batch = RunBatch()
        batch.rows = try [
            RunRow(entry(0, .began(Trigger(.manual, path: ""), depth: 0, isLate: false))),
            RunRow(entry(1, .ended(.completed))),
        ]
        try rig.store.append(batch)
        return (rig, rig.makeService())
    }
}
