import Automation
import AutomationGraph
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import Testing

@testable import Gateway

@Suite struct AutomationAPITests {
    static let json = "application/json"

    /// What the tests read of an automation.
    struct Shown: Decodable {
        var id: String
        var owner: String
        var name: String
        var isActive: Bool
        var isValid: Bool
        var isUnderstood: Bool
        var manuallyExecutable: Bool
        var maxExecutionCount: Int?
        var graceSeconds: Int
        var customData: [String: String]
        var validationIssues: [JSONObject]
        var text: String
        var createdAt: String
    }

    struct List: Decodable { var automations: [Shown] }

    static func structure(_ client: TestGateway.Client) async throws -> String {
        let list = try await client.get("/v1/structures").decoded(GatewayAPI.StructureList.self)
        return try #require(list.structures.first?.id)
    }

    static func door(_ client: TestGateway.Client) async throws -> String {
        try await client.get("/v1/devices/door").decoded(DeviceSnapshot.self).id
    }

    /// A graph that starts by a press of the doorbell, and waits.
    static func graph(_ device: String, seconds: Int = 5) -> String {
        #"{"version":1,"nodes":[{"type":"eventStarter","id":"n1","entity":{"device":"\#(device)"},"#
            + #""trait":"DoorbellPress","event":"DoorbellPressed"},{"type":"delay","for":\#(seconds)},"#
            + #"{"type":"action","entity":{"device":"\#(device)"},"trait":"DoorbellPress","command":"press"}]}"#
    }

    static func post(
        _ client: TestGateway.Client, _ body: String, to suffix: String = "", token: String = TestGateway.token
    ) async throws -> TestResponse {
        let structure = try await structure(client)
        return try await client.send(
            .post, "/v1/structures/\(structure)/automations\(suffix)", body, type: json, token: token)
    }

