import Automation
import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

/// Commands that wait for a place, and for the next start.
extension AutomationServiceTests {
    @Test func `a command that has waited too long for a place is not sent`() async throws {
        let rig = try await AutomationServiceRig()
        let service = try await waitingForAPlace(rig)
        rig.pass(milliseconds: 9_999)
        await service.sendNext()
        #expect(await service.waitingCommands.count == 1)
        rig.pass(milliseconds: 20_000)
        await service.freePlace()
        #expect(await service.waitingCommands.isEmpty)
        #expect(await service.counts.commands == 0)
        #expect(try await rig.isOn("lamp") == false)
        await service.stop()
    }

    @Test func `a command that waits for a place is not sent after its run was stopped`() async throws {
        let rig = try await AutomationServiceRig()
        let service = try await waitingForAPlace(rig)
        try await service.stopRun(of: "a1", principal: "owner")
        await service.freePlace()
        #expect(await service.waitingCommands.isEmpty)
        #expect(await service.counts.commands == 0)
        await service.stop()
        #expect(try await rig.isOn("lamp") == false)
    }

    /// A service whose run has a command that waits, because somebody else's has the only place.
    private func waitingForAPlace(_ rig: AutomationServiceRig) async throws -> AutomationService {
        var settings = AutomationService.Settings()
        settings.commands = 1
        let service = rig.makeService(settings)
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        await service.takePlace()
        try await rig.turn("sensor", "on")
        while await service.waitingCommands.isEmpty { await Task.yield() }
        return service
    }

    @Test func `the time that a command has waited for its place is a part of its deadline`() async throws {
        let rig = try await AutomationServiceRig()
        let service = try await waitingForAPlace(rig)
        rig.pass(milliseconds: 6_000)
        await service.freePlace()
        _ = try await rig.ended(service)
        let remaining = try #require(rig.calls.withLock { $0.last }?.caller.remainingSeconds)
        #expect(remaining <= 4 && remaining > 0)
        await service.stop()
    }

    @Test func `nothing is sent any more once the service has stopped, and the next start sends it once`() async throws
    {
        let rig = try await AutomationServiceRig()
        let first = rig.makeService()
        let definition = definition([action("lamp", "on"), action("other", "on")])
        await first.define(definition)
        await first.start()
        await first.executeAndStop("a1")
        #expect(rig.calls.withLock { $0.isEmpty })
        let kept = try #require(rig.store.openRuns().first)
        #expect(!kept.contains { $0.data.contains("\"sending\"") })
        let second = rig.makeService()
        await second.define(definition)
        await second.start()
        let run = try await rig.ended(second)
        #expect(run.end == .completed && commands(run) == [.succeeded, .succeeded])
        #expect(rig.calls.withLock { $0.map(\.deviceID) } == ["lamp", "other"])
        await second.stop()
    }

    @Test func `a command that waits for its place when the service stops is recorded as not sent`() async throws {
        let rig = try await AutomationServiceRig()
        let service = try await waitingForAPlace(rig)
        await service.freePlaceQuietly()
        await service.stop()
        #expect(rig.calls.withLock { $0.isEmpty })
        let run = try #require(rig.store.runs(of: "a1", before: nil, limit: 1).first)
        let rows = rig.store.entries(ofRun: run.first.runID)
        #expect(rows.contains { $0.data.contains("the gateway was stopped before it was sent") })
    }

    @Test func `a stopped run keeps its end although its command is not sent`() throws {
        func record(_ run: String, _ number: Int, _ event: RunEntry.Event) -> EngineEffect {
            .record(RunEntry(automationID: "a", runID: run, number: number, at: 0, event: event))
        }
        let manual = RunEntry.Event.began(Trigger(.manual, path: ""), depth: 0, isLate: false)
        let stopped = [
            record("x1", 0, manual), record("x1", 1, .sending(commandID: 0)), record("x1", 2, .ended(.stopped)),
        ]
        let open = [record("x2", 0, manual), record("x2", 1, .sending(commandID: 0)), record("x2", 2, .strandEnded)]
        #expect(AutomationService.withoutSending(stopped + open) == stopped + open.prefix(1))
    }
}

extension AutomationService {
    /// Runs an automation and stops in one step, so that its command is wanted and not written yet.
    fileprivate func executeAndStop(_ id: String) async {
        engine.handle(.execute(automationID: id, principal: "owner"), at: now())
        drain()
        await stop()
    }

    /// Gives the first place to nobody.
    fileprivate func freePlaceQuietly() { runningCommands[CommandKey(runID: "x0", commandID: 0)] = nil }

    /// Takes the first place, as a command does that is on its way.
    fileprivate func takePlace() { runningCommands[CommandKey(runID: "x0", commandID: 0)] = [] }

    /// Gives that place to the next command.
    fileprivate func freePlace() {
        runningCommands[CommandKey(runID: "x0", commandID: 0)] = nil
        sendNext()
    }
}
