import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// Drafts that run over what was recorded.
@Suite(.timeLimit(.minutes(10))) struct AutomationSimulationTests {
    private struct Answer: Decodable {
        struct Run: Decodable {
            struct Command: Decodable {
                var at: String
                var text: String
                var command: String
                var entity: [String: String]
            }

            var at: String
            var trigger: JSONObject
            var commands: [Command]
            var end: String?
            var text: String
        }

        var runs: [Run]
        var isCut: Bool
        var recordedFrom: String?
    }

    /// The clock of the hub stands at 00:16:40.
    private static let time = "?from=1970-01-01T00:16:00Z&to=1970-01-01T00:17:00Z"

    /// A gateway whose doorbell was pressed and whose lamp was turned on and off.
    private func gateway() async throws -> TestGateway {
        let gateway = try TestGateway()
        gateway.camera.send(.doorbellPressed(.init()))
        gateway.camera.finish()
        await gateway.hub.run()
        let lamp = try VirtualDevice(
            id: "lamp", name: "Lamp", types: [OnOffLightDeviceType.self], store: MemorySharedStore())
        await gateway.hub.setDevices([lamp.description()], drivers: [lamp], of: .virtual)
        for command in ["on", "off"] {
            _ = try await gateway.hub.send(
                CommandCall(deviceID: "lamp", trait: "OnOff", command: command, caller: Caller(principal: "owner")),
                body: Data("{}".utf8))
        }
        return gateway
    }

    private static let turnOn =
        #"{"type":"action","entity":{"device":"lamp"},"deviceType":"OnOffLightDeviceType","trait":"OnOff","command":"on"}"#

    private func simulate(
        _ client: TestGateway.Client, _ nodes: String, _ query: String = time, token: String = TestGateway.token
    ) async throws -> TestResponse {
        try await AutomationAPITests.post(
            client, #"{"name":"x","automationGraph":{"version":1,"nodes":[\#(nodes)]}}"#, to: "/simulate" + query,
            token: token)
    }

    @Test func `a draft would have run when the bell rang, and nothing is sent or kept`() async throws {
        let gateway = try await gateway()
        try await gateway.run { client in
            let door = try await AutomationAPITests.door(client)
            let starter =
                #"{"type":"eventStarter","id":"n1","entity":{"device":"\#(door)"},"trait":"DoorbellPress","event":"DoorbellPressed"}"#
            let response = try await simulate(client, "\(starter),\(Self.turnOn)")
            #expect(response.status == .ok, "\(response.text)")
            let answer = try response.decoded(Answer.self)
            let run = try #require(answer.runs.first)
            #expect(answer.runs.count == 1 && !answer.isCut && answer.recordedFrom == "1970-01-01T00:16:40.000Z")
            #expect(run.at == "1970-01-01T00:16:40.000Z" && run.end == "completed" && !run.text.isEmpty)
            #expect(run.trigger.members["event"] == .text("DoorbellPressed"))
            #expect(run.commands.map(\.text) == ["turn Lamp on"] && run.commands.map(\.command) == ["on"])
            #expect(run.commands.first?.entity == ["device": "lamp"])
            #expect(try await gateway.hub.device("lamp").traits[Matter.OnOffTrait.self]?.onOff == false)
            let list = try await client.get(
                "/v1/structures/\(try await AutomationAPITests.structure(client))/automations")
            #expect(try list.decoded(AutomationAPITests.List.self).automations.isEmpty)
            let before = "?from=1970-01-01T00:10:00Z&to=1970-01-01T00:16:00Z"
            #expect(try await simulate(client, "\(starter),\(Self.turnOn)", before).decoded(Answer.self).runs.isEmpty)
        }
    }

    @Test func `a draft would have run when the lamp changed`() async throws {
        try await gateway().run { client in
            let nodes =
                #"{"type":"attributeStarter","id":"n1","entity":{"device":"lamp"},"deviceType":"OnOffLightDeviceType","trait":"OnOff"},"#
                + #"{"type":"condition","expression":{"equals":[{"field":"onOff","of":{"reference":"n1"}},{"constant":false}]}},"#
                + Self.turnOn
            let runs = try await simulate(client, nodes).decoded(Answer.self).runs
            #expect(runs.contains { $0.end == "completed" && $0.commands.count == 1 }, "\(runs)")
        }
    }

    @Test func `a draft with a mistyped member is refused with the place of the mistake`() async throws {
        let gateway = try await gateway()
        try await gateway.run { client in
            let mistyped = Self.turnOn.replacing("\"command\"", with: "\"comand\"")
            let refused = try await simulate(client, #"{"type":"manualStarter"},\#(mistyped)"#)
            #expect(refused.failure?.code == .failedPrecondition)
            #expect(refused.text.contains("automationGraph.nodes[1]: "), "\(refused.text)")
            #expect(refused.text.contains("did you mean command?"), "\(refused.text)")
        }
    }

    @Test func `a wrong draft, a wrong time and a device that the caller may not read are refused`() async throws {
        let gateway = try await gateway()
        try await gateway.run { client in
            let manual = #"{"type":"manualStarter"},\#(Self.turnOn)"#
            for query in [
                "?from=soon", "?from=1970-01-02T00:00:00Z&to=1970-01-01T00:00:00Z",
                "?from=1970-01-01T00:00:00Z&to=1970-02-02T00:00:00Z",
            ] {
                #expect(try await simulate(client, manual, query).failure?.code == .invalidArgument, "\(query)")
            }
            let wrong = try await simulate(client, manual.replacing("\"lamp\"", with: "\"nothing\""))
            #expect(wrong.status == .badRequest && wrong.text.contains("validationIssues"))
            #expect(try await simulate(client, manual).decoded(Answer.self).runs.isEmpty)
            let structure = try await AutomationAPITests.structure(client)
            try await gateway.addToken(
                "gatehouse_blind", named: "blind",
                Access([.init([.automate], structureID: structure), .init([.read], deviceID: "door")]))
            let secret = try await client.send(
                .post, "/v1/structures/\(structure)/automations/simulate" + Self.time,
                #"{"automationGraph":{"version":1,"nodes":[\#(manual)]}}"#, type: "application/json",
                token: "gatehouse_blind")
            #expect(secret.failure?.code == .invalidArgument, "\(secret.text)")
        }
    }
}