    @Test func `an automation is made, read, changed and deleted`() async throws {
        try await TestGateway().run { client in
            let door = try await Self.door(client)
            let made = try await Self.post(
                client, #"{"name":"Bell","customData":{"a":"b"},"automationGraph":\#(Self.graph(door))}"#)
            #expect(made.status == .created && made.headers[.eTag] == "\"1\"", "\(made.text)")
            let automation = try made.decoded(Shown.self)
            #expect(made.headers[.location] == "/v1/automations/\(automation.id)")
            #expect(automation.isActive && automation.isValid && automation.isUnderstood)
            #expect(
                automation.owner == "owner" && automation.graceSeconds == 900 && automation.customData == ["a": "b"])
            #expect(automation.manuallyExecutable && automation.createdAt.hasSuffix("Z"))
            #expect(automation.text.hasPrefix("When Front door reports doorbell pressed\nthen wait 5 s"))
            let path = "/v1/automations/\(automation.id)"
            func patch(_ body: String, _ tag: String? = nil) async throws -> TestResponse {
                try await client.send(
                    .patch, path, body, type: Self.json, headers: tag.map { [.ifMatch: $0] } ?? [:])
            }
            let changed = try await patch(#"{"name":"Ring","isActive":false,"maxExecutionCount":3}"#, "\"1\"")
            #expect(changed.status == .ok && changed.headers[.eTag] == "\"2\"")
            let now = try changed.decoded(Shown.self)
            #expect(now.name == "Ring" && !now.isActive && now.maxExecutionCount == 3 && now.text == automation.text)
            #expect(try await patch(#"{"name":"Late"}"#, "\"1\"").failure?.code == .aborted)
            #expect(try await patch(#"{"maxExecutionCount":null}"#).decoded(Shown.self).maxExecutionCount == nil)
            #expect(try await client.send(.delete, path, headers: [.ifMatch: "\"1\""]).failure?.code == .aborted)
            #expect(try await client.send(.delete, path).status == .noContent)
            #expect(try await client.get(path).status == .notFound)
        }
    }

    @Test func `a sequential flow around a whole graph is the graph's own flow`() async throws {
        try await TestGateway().run { client in
            let door = try await Self.door(client)
            let plain = try await Self.post(client, #"{"automationGraph":\#(Self.graph(door))}"#).decoded(Shown.self)
            let nodes = Self.graph(door).replacing(#"{"version":1,"nodes":"#, with: #"{"type":"sequential","nodes":"#)
            let made = try await Self.post(client, #"{"automationGraph":{"version":1,"nodes":[\#(nodes)]}}"#)
            #expect(made.status == .created, "\(made.text)")
            let wrapped = try made.decoded(Shown.self)
            #expect(wrapped.isValid && wrapped.text == plain.text)
        }
    }

    @Test func `a graph with errors is refused with all of them, and one with warnings is kept with them`() async throws
    {
        try await TestGateway().run { client in
            let door = try await Self.door(client)
            let wrong = Self.graph("nothing", seconds: 100_000)
            let refused = try await Self.post(client, #"{"automationGraph":\#(wrong)}"#)
            #expect(refused.status == .badRequest)
            let details = try #require(try refused.decoded(HomeErrorResponse.self).error.details)
            guard case .list(let issues)? = details.members["validationIssues"] else {
                Issue.record("no issues: \(refused.text)")
                return
            }
            let types = issues.compactMap { issue -> String? in
                guard case .object(let members) = issue, case .text(let type)? = members["type"] else { return nil }
                #expect(members["path"] != nil && members["message"] != nil && members["severity"] != nil)
                return type
            }
            #expect(types == ["InvalidEntity", "DelayDurationOutOfRange", "InvalidEntity"])
            let warned = try await Self.post(client, #"{"automationGraph":\#(Self.graph(door, seconds: 2))}"#)
            let issue = try #require(try warned.decoded(Shown.self).validationIssues.first?.members)
            #expect(issue["type"] == .text("DelayDurationOutOfRange") && issue["duration"] == .integer(2))
            let checked = try await Self.post(client, #"{"automationGraph":\#(wrong)}"#, to: "/validate")
            #expect(checked.status == .ok)
            #expect(try checked.decoded(GatewayAPI.DraftAnswer.self).validationIssues.count == 3)
        }
    }

    @Test(arguments: [("isActve", "did you mean isActive?"), ("colour", "known members are name, description")])
    func `an unknown member beside the graph is refused`(member: String, advice: String) async throws {
        try await TestGateway().run { client in
            let graph = Self.graph(try await Self.door(client))
            let refused = try await Self.post(client, #"{"\#(member)":false,"automationGraph":\#(graph)}"#)
            #expect(refused.failure?.code == .invalidArgument)
            #expect(refused.text.contains(member) && refused.text.contains(advice), "\(refused.text)")
        }
    }

    @Test func `a graph of a later version is kept byte for byte, and does not run`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            for graph in [
                #"{"version": 2, "nodes":  [ {"type":"teleport", "to": 1.50e2} ]}"#,
                #"{"version":1, "nodes":[{"type":"manualStarter"}, {"type":"teleport" , "to":"x"}]}"#,
            ] {
                let made = try await Self.post(client, #"{"automationGraph":\#(graph)}"#)
                #expect(made.status == .created && made.text.contains("\"automationGraph\":\(graph)"), "\(made.text)")
                let automation = try made.decoded(Shown.self)
                #expect(!automation.isUnderstood && !automation.isValid && !automation.validationIssues.isEmpty)
                for action in ["execute", "stop", "release"] {
                    let refused = try await client.send(.post, "/v1/automations/\(automation.id)/\(action)")
                    #expect(refused.failure?.code == .failedPrecondition, "\(action)")
                    #expect(refused.text.contains("does not know all of its graph"), "\(action): \(refused.text)")
                }
            }
            #expect(await gateway.api.automations.definitions().isEmpty)
        }
    }

    @Test func `an automation belongs to the principal that made it, and an administrator sees it`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let structure = try await Self.structure(client)
            let door = try await Self.door(client)
            for (name, scopes) in [
                ("app", [Caller.Scope.automate, .read, .control]), ("other", [.automate, .read]),
                ("chief", [.automate, .read, .admin]),
            ] {
                try await gateway.addToken(
                    "gatehouse_\(name)", named: name, Access([.init(Set(scopes), structureID: structure)]))
            }
            let made = try await Self.post(
                client, #"{"automationGraph":\#(Self.graph(door))}"#, token: "gatehouse_app")
            let path = "/v1/automations/\(try made.decoded(Shown.self).id)"
            for (name, isSeen) in [("app", true), ("other", false), ("chief", true)] {
                let token = "gatehouse_\(name)"
                let list = try await client.send(.get, "/v1/structures/\(structure)/automations", token: token)
                #expect(try list.decoded(List.self).automations.isEmpty != isSeen, "\(name)")
                #expect(try await client.send(.get, path, token: token).status == (isSeen ? .ok : .notFound))
                if !isSeen {
                    #expect(try await client.send(.delete, path, token: token).status == .notFound)
                    let patched = try await client.send(
                        .patch, path, #"{"isActive":false}"#, type: Self.json, token: token)
                    #expect(patched.status == .notFound)
                }
            }
            #expect(try await client.get(path).decoded(Shown.self).owner == "app")
            // It runs with the rights of its owner, so only those who have these rights may say what it does.
            let graph = #"{"automationGraph":\#(Self.graph(door))}"#
            for (token, body, status) in [
                ("gatehouse_chief", graph, HTTPResponse.Status.forbidden),
                ("gatehouse_chief", #"{"isActive":false}"#, .ok), ("gatehouse_app", graph, .ok),
                (TestGateway.token, graph, .ok),
            ] {
                let patched = try await client.send(.patch, path, body, type: Self.json, token: token)
                #expect(patched.status == status, "\(token)")
            }
        }
    }

    @Test func `an automation names no device that its reader may not know of`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let structure = try await Self.structure(client)
            let door = try await Self.door(client)
            try await gateway.addToken(
                "gatehouse_app", named: "app",
                Access([.init([.automate, .read, .control], structureID: structure)]))
            let graph = #"{"automationGraph":\#(Self.graph(door))}"#
            let made = try await Self.post(client, graph, token: "gatehouse_app").decoded(Shown.self)
            #expect(made.text.contains("Front door"))
            // The device is elsewhere now, and called something else there.
            let cabin = try await client.send(.post, "/v1/structures", #"{"name":"Cabin"}"#, type: Self.json)
                .decoded(StructureSnapshot.self).id
            _ = try await client.send(
                .patch, "/v1/devices/door", #"{"name":"Vault","structureID":"\#(cabin)"}"#, type: Self.json)
            let path = "/v1/automations/\(made.id)"
            let draft = "/v1/structures/\(structure)/automations/validate"
            let list = "/v1/structures/\(structure)/automations"
            for (token, isNamed) in [("gatehouse_app", false), (TestGateway.token, true)] {
                let checked = try await client.send(.post, draft, graph, type: Self.json, token: token)
                #expect(checked.status == .ok && checked.text.contains("Vault") == isNamed, "\(checked.text)")
                for address in [path, list] {
                    let shown = try await client.send(.get, address, token: token)
                    #expect(shown.status == .ok && shown.text.contains("Vault") == isNamed, "\(shown.text)")
                }
            }
        }
    }

    @Test func `an automation that loses its device is kept, and only that part stops`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let door = try await Self.door(client)
            let made = try await Self.post(client, #"{"automationGraph":\#(Self.graph(door))}"#)
            let id = try made.decoded(Shown.self).id
            let plan = try await client.get("/v1/devices/door/decommission")
            #expect(try plan.decoded(GatewayAPI.DecommissionPlan.self).automations == [id])
            let cabin = try await client.send(.post, "/v1/structures", #"{"name":"Cabin"}"#, type: Self.json)
                .decoded(StructureSnapshot.self).id
            _ = try await client.send(
                .patch, "/v1/devices/door", #"{"structureID":"\#(cabin)"}"#, type: Self.json)
            await gateway.api.automations.validate(naming: [door])
            let automation = try await client.get("/v1/automations/\(id)").decoded(Shown.self)
            #expect(!automation.isValid && automation.validationIssues.count == 2)
            let definition = try #require(await gateway.api.automations.definitions().first)
            #expect(definition.invalidPaths == ["automationGraph.nodes[0]", "automationGraph.nodes[2]"])
        }
    }

    @Test(arguments: [
        (#"{}"#, "automationGraph"), (#"{"automationGraph":[]}"#, "automationGraph"),
        (#"{"automationGraph":{"version":"1","nodes":[]}}"#, "version"),
        (#"{"automationGraph":{"version":1,"nodes":{}}}"#, "nodes"),
        (#"{"name":7,"automationGraph":{"version":1,"nodes":[]}}"#, "name"),
        (#"{"name":"a\u202eb","automationGraph":{"version":1,"nodes":[]}}"#, "name"),
        (#"{"isActive":"yes","automationGraph":{"version":1,"nodes":[]}}"#, "isActive"),
        (#"{"maxExecutionCount":0,"automationGraph":{"version":1,"nodes":[]}}"#, "maxExecutionCount"),
        (#"{"graceSeconds":1e3,"automationGraph":{"version":1,"nodes":[]}}"#, "graceSeconds"),
        (#"{"customData":{"a":1},"automationGraph":{"version":1,"nodes":[]}}"#, "customData"),
        (#"{"automationGraph":{"version":1,"nodes":[]}}"#, "starter"), (#"["automationGraph"]"#, "object"),
        (#"{"automationGraph":{"version":1,"nodes":[]},"automationGraph":{}}"#, "twice"),
    ])
    func `wrong drafts are refused`(body: String, word: String) async throws {
        try await TestGateway().run { client in
            let answer = try await Self.post(client, body)
            #expect(answer.status == .badRequest && answer.failure?.code == .invalidArgument, "\(answer.text)")
            #expect(answer.failure?.message.contains(word) == true, "\(answer.text)")
            let list = try await client.get("/v1/structures/\(try await Self.structure(client))/automations")
            #expect(try list.decoded(List.self).automations.isEmpty)
        }
    }

    @Test func `deep, wide, huge and circular graphs are refused with their limits`() async throws {
        try await TestGateway().run { client in
            func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
            let manual = #"{"type":"manualStarter"}"#
            let start = #"{"automationGraph":{"version":1,"nodes":[\#(manual),"#
            let not = #"{"not":["#
            let equals = #"{"equals":[{"reference":"c"},{"reference":"c"}]}"#
            for (what, body) in [
                ("flows", start + repeated(#"{"type":"sequential","nodes":["#, 17) + repeated("]}", 17) + "]}}"),
                (
                    "expressions",
                    start
                        + #"{"type":"condition","expression":\#(repeated(not, 33)){"constant":true}\#(repeated("]}", 33))}]}}"#
                ),
                ("nodes", start + repeated(#"{"type":"delay","for":5},"#, 600) + manual + "]}}"),
                ("bytes", start + #"{"type":"x","pad":"\#(repeated("x", 270_000))"}]}}"#),
                ("itself", start + #"{"type":"condition","expression":\#(equals)}]}}"#),
                ("brackets", repeated(#"{"automationGraph":"#, 5_000)),
            ] {
                let answer = try await Self.post(client, body)
                #expect(answer.status == .badRequest, "\(what): \(answer.status) \(answer.text.prefix(200))")
                #expect(answer.failure?.message.isEmpty == false)
            }
        }
    }

    @Test func `a graph that is too large is an issue, as everything else that is wrong with a graph`() async throws {
        try await TestGateway().run { client in
            let large = #"{"version":1,"nodes":[{"type":"x","pad":"\#(String(repeating: "x", count: 270_000))"}]}"#
            let refused = try await Self.post(client, #"{"automationGraph":\#(large)}"#)
            #expect(refused.status == .badRequest && refused.failure?.code == .invalidArgument)
            let details = try #require(try refused.decoded(HomeErrorResponse.self).error.details)
            let checked = try await Self.post(client, #"{"automationGraph":\#(large)}"#, to: "/validate")
            let issue = try #require(try checked.decoded(GatewayAPI.DraftAnswer.self).validationIssues.first)
            #expect(details.members["validationIssues"] == .list([.object(issue.members)]))
            #expect(issue.members["type"] == .text("AutomationTooLarge"))
            #expect(issue.members["byteCount"] == .integer(Int64(large.utf8.count)))
            #expect(issue.members["limit"] == .integer(262_144))
        }
    }

    @Test func `two changes within one moment have different times, so a stale value is noticed`() async throws {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        let records = AutomationRecords(
            hub: hub, store: MemorySharedStore(), accessOf: { _ in .everything },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { Date(timeIntervalSince1970: 1_000) })
        let structure = try #require(await hub.structures().first?.id)
        let manual = #"{"automationGraph":{"version":1,"nodes":[{"type":"manualStarter"}]}}"#
        let made = try await records.create(AutomationDraft(json: Data(manual.utf8)), in: structure, by: "owner")
        let owner = Authorization(principal: "owner", access: .everything)
        var times = [made.record.changedAt]
        for name in ["a", "b"] {
            let draft = try AutomationDraft(json: Data("{\"name\":\"\(name)\"}".utf8))
            times.append(try await records.change(made.record.id, draft, ifVersion: nil, by: owner).record.changedAt)
        }
        #expect(Set(times).count == 3 && times == times.sorted())
    }

    @Test func `the automations of a structure go with it`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let cabin = try await client.send(.post, "/v1/structures", #"{"name":"Cabin"}"#, type: Self.json)
                .decoded(StructureSnapshot.self).id
            let body = #"{"automationGraph":{"version":1,"nodes":[{"type":"manualStarter"}]}}"#
            let made = try await client.send(
                .post, "/v1/structures/\(cabin)/automations", body, type: Self.json
            ).decoded(Shown.self)
            let kept = try await Self.post(client, body).decoded(Shown.self)
            let records = gateway.api.automations
            let watcher = records.watchers.add()
            let follower = Task { await records.followHome() }
            try await gateway.runAutomations { service in
                #expect(await service.definitions.count == 2)
                let answer = try await client.send(.delete, "/v1/structures/\(cabin)")
                #expect(answer.status == .noContent)
                for await _ in watcher.signals where watcher.takeRemoved().map(\.id) == [made.id] { break }
                while await service.definitions.count > 1 { await Task.yield() }
                #expect(await service.definitions.keys.first == kept.id)
            }
            #expect(try await client.get("/v1/automations/\(made.id)").status == .notFound)
            follower.cancel()
        }
    }

    @Test
    func `an automation whose structure was deleted just before the gateway ended does not run at the next start`()
        async throws
    {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        let store = MemorySharedStore()
        func records() -> AutomationRecords {
            AutomationRecords(
                hub: hub, store: store, accessOf: { _ in .everything },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        let manual = try AutomationDraft(
            json: Data(#"{"automationGraph":{"version":1,"nodes":[{"type":"manualStarter"}]}}"#.utf8))
        let first = records()
        let kept = try await first.create(manual, in: "s1", by: "owner").record.id
        _ = try await first.create(manual, in: "s2", by: "owner")
        // Structures that cannot be read are not gone.
        #expect(await records().definitions().count == 2)
        _ = store.write(HomeDirectory.structureKind, "s1", "{}", expecting: 0)
        #expect(await records().definitions().map(\.id) == [kept])
        #expect(store.objects(AutomationRecord.kind).map(\.id) == [kept])
    }

    @Test func `an automation names only what its owner may read`() {
        let homes = AutomationHomes(
            structures: [StructureSnapshot(id: "s1", name: "Home", timeZone: "UTC")],
            devices: ["d1", "d2"].map {
                DeviceSnapshot(id: $0, name: $0, structureID: "s1", endpoints: [])
            })
        func home(_ grants: [Access.Grant]) -> ValidationHome { homes.validationHome(of: "s1", for: Access(grants)) }
        let blind = home([.init([.automate, .control])])
        #expect(blind.devices.isEmpty && blind.structureTraits == ["Time"])
        let partly = home([.init([.automate]), .init([.read], deviceID: "d2")])
        #expect(Set(partly.devices.keys) == ["d2"] && partly.structureTraits == ["Time"])
        let reader = home([.init([.automate, .read], structureID: "s1")])
        #expect(Set(reader.devices.keys) == ["d1", "d2"] && reader.structureTraits.contains("AreaPresenceState"))
    }

    @Test func `opening needs the scope unlock`() async throws {
        let action = GraphAction.Behaviour.command("unlockDoor", parameters: [:])
        func name(_ behaviour: GraphAction.Behaviour, _ trait: String) -> String? {
            BlockedActions.name(of: behaviour, trait: trait, types: [])
        }
        #expect(name(action, "DoorLock") == "unlockDoor")
        #expect(name(.command("lockDoor", parameters: [:]), "DoorLock") == nil)
        #expect(name(.update([:]), "DoorLock") == "update")
        #expect(name(.command("on", parameters: [:]), "OnOff") == nil)
        let structure = StructureSnapshot(id: "s1", name: "Home", timeZone: "UTC")
        let homes = AutomationHomes(structures: [structure], devices: [])
        let weak = homes.validationHome(of: "s1", for: Access([.init([.automate, .control])]))
        #expect(!weak.permitsBlockedActions && weak.unlockableDevices.isEmpty)
        let strong = homes.validationHome(of: "s1", for: Access([.init([.unlock], deviceID: "d1"), .init([.unlock])]))
        #expect(strong.permitsBlockedActions && strong.unlockableDevices == ["d1"])
    }
}
