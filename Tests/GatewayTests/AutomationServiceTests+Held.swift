import Automation
import AutomationGraph
import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import Testing

@testable import Gateway

/// Automations of owners whose tokens cannot be read.
extension AutomationServiceTests {
    /// The tokens after a start at which one of them could not be read, which may be anybody's.
    private func unreadable() throws -> TokenRegistry {
        let store: any SharedStore = MemorySharedStore()
        _ = try store.write(TokenRecord.kind, "t9", "{", expecting: 0)
        return TokenRegistry(file: TokenStore(tokens: [("owner", TestGateway.token)]), store: store)
    }

    /// Two commands with a minute in between.
    private var slow: AutomationDefinition {
        definition(owner: "app", [action("other", "on"), .delay(.seconds(60)), action("lamp", "on")])
    }

    /// Lets the automation begin its run, and ends the gateway within the minute.
    private func begin(_ rig: AutomationServiceRig) async throws {
        let service = rig.makeService()
        await service.define(slow)
        await service.start()
        try await rig.turn("sensor", "on")
        for await element in await service.liveRuns(after: 0) where element.run.end == nil { break }
        while try await rig.isOn("other") != true { await Task.yield() }
        await service.stop()
        #expect(rig.store.openRuns().count == 1)
    }

    @Test func `nothing begins and nothing ends while it is not known what the owner may do`() async throws {
        let rig = try await AutomationServiceRig()
        try await begin(rig)
        rig.pass(milliseconds: 61_000)
        let second = rig.makeService(registry: try unreadable())
        await second.define(slow)
        var watched = definition([])
        watched.id = "a2"
        await second.define(watched)
        await second.start()
        try await rig.turn("sensor", "off")
        // What another automation does after the same change comes after what this one would have done.
        _ = try await rig.ended(second, "a2")
        let runs = try await second.runs(of: "a1").runs
        #expect(runs.count == 1 && runs.first?.end == nil)
        let refusal = await #expect(throws: HomeError.self) { try await second.execute("a1", principal: "owner") }
        #expect(refusal?.code == .failedPrecondition && refusal?.message.contains("app") == true)
        await second.stop()
        let isSent = try await rig.isOn("lamp")
        #expect(isSent == false)
        #expect(rig.store.openRuns().count == 1)

        // The next start can read the token, and the run goes on.
        let third = rig.makeService()
        await third.define(slow)
        await third.start()
        let run = try await rig.ended(third)
        #expect(run.end == .completed && commands(run).count == 2)
        let isSentNow = try await rig.isOn("lamp")
        #expect(isSentNow == true)
        let state = await third.state(of: "a1")
        #expect(state.executionCount == 1)
        await third.stop()
    }

    @Test func `the run of an owner whose token is gone ends, and what was counted stays`() async throws {
        let rig = try await AutomationServiceRig()
        try await begin(rig)
        let tokens = try unreadable()
        let second = rig.makeService(registry: tokens)
        await second.define(slow)
        await second.start()
        await second.takeUp(ownedBy: "app")
        var runs = try await second.runs(of: "a1").runs
        #expect(runs.first?.end == nil)
        try await tokens.revoke("t9")
        await second.takeUp(ownedBy: "app")
        let run = try await rig.ended(second)
        #expect(run.end == .interrupted)
        let state = await second.state(of: "a1")
        #expect(state.executionCount == 1)
        // It is known now that the owner has no right.
        try await rig.turn("sensor", "off")
        for await element in await second.liveRuns(after: 0) where element.run.id != run.id { break }
        runs = try await second.runs(of: "a1").runs
        #expect(runs.count == 2)
        await second.stop()
        let isSent = try await rig.isOn("lamp")
        #expect(isSent == false)
    }

    @Test func `a deleted automation that waits leaves nothing`() async throws {
        let rig = try await AutomationServiceRig()
        try await begin(rig)
        let second = rig.makeService(registry: try unreadable())
        await second.define(slow)
        await second.start()
        await second.adopt([.removed(id: "a1")])
        await second.stop()
        #expect(rig.store.openRuns().isEmpty)
        let states = try rig.store.states()
        #expect(states.isEmpty)
    }

    @Test
    func `nothing is wrong with an automation of an owner who is not known, and nobody with fewer rights changes it`()
        async throws
    {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        await hub.setDevices([DeviceDescription(id: "door", name: "Door", kind: .doorbell)], drivers: [])
        let structure = try #require(await hub.structures().first?.id)
        let store = MemorySharedStore()
        func records(_ access: Access, isUnknown: Bool) -> AutomationRecords {
            AutomationRecords(
                hub: hub, store: store, accessOf: { $0 == "app" ? access : .everything },
                isUnknown: { $0 == "app" && isUnknown },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        let draft = try AutomationDraft(
            json: Data(
                (#"{"automationGraph":{"version":1,"nodes":[{"type":"eventStarter","id":"n1","#
                    + #""entity":{"device":"door"},"trait":"DoorbellPress","event":"DoorbellPressed"}]}}"#).utf8))
        let id = try await records(.everything, isUnknown: false).create(draft, in: structure, by: "app").record.id
        let gone = await records(.nothing, isUnknown: false).definitions()
        #expect(gone.map(\.invalidPaths.isEmpty) == [false])
        let unknown = records(.nothing, isUnknown: true)
        let kept = await unknown.definitions()
        #expect(kept.map(\.invalidPaths.isEmpty) == [true])
        // Somebody with fewer rights would get those of the owner of the automation.
        let admin = Authorization(
            principal: "admin", access: Access([.init([.read, .control, .automate, .admin])]), tokenID: "t5")
        let refusal = await #expect(throws: HomeError.self) {
            _ = try await unknown.change(id, draft, ifVersion: nil, by: admin)
        }
        #expect(refusal?.code == .permissionDenied)
        _ = try await unknown.change(
            id, draft, ifVersion: nil, by: Authorization(principal: "owner", access: .everything))
    }
}
