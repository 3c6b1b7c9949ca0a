import Automation
import AutomationGraph
import Foundation
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// Commands are sent with the rights of the moment.
extension AutomationServiceTests {
    @Test func `a gate opens only with the right to unlock`() async throws {
        let rig = try await AutomationServiceRig()
        let gate = try VirtualDevice(
            id: "gate", name: "Gate", types: [GarageDoorDeviceType.self], store: MemorySharedStore())
        await rig.add(gate)
        func ends(owner: String) async throws -> [RunEnd?] {
            let service = rig.makeService()
            let target = GraphTrait(.device("gate"), deviceType: "WindowCoveringDeviceType", trait: "WindowCovering")
            for command in ["upOrOpen", "downOrClose"] {
                let nodes: [GraphNode] = [
                    .manualStarter, .action(GraphAction(target, .command(command, parameters: [:]))),
                ]
                await service.define(
                    AutomationDefinition(
                        id: owner + command, structureID: "s1", owner: owner, graph: Graph(nodes)))
            }
            await service.start()
            var ends: [RunEnd?] = []
            for command in ["upOrOpen", "downOrClose"] {
                try await service.execute(owner + command, principal: "owner")
                ends.append(try await rig.ended(service, owner + command).end)
            }
            await service.stop()
            return ends
        }
        #expect(try await ends(owner: "app") == [.notAuthorised, .completed])
        #expect(try await ends(owner: "owner") == [.completed, .completed])
    }

    @Test func `a right that was taken away stops the command, and the run says so`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition(owner: "app", [action("lamp", "on")]))
        await service.start()
        try await rig.registry.revoke(rig.appID)
        try await rig.turn("sensor", "on")
        let run = try await rig.ended(service)
        #expect(run.end == .notAuthorised)
        guard case .notAuthorised? = commands(run).first else {
            Issue.record("the command was not refused: \(commands(run))")
            return
        }
        #expect(try await rig.isOn("lamp") == false)
        await service.stop()
    }

    @Test func `an owner without the scope automate sends nothing any more`() async throws {
        let rig = try await AutomationServiceRig()
        let record = TokenRecord(
            id: "t2", name: "hand", access: Access([.init([.read, .control])]), createdAt: Date(), createdBy: "owner",
            secrets: [])
        try await rig.registry.add(record)
        let service = rig.makeService()
        await service.define(definition(owner: "hand", [action("lamp", "on")]))
        await service.start()
        try await rig.turn("sensor", "on")
        let run = try await rig.ended(service)
        #expect(run.end == .notAuthorised)
        #expect(try await rig.isOn("lamp") == false)
        await service.stop()
    }
}
