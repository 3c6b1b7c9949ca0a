import AutomationGraph
import Foundation
import GatewayClient
import HomeTypes
import Testing

@testable import HomeSDK

/// What the gateway sends of automations, as app code reads it.
@Suite struct AutomationReadingTests {
    private static let graph = """
        {"version":1,"nodes":[
          {"type":"attributeStarter","id":"n1","entity":{"device":"d1"},"deviceType":"OnOffLightDeviceType","trait":"OnOff"},
          {"type":"if","ifThen":{"condition":{"equals":[{"field":"onOff","of":{"reference":"n1"}},{"constant":true}]},
            "nodes":[{"type":"delay","for":1}]},
           "elseThen":{"nodes":[{"type":"parallel","nodes":[
             {"type":"action","entity":{"device":"d2"},"deviceType":"FanDeviceType","trait":"FanControl","update":{"fanMode":"off"}}]}]}},
          {"type":"action","entity":{"device":"d2"},"deviceType":"OnOffLightDeviceType","trait":"OnOff","command":"on"}]}
        """

    private func automation(
        _ graph: String = graph, types: ReferencedAutomationTypes? = nil, issues: String = "[]"
    ) throws -> StoredAutomation {
        var configuration = HomeClientConfiguration()
        configuration.referencedAutomationTypes = types
        let home = Home(GatewayConnection(url: "http://127.0.0.1:9", token: "t"), configuration)
        return try home.model.automation(
            Data(
                """
                {"id":"a1","structureID":"s1","owner":"p","name":"Lamp","description":"On","isActive":true,"isValid":true,
                 "isRunning":false,"isPaused":false,"manuallyExecutable":true,"isUnderstood":true,"executionCount":0,
                 "graceSeconds":900,"customData":{"colour":"red"},"validationIssues":\(issues),"automationGraph":\(graph),
                 "text":"…","createdAt":"2026-01-01T00:00:00.000Z","changedAt":"2026-01-01T00:00:00.000Z"}
                """.utf8))
    }

