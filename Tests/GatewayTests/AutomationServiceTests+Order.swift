import Automation
import AutomationGraph
import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

/// What became of commands, and what happens in the home meanwhile.
extension AutomationServiceTests {
    @Test func `the outcome of a command comes before what happens after it`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([action("light", "toggle")]))
        // While the light has the run's command, that of a person waits for its turn.
        let others = Locked<[Task<Void, any Error>]>([])
        let light = try VirtualDevice(
            id: "light", name: "Light", types: [OnOffLightDeviceType.self], store: MemorySharedStore())
        let observed = ObservedLamp(light) { call in
            guard call.caller.requestID == "x1" else { return }
            let other = Task { try await rig.turn("light", "toggle") }
            others.withLock { $0.append(other) }
        }
        await rig.hub.setDevices([light.description()], drivers: [observed], of: .virtual)
        await rig.hub.add(service.inbox)
        _ = service.inbox.drain()
        let toggle = GraphAction(
            GraphTrait(.device("light"), deviceType: "OnOffLightDeviceType", trait: "OnOff"),
            .command("toggle", parameters: [:]))
        await service.send(
            CommandRequest(
                runID: "x1", commandID: 0, automationID: "a1", owner: "owner", action: toggle, timeout: 10_000))
        var order: [String] = []
        while order.count < 3 {
            for item in service.inbox.drain().items {
                switch item {
                case .home: order.append("a change")
                case .outcome(_, let outcome): order.append("\(outcome)")
                }
            }
            await Task.yield()
        }
        #expect(order == ["a change", "succeeded", "a change"])
        for other in others.withLock({ $0 }) { try await other.value }
        await service.stop()
    }

    @Test func `of the outcomes of a command only the first counts`() throws {
        let inbox = AutomationInbox()
        let light = GraphTrait(.device("light"), trait: "OnOff")
        let request = CommandRequest(
            runID: "x1", commandID: 0, automationID: "a1", owner: "owner",
            action: GraphAction(light, .command("on", parameters: [:])), timeout: 10_000)
        let answer = CommandAnswer(to: request, in: inbox)
        #expect(answer.take(.succeeded) == .succeeded)
        #expect(answer.take(.failed(code: "deadlineExceeded", message: "late")) == .succeeded)
        let items = inbox.drain().items
        #expect(items.count == 1)
        guard case .outcome(request, .succeeded)? = items.first else {
            Issue.record("the inbox has \(items)")
            return
        }
    }
}
