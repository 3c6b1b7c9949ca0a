import Automation
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Signalling
import Testing
import Transport

@testable import Gateway

/// Runs of automations, over HTTP.
@Suite(.timeLimit(.minutes(10))) struct AutomationRunAPITests {
    private struct Run: Decodable {
        struct Entry: Decodable {
            var kind: String
            var outcome: String?
            var text: String
        }

        var id: String
        var end: String?
        var trigger: JSONObject
        var entries: [Entry]?
    }

    private struct Runs: Decodable { var runs: [Run] }

    private struct Explained: Decodable {
        var text: String
        var runs: [Run]
    }

    /// A gateway with a lamp.
    private func gateway() async throws -> TestGateway {
        let gateway = try TestGateway()
        let lamp = try VirtualDevice(
            id: "lamp", name: "Lamp", types: [OnOffLightDeviceType.self], store: MemorySharedStore())
        await gateway.hub.setDevices([lamp.description()], drivers: [lamp], of: .virtual)
        return gateway
    }

    /// A graph that turns the lamp on when a person runs it.
    private static let graph =
        #"{"version":1,"nodes":[{"type":"manualStarter"},{"type":"action","entity":{"device":"lamp"},"#
        + #""deviceType":"OnOffLightDeviceType","trait":"OnOff","command":"on","defer":90}]}"#

    private func make(_ client: TestGateway.Client) async throws -> String {
        let made = try await AutomationAPITests.post(client, #"{"name":"Light","automationGraph":\#(Self.graph)}"#)
        #expect(made.status == .created, "\(made.text)")
        let automation = try made.decoded(AutomationAPITests.Shown.self)
        #expect(automation.text.contains("waits up to 1 min 30 s while Lamp is offline"), "\(automation.text)")
        return automation.id
    }

    /// The first run that has ended.
    private func ended(_ service: AutomationService) async throws -> RunRecord {
        for await element in await service.liveRuns(after: 0) where element.run.end != nil { return element.run }
        throw HomeError.internal("the service ended first")
    }

    @Test func `streams of automations have places, with a share for each principal`() async throws {
        let gateway = try TestGateway()
        let readers = gateway.api.automationReaders
        try await gateway.run { client in
            let path = "/v1/structures/\(try await AutomationAPITests.structure(client))/automations/events"
            let places = try (0..<PlaceShares(total: 64).share).map { _ in try readers.take(for: "guest") }
            let refused = try await client.send(.get, path, token: TestGateway.guestToken)
            #expect(refused.status == .tooManyRequests, "\(refused.text)")
            withExtendedLifetime(places) {}
        }
    }

    @Test func `the streams of automations of a token whose rights change look at once`() async throws {
        let gateway = try TestGateway()
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        let id = try await gateway.addToken("gatehouse_phone", named: "phone", .everything)
        let watchers = gateway.api.automations.watchers
        let looks = Locked<[String]>([])
        let watching = ["phone", "owner"].map { name in
            let watcher = watchers.add(for: name)
            watcher.whenRightsChange { access in looks.withLock { $0.append("\(name) \(access == .nothing)") } }
            return watcher
        }
        try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
        try await gateway.api.tokens.revoke(id)
        #expect(looks.withLock { $0 } == ["phone false", "phone true"])
        var signals = watching[0].signals.makeAsyncIterator()
        let signal: Void? = await signals.next()
        #expect(signal != nil)
    }

    @Test func `a stream of automations ends with the sign-in that it belongs to, whatever others of the name may do`()
        async throws
    {
        let gateway = try await gateway()
        let structure = try #require(await gateway.hub.structures().first?.id)
        let stream = await AutomationEventStream(
            api: gateway.api, structure: structure, caller: Authorization(principal: "owner", access: .everything),
            after: nil)
        // As after a change of the password.
        gateway.api.automations.watchers.record(.nothing, of: "owner")
        try await stream.run { _ in throw HomeError.internal("something was written") }
    }

    @Test func `a reader that was away for long gets the newest rows`() {
        typealias Service = AutomationService
        let most = Service.longestCatchingUp
        #expect(Service.firstPlace(after: nil, newest: 7) == 7 && Service.firstPlace(after: 3, newest: 7) == 3)
        #expect(Service.firstPlace(after: .min, newest: 7) == 0 && Service.firstPlace(after: .min, newest: nil) == 0)
        #expect(Service.firstPlace(after: 3, newest: most + 10) == 10)
        #expect(Service.firstPlace(after: nil, newest: nil) == 0 && Service.firstPlace(after: 9, newest: nil) == 9)
    }

    @Test func `an automation that a person runs has a run with entries and an explanation`() async throws {
        let gateway = try await gateway()
        try await gateway.run { client in
            try await gateway.runAutomations { service in
                let path = "/v1/automations/\(try await make(client))"
                #expect(try await client.send(.post, path + "/stop").failure?.code == .failedPrecondition)
                #expect(try await client.send(.post, path + "/release").failure?.code == .failedPrecondition)
                #expect(try await client.send(.post, path + "/execute").status == .noContent)
                let record = try await ended(service)
                let list = try await client.get(path + "/runs").decoded(Runs.self).runs
                #expect(list.map(\.id) == [record.id] && list.first?.entries == nil)
                let run = try await client.get(path + "/runs/\(record.id)").decoded(Run.self)
                #expect(run.end == "completed" && run.trigger.members["kind"] == .text("manual"))
                #expect(run.entries?.map(\.kind).first == "began" && run.entries?.map(\.kind).last == "ended")
                #expect(run.entries?.contains { $0.kind == "sent" && $0.outcome == "succeeded" } == true)
                #expect(try await gateway.hub.device("lamp").traits[Matter.OnOffTrait.self]?.onOff == true)
                let at = AutomationSnapshot.time(record.startedAt)
                let explained = try await client.get(path + "/explain?at=\(at)").decoded(Explained.self)
                #expect(explained.text.hasPrefix("Light began at") && explained.runs.map(\.id) == [record.id])
                #expect(try await client.get(path + "/runs/none").status == .notFound)
            }
        }
    }

    @Test func `an explanation knows what was switched off at that moment, and shows the time of the home`()
        async throws
    {
        let gateway = try await gateway()
        try await gateway.run { client in
            try await gateway.runAutomations { service in
                let id = try await make(client)
                let path = "/v1/automations/\(id)"
                let structure = try await AutomationAPITests.structure(client)
                _ = try await client.send(
                    .patch, "/v1/structures/\(structure)", #"{"timeZone":"Asia/Kathmandu"}"#, type: "application/json")
                _ = try await client.send(.patch, path, #"{"isActive":false}"#, type: "application/json")
                // The switch is recorded when the store has it.
                while try await service.changes(of: id).count < 2 { await Task.yield() }
                let off = try #require(try await service.changes(of: id).last)
                #expect(off.kind == .deactivated)
                _ = try await client.send(.patch, path, #"{"isActive":true}"#, type: "application/json")
                while try await service.changes(of: id).count < 3 { await Task.yield() }
                let at = AutomationSnapshot.time(off.at)
                let text = try await client.get(path + "/explain?at=\(at)").decoded(Explained.self).text
                let style = Date.ISO8601FormatStyle(
                    dateTimeSeparator: .space, timeZone: try #require(TimeZone(identifier: "Asia/Kathmandu"))
                ).year().month().day().time(includingFractionalSeconds: false)
                let local = Date(timeIntervalSince1970: Double(off.at / 1_000)).formatted(style)
                #expect(text.contains("It was switched off since \(local)"), "\(text)")
            }
        }
    }

    @Test func `a run shows what it sent after the automation has got another graph`() async throws {
        struct Detailed: Decodable {
            struct Entry: Decodable {
                var kind: String
                var text: String
                var action: JSONObject?
            }
            var entries: [Entry]
            var hasOtherGraph: Bool?
        }
        let gateway = try await gateway()
        try await gateway.run { client in
            try await gateway.runAutomations { service in
                let path = "/v1/automations/\(try await make(client))"
                #expect(try await client.send(.post, path + "/execute").status == .noContent)
                let record = try await ended(service)
                func run() async throws -> Detailed {
                    try await client.get(path + "/runs/\(record.id)").decoded(Detailed.self)
                }
                #expect(try await run().hasOtherGraph == false)
                let other = Self.graph.replacing("\"on\"", with: "\"off\"")
                let changed = try await client.send(
                    .patch, path, #"{"automationGraph":\#(other)}"#, type: "application/json")
                #expect(changed.status == .ok, "\(changed.text)")
                let shown = try await run()
                #expect(shown.hasOtherGraph == true)
                let sent = try #require(shown.entries.first { $0.kind == "sent" })
                #expect(sent.text.hasPrefix("The command on to Lamp succeeded"))
                #expect(sent.action?.members["command"] == .text("on") && sent.action?.members["defer"] == .integer(90))
            }
        }
    }

    @Test func `the stream of events has runs, and says that an automation was deleted`() async throws {
        struct Enough: Error {}
        let gateway = try await gateway()
        try await gateway.run { client in
            try await gateway.runAutomations { service in
                let id = try await make(client)
                let caller = try #require(gateway.api.tokens.authorization(holding: TestGateway.token))
                let stream = await AutomationEventStream(
                    api: gateway.api, structure: try await AutomationAPITests.structure(client), caller: caller,
                    after: 0)
                _ = try await client.send(.post, "/v1/automations/\(id)/execute")
                let run = try await ended(service)
                var texts: [String] = []
                do {
                    try await stream.run { text in
                        texts.append(text)
                        // The stream watches before it writes anything.
                        if texts.count == 1 { _ = try await client.send(.delete, "/v1/automations/\(id)") }
                        if text.hasPrefix("event: automationRemoved") { throw Enough() }
                    }
                    Issue.record("the stream has ended")
                } catch is Enough {}
                #expect(texts.first?.hasPrefix("event: run\nid: ") == true && texts.first?.contains(run.id) == true)
                #expect(texts.last == "event: automationRemoved\ndata: {\"automationID\":\"\(id)\"}\n\n")
            }
        }
    }

    @Test func `an automation that goes between the connection and its first event is reported`() async throws {
        struct Enough: Error {}
        let gateway = try await gateway()
        try await gateway.run { client in
            let id = try await make(client)
            let caller = try #require(gateway.api.tokens.authorization(holding: TestGateway.token))
            let stream = await AutomationEventStream(
                api: gateway.api, structure: try await AutomationAPITests.structure(client), caller: caller, after: nil)
            // The client is connected, and reads the list.
            _ = try await client.send(.delete, "/v1/automations/\(id)")
            var texts: [String] = []
            do {
                try await stream.run { text in
                    texts.append(text)
                    throw Enough()
                }
                Issue.record("the stream has ended")
            } catch is Enough {}
            #expect(texts == ["event: automationRemoved\ndata: {\"automationID\":\"\(id)\"}\n\n"])
        }
    }
}