    @Test func `an automation prints as in the documents`() throws {
        let simple = """
            {"version":1,"nodes":[
              {"type":"attributeStarter","id":"n1","entity":{"device":"d1"},"deviceType":"OnOffLightDeviceType","trait":"OnOff"},
              {"type":"action","entity":{"device":"d2"},"deviceType":"OnOffLightDeviceType","trait":"OnOff","command":"on"}]}
            """
        #expect(
            "\(try automation(simple))" == """
                Automation(id: "a1",
                  structure: structure@s1,
                  name: "Lamp",
                  description: "On",
                  isActive: true,
                  automationGraph: SequentialFlow(nodes: [
                    Starter(
                      entity: "device@d1",
                      deviceType: "\(OnOffLightDeviceType.identifier)",
                      trait: "OnOff@\(Matter.OnOffTrait.identifier)"),
                    Action(
                      entity: "device@d2",
                      deviceType: "\(OnOffLightDeviceType.identifier)",
                      trait: "OnOff@\(Matter.OnOffTrait.identifier)",
                      command: "on")]))
                """)
        let all = "\(try automation())"
        #expect(all.contains("ifThen: IfThen(condition: equals(n1.onOff, true),"))
        #expect(all.contains("elseThen: SequentialFlow(nodes: [") && all.contains(#"update: {fanMode: "off"}"#))
    }

    @Test func `an issue has the node at its place, in every kind of flow`() throws {
        func issue(_ path: String) -> String {
            #"{"path":"\#(path)","severity":"warning","type":"DelayDurationOutOfRange","duration":1,"message":"short"}"#
        }
        let paths = [
            "automationGraph.nodes[1].ifThen.nodes[0]", "automationGraph.nodes[1].elseThen.nodes[0].nodes[0]",
            "automationGraph.nodes[1].ifThen.condition", "automationGraph", "automationGraph.nodes[9]",
            "automationGraph.nodes[0]",
        ]
        let issues = try automation(issues: "[\(paths.map(issue).joined(separator: ","))]").validationIssues
        #expect(issues.map(\.path) == paths)
        #expect(issues.allSatisfy { $0.severity == .warning && $0.issueType == .delayDurationOutOfRange(.seconds(1)) })
        #expect((issues[0].node as? Delay)?.duration == .seconds(1))
        #expect((issues[1].node as? Action)?.entity.id == "d2")
        #expect(issues[2].node is IfFlow && issues[3].node == nil && issues[4].node == nil)
        #expect(issues[5].node is AttributeStarter)
    }

    @Test func `a type or trait that the app has not registered is unknown to it, everywhere in the graph`() throws {
        let registered = ReferencedAutomationTypes(
            deviceTypes: [OnOffLightDeviceType.self], traits: [Matter.OnOffTrait.self])
        let nodes = try #require(try automation(types: registered).automationGraph).nodes
        #expect(nodes[0] is AttributeStarter && nodes[2] is Action)
        let inner = try #require((nodes[1] as? IfFlow)?.elseThen?.nodes.first as? ParallelFlow)
        #expect(inner.nodes.first is UnknownNode)
        let none = try automation(types: ReferencedAutomationTypes())
        #expect(none.automationGraph?.nodes.first is UnknownNode)
        // The gateway and this library know it all the same.
        #expect(none.compatibleWithSdk)
        #expect(try automation().automationGraph?.nodes.contains { $0 is UnknownNode } == false)
    }

    @Test func `a graph of a later version is read and not understood`() throws {
        let later = try automation(#"{"version":2,"steps":[1]}"#)
        #expect(!later.compatibleWithSdk && later.automationGraph == nil)
        #expect("\(later)".contains(#""steps":[1]"#))
        let node = try automation(#"{"version":1,"nodes":[{"type":"manualStarter"},{"type":"dance"}]}"#)
        #expect(!node.compatibleWithSdk && node.automationGraph?.nodes.last is UnknownNode)
    }

    @Test func `a refusal has all issues at once, with the nodes of the draft`() throws {
        let details = try JSONDecoder().decode(
            JSONObject.self,
            from: Data(
                """
                {"validationIssues":[
                  {"path":"automationGraph","severity":"error","type":"MissingStarterNode","message":"…"},
                  {"path":"automationGraph.nodes[0]","severity":"error","type":"BlockedAction","id":"unlockDoor",
                   "message":"…"}]}
                """.utf8))
        let error = HomeError(.invalidArgument, "two things", subtype: .details(details))
        let draft = HomeSDK.automation { delay(for: .seconds(5)) }
        let issues = error.validationIssues(of: draft)
        #expect(error.code == .invalidArgument)
        #expect(issues.map(\.issueType) == [.missingStarterNode, .blockedAction(id: "unlockDoor")])
        #expect(issues.map { $0.node is Delay } == [false, true])
        #expect(HomeError.notFound("x").validationIssues().isEmpty)
    }

    @Test func `a candidate has the types that the app knows, its fields and what they accept`() throws {
        let records = try JSONDecoder().decode(
            CandidateRecords.self,
            from: Data(
                """
                {"candidates":[
                 {"kind":"command","entity":{"device":"d1"},"roles":["action"],
                  "deviceTypes":["DimmableLightDeviceType","OnOffLightDeviceType"],"trait":"LevelControl",
                  "command":"moveToLevel","unsupportedReasons":[],"fields":[
                   {"name":"level","type":"unsigned","constraint":{"type":"unsignedRange","minimum":0,"maximum":254}},
                   {"name":"offset","type":"signed","constraint":{"type":"signedRange","minimum":-5,"maximum":5}},
                   {"name":"share","type":"number","constraint":{"type":"floatRange","minimum":0,"maximum":0.5}},
                   {"name":"now","type":"boolean","constraint":{"type":"boolean"}},
                   {"name":"mode","type":"enum","constraint":{"type":"enum","values":["fast","slow"]}},
                   {"name":"note","type":"string"}]},
                 {"kind":"event","entity":{"structure":"s1"},"roles":["starter"],"deviceTypes":[],"trait":"Time",
                  "event":"RecurringSolarTimeScheduled","fields":[],
                  "unsupportedReasons":[{"type":"missingStructureAddressSetup"},{"type":"moonPhase"}]},
                 {"kind":"dance","entity":{"device":"d1"},"roles":[],"deviceTypes":["OnOffLightDeviceType"],"trait":"OnOff",
                  "fields":[],"unsupportedReasons":[]}]}
                """.utf8)
        ).candidates
        struct Thing: HomeObject {
            var id: String
            var objectType = HomeObjectType.device
        }
        let all = AutomationTypes.all
        let level = try #require(records[0].candidate(Thing(id: "d1"), all)?.node as? CommandCandidate)
        #expect(level.command is Matter.LevelControlTrait.MoveToLevelCommand.Type && level.deviceTypes.count == 2)
        let constraints = Dictionary(
            uniqueKeysWithValues: level.fieldDetails.map { ($0.key.name, $0.value.constraint) })
        #expect(constraints["level"] == .uintRangeConstraint(lowerBound: 0, upperBound: 254))
        #expect(constraints["offset"] == .intRangeConstraint(lowerBound: -5, upperBound: 5))
        #expect(constraints["share"] == .doubleRangeConstraint(lowerBound: 0, upperBound: 0.5))
        #expect(constraints["now"] == .booleanConstraint)
        #expect(constraints["mode"] == .enumConstraint(["fast", "slow"]))
        #expect(constraints["note"] == .some(nil))
        let sun = try #require(records[1].candidate(Thing(id: "s1"), all)?.node as? EventCandidate)
        #expect(sun.unsupportedReasons.map(\.reasonType) == [.missingStructureAddressSetup, .unknown])
        #expect(records[2].candidate(Thing(id: "d1"), all) == nil)

        let lights = AutomationTypes(
            .init(deviceTypes: [OnOffLightDeviceType.self], traits: [Matter.LevelControlTrait.self]))
        let known = try #require(records[0].candidate(Thing(id: "d1"), lights)?.node)
        #expect(known.deviceTypes.map { $0.name } == ["OnOffLightDeviceType"])
        #expect(records[1].candidate(Thing(id: "s1"), lights) == nil)
        #expect(
            records[0].candidate(Thing(id: "d1"), AutomationTypes(.init(traits: [Matter.LevelControlTrait.self])))
                == nil)
    }
}
