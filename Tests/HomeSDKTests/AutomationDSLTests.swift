import AutomationGraph
import HomeTypes
import Testing

@testable import HomeSDK

/// The language in which apps describe automations, and how a graph is read back.
@Suite struct AutomationDSLTests {
    private struct Thing: HomeObject {
        var id: String
        var objectType = HomeObjectType.device
    }

    private let lamp = Thing(id: "lamp")
    private let fan = Thing(id: "fan")
    private let home = Thing(id: "s1", objectType: .structure)

    private func graph(@FlowBuilder _ body: () -> FlowContent) throws -> Graph {
        try #require(automation(body) as? Draft).graph
    }

    /// Whether the graph is the one that the JSON describes.
    private func expect(_ graph: Graph, _ json: String) throws {
        let wanted = try Graph(json: #"{"version":1,"nodes":[\#(json)]}"#)
        #expect(wanted.isUnderstood)
        #expect(graph.json == wanted.json)
    }

    private static let lampTrait =
        #""entity":{"device":"lamp"},"deviceType":"OnOffLightDeviceType","trait":"OnOff""#
    private static let toggle = #"{"type":"action",\#(lampTrait),"command":"toggle"}"#

    private func toggle() -> Action {
        action(lamp, OnOffLightDeviceType.self) { Matter.OnOffTrait.toggle() }
    }

    @Test func `a starter, a condition on it and an action make a graph`() throws {
        let draft = automation(name: "First", description: "On") {
            let onOffStarter = starter(lamp, OnOffLightDeviceType.self, Matter.OnOffTrait.self)
            onOffStarter
            condition { onOffStarter.onOff.equals(true) }
            action(lamp, OnOffLightDeviceType.self) { Matter.OnOffTrait.toggle() }
        }
        #expect(draft.name == "First" && draft.description == "On" && draft.isActive && draft.id.isEmpty)
        try expect(
            try #require(draft as? Draft).graph,
            #"{"type":"attributeStarter","id":"n1",\#(Self.lampTrait)},"#
                + #"{"type":"condition","expression":{"equals":[{"field":"onOff","of":{"reference":"n1"}},"#
                + #"{"constant":true}]}},\#(Self.toggle)"#)
    }

    @Test func `events have parameters, and structures have no type`() throws {
        try expect(
            graph {
                select {
                    starter(home, Google.TimeTrait.ScheduledEvent.self) {
                        Google.TimeTrait.ScheduledEvent.clockTime(.init(hours: 8, minutes: 0))
                        Google.TimeTrait.ScheduledEvent.daysOfWeek([.monday])
                    }
                    starter(lamp, GoogleDoorbellDeviceType.self, Google.DoorbellPressTrait.DoorbellPressedEvent.self)
                    manualStarter()
                }
                suppress(for: .seconds(60))
            },
            #"{"type":"select","nodes":[{"type":"eventStarter","id":"n1","entity":{"structure":"s1"},"trait":"Time","#
                + #""event":"Scheduled","parameters":{"clockTime":{"hours":8,"minutes":0},"daysOfWeek":["monday"]}},"#
                + #"{"type":"eventStarter","id":"n2","entity":{"device":"lamp"},"deviceType":"GoogleDoorbellDeviceType","#
                + #""trait":"DoorbellPress","event":"DoorbellPressed"},{"type":"manualStarter"}]},"#
                + #"{"type":"suppress","for":60}"#)
    }

    @Test func `an expression of a structure stands for the structure in starters, readers and actions`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure("s1")])
        let home = try #require(try await script.home.structures().list().first()).atExecutionTime()
        let entity = #""entity":{"structure":"s1"}"#
        try expect(
            graph {
                select {
                    starter(home, Google.AreaPresenceStateTrait.self)
                    starter(home, Google.TimeTrait.ScheduledEvent.self)
                    starter(home, Google.TimeTrait.ScheduledEvent.self) {
                        Google.TimeTrait.ScheduledEvent.clockTime(.init(hours: 8, minutes: 0))
                    }
                }
                stateReader(home, Google.TimeTrait.self)
                action(home) { Google.AssistantBroadcastTrait.broadcast(msg: "Dinner") }
            },
            #"{"type":"select","nodes":[{"type":"attributeStarter","id":"n1",\#(entity),"trait":"AreaPresenceState"},"#
                + #"{"type":"eventStarter","id":"n2",\#(entity),"trait":"Time","event":"Scheduled"},"#
                + #"{"type":"eventStarter","id":"n3",\#(entity),"trait":"Time","event":"Scheduled","parameters":"#
                + #"{"clockTime":{"hours":8,"minutes":0}}}]},{"type":"stateReader","id":"n4",\#(entity),"trait":"Time"},"#
                + #"{"type":"action",\#(entity),"trait":"AssistantBroadcast","command":"broadcast","#
                + #""parameters":{"msg":"Dinner"}}"#)
    }

    @Test func `one pass of a loop in parallel is one branch, in order`() throws {
        let blinking = try graph {
            manualStarter()
            parallel {
                for _ in 0..<2 {
                    toggle()
                    delay(for: .seconds(1))
                    toggle()
                }
                toggle()
                for _ in 0..<1 { toggle() }
            }
        }
        let branch = #"{"type":"sequential","nodes":[\#(Self.toggle),{"type":"delay","for":1},\#(Self.toggle)]}"#
        try expect(
            blinking,
            #"{"type":"manualStarter"},{"type":"parallel","nodes":[\#(branch),\#(branch),\#(Self.toggle),\#(Self.toggle)]}"#
        )
        // Elsewhere a loop's nodes simply follow one another.
        try expect(
            graph { for _ in 0..<2 { toggle() } }, "\(Self.toggle),\(Self.toggle)")
    }

    @Test func `in parallel, the nodes of an if or a case are one branch, and a loop in it makes branches`() throws {
        let (isLong, kind) = (true, 2)
        let pair = #"{"type":"sequential","nodes":[\#(Self.toggle),{"type":"delay","for":5}]}"#
        try expect(
            graph {
                parallel {
                    if isLong {
                        toggle()
                        delay(for: .seconds(5))
                    }
                    if !isLong { toggle() } else { toggle() }
                    switch kind {
                    case 1: toggle()
                    default:
                        toggle()
                        delay(for: .seconds(5))
                    }
                    if isLong {
                        for _ in 0..<2 {
                            toggle()
                            delay(for: .seconds(5))
                        }
                    }
                }
            },
            #"{"type":"parallel","nodes":[\#(pair),\#(Self.toggle),\#(pair),\#(pair),\#(pair)]}"#)
    }

    @Test func `a sequential flow around the whole automation is the automation's own flow`() throws {
        let plain = automation {
            manualStarter()
            toggle()
        }
        let wrapped = automation {
            sequential {
                sequential {
                    manualStarter()
                    toggle()
                }
            }
        }
        #expect((wrapped as? Draft)?.graph == (plain as? Draft)?.graph)
        #expect((plain as? Draft)?.graph.nodes.count == 2)
    }

    @Test func `bodies have choices, lists, functions and types that are known only at run time`() throws {
        func flow(_ isLong: Bool) -> some Flow {
            sequential {
                if isLong { delay(for: .seconds(600)) } else { delay(for: .seconds(5)) }
            }
        }
        let type: any DeviceType.Type = OnOffLightDeviceType.self
        let trait: any HomeTypes.Trait.Type = Matter.OnOffTrait.self
        let several: [any Node] = [delay(for: .seconds(7)), toggle()]
        let kind = 2
        try expect(
            graph {
                starter(lamp, type, trait)
                flow(true)
                several
                if several.isEmpty { manualStarter() }
                switch kind {
                case 1: delay(for: .seconds(8))
                default: several.isEmpty ? delay(for: .seconds(9)) : delay(for: .seconds(10))
                }
            },
            #"{"type":"attributeStarter","id":"n1",\#(Self.lampTrait)},"#
                + #"{"type":"sequential","nodes":[{"type":"delay","for":600}]},{"type":"delay","for":7},\#(Self.toggle),"#
                + #"{"type":"delay","for":10}"#)
    }

    @Test func `starters and readers take traits that are known only at run time, of devices and of structures`() throws
    {
        let type: any DeviceType.Type = OnOffLightDeviceType.self
        let onOff: any HomeTypes.Trait.Type = Matter.OnOffTrait.self
        let presence: any HomeTypes.Trait.Type = Google.AreaPresenceStateTrait.self
        let structureTrait = #""entity":{"structure":"s1"},"trait":"AreaPresenceState""#
        try expect(
            graph {
                let changed = starter(home, presence)
                let light = stateReader(lamp, type, onOff)
                changed
                light
                stateReader(home, presence)
                condition { light.attribute("onOff", of: Bool.self).equals(true) }
                condition {
                    changed.attribute("presenceState", of: Google.AreaPresenceStateTrait.PresenceState.self)
                        .equals(.presenceStateVacant)
                }
            },
            #"{"type":"attributeStarter","id":"n1",\#(structureTrait)},{"type":"stateReader","id":"n2",\#(Self.lampTrait)},"#
                + #"{"type":"stateReader","id":"n3",\#(structureTrait)},"#
                + #"{"type":"condition","expression":{"equals":[{"field":"onOff","of":{"reference":"n2"}},"#
                + #"{"constant":true}]}},"#
                + #"{"type":"condition","expression":{"equals":[{"field":"presenceState","of":{"reference":"n1"}},"#
                + #"{"constant":"presenceStateVacant"}]}}"#)
    }

    @Test func `conditions use the fields of a starter's event`() throws {
        typealias Operation = Matter.DoorLockTrait.LockOperationEvent
        let lockEvent = #""entity":{"device":"lamp"},"deviceType":"DoorLockDeviceType","trait":"DoorLock","#
        func field(_ name: String) -> String { #"{"field":"\#(name)","of":{"reference":"n1"}}"# }
        try expect(
            graph {
                let doorLockEvent = starter(lamp, DoorLockDeviceType.self, Operation.self)
                doorLockEvent
                condition {
                    doorLockEvent.lockOperationType.equals(.unlock)
                        .and(doorLockEvent.operationSource.notEquals(.manual))
                        .and(doorLockEvent.userIndex.greaterThan(3))
                }
            },
            #"{"type":"eventStarter","id":"n1",\#(lockEvent)"event":"LockOperation"},"#
                + #"{"type":"condition","expression":{"and":[{"equals":[\#(field("lockOperationType")),"#
                + #"{"constant":"unlock"}]},{"notEquals":[\#(field("operationSource")),{"constant":"manual"}]},"#
                + #"{"greaterThan":[\#(field("userIndex")),{"constant":3}]}]}}"#)
        let made = starter(lamp, DoorLockDeviceType.self, Operation.self)
        let (user, credentials) = (made.userIndex, made.credentials)
        // What may be absent or null has the type of its value.
        let isNumber = type(of: user) == TypedExpression<UInt16>.self
        let isList = type(of: credentials) == TypedExpression<[Matter.DoorLockTrait.CredentialStruct]>.self
        #expect(isNumber && isList)
    }

    @Test func `an event that is known only at run time starts an automation`() throws {
        let press: any HomeTypes.Event.Type = Google.DoorbellPressTrait.DoorbellPressedEvent.self
        let clock: any HomeTypes.Event.Type = Google.TimeTrait.ScheduledEvent.self
        try expect(
            graph {
                select {
                    starter(lamp, GoogleDoorbellDeviceType.self, press)
                    starter(home, clock)
                }
            },
            #"{"type":"select","nodes":[{"type":"eventStarter","id":"n1","entity":{"device":"lamp"},"#
                + #""deviceType":"GoogleDoorbellDeviceType","trait":"DoorbellPress","event":"DoorbellPressed"},"#
                + #"{"type":"eventStarter","id":"n2","entity":{"structure":"s1"},"trait":"Time","#
                + #""event":"Scheduled"}]}"#)
    }

    @Test func `a time of the sun has a duration as its offset`() throws {
        for (isEvening, type) in [(true, "sunset"), (false, "sunrise")] {
            try expect(
                graph {
                    starter(home, Google.TimeTrait.ScheduledEvent.self) {
                        Google.TimeTrait.ScheduledEvent.solarTime(
                            SolarTime(type: isEvening ? .sunset : .sunrise, offset: .seconds(-90)))
                    }
                },
                #"{"type":"eventStarter","id":"n1","entity":{"structure":"s1"},"trait":"Time","event":"Scheduled","#
                    + #""parameters":{"solarTime":{"offset":-90,"type":"\#(type)"}}}"#)
        }
    }

    @Test func `choices have conditions`() throws {
        let json = try graph {
            let time = stateReader(home, Google.TimeTrait.self)
            time
            ifThen(time.dayOfWeek.equals(.sunday)) {
                toggle()
            }.elseIf(time.currentTime.between(.init(hours: 22, minutes: 0), .init(hours: 6, minutes: 0))) {
                delay(for: .seconds(5))
            }.orElse {
                toggle()
            }
        }
        func field(_ name: String) -> String { #"{"field":"\#(name)","of":{"reference":"n1"}}"# }
        try expect(
            json,
            #"{"type":"stateReader","id":"n1","entity":{"structure":"s1"},"trait":"Time"},"#
                + #"{"type":"if","ifThen":{"condition":{"equals":[\#(field("dayOfWeek")),{"constant":"sunday"}]},"#
                + #""nodes":[\#(Self.toggle)]},"elseIfThens":[{"condition":{"between":[\#(field("currentTime")),"#
                + #"{"constant":{"hours":22,"minutes":0}},{"constant":{"hours":6,"minutes":0}}]},"#
                + #""nodes":[{"type":"delay","for":5}]}],"elseThen":{"nodes":[\#(Self.toggle)]}}"#)
    }

    @Test func `every operator makes its expression`() throws {
        let warm = stateReader(lamp, TemperatureSensorDeviceType.self, Matter.TemperatureMeasurementTrait.self)
        let light = stateReader(lamp, OnOffLightDeviceType.self, Matter.OnOffTrait.self)
        let time = stateReader(home, Google.TimeTrait.self)
        func operation(_ expression: TypedExpression<Bool>) -> GraphOperator? {
            if case .operation(let operation, _) = expression.graphExpression { operation } else { nil }
        }
        let value = warm.measuredValue
        #expect(operation(value.equals(1)) == .equals)
        #expect(operation(value.notEquals(value)) == .notEquals)
        #expect(operation(value.greaterThan(-5)) == .greaterThan)
        #expect(operation(value.greaterThanOrEquals(value)) == .greaterThanOrEquals)
        #expect(operation(value.lessThan(1555)) == .lessThan)
        #expect(operation(value.lessThanOrEquals(0)) == .lessThanOrEquals)
        #expect(operation(value.between(0, warm.maxMeasuredValue)) == .between)
        #expect(operation(time.currentTime.between(time.sunsetTime, time.sunriseTime)) == .between)
        #expect(operation(time.currentDate.between(.init(month: 12, day: 1), .init(month: 2, day: 28))) == .between)
        #expect(operation(light.featureMap.contains(.lighting)) == .contains)
        #expect(operation(light.acceptedCommandList.contains(7)) == .contains)
        #expect(operation(light.acceptedCommandList[0].equals(7)) == .equals)
        #expect(operation(light.onOff.not()) == .not)
        #expect(operation(time.currentTime.field("hours", as: Int32.self).lessThan(8)) == .lessThan)
        // Chains of the same operator do not nest.
        let chain = light.onOff.and(light.onOff).and(light.onOff)
        #expect(chain.graphExpression.operands.count == 3)
        #expect(chain.or(light.onOff).graphExpression.operands.count == 2)
        let many = (0..<100).reduce(light.onOff) { all, _ in all.and(light.onOff) }
        #expect(many.graphExpression.operands.count <= 64)
    }

    @Test func `commands have parameters, and updates have values`() throws {
        try expect(
            graph {
                action(lamp, DimmableLightDeviceType.self) { Matter.LevelControlTrait.update { $0.setOnLevel(9) } }
                action(lamp, OnOffLightDeviceType.self) {
                    Matter.OnOffTrait.onWithTimedOff(onOffControl: [], onTime: 30, offWaitTime: 0)
                }
                action(home) { Google.AssistantBroadcastTrait.broadcast(msg: "Dinner") }
            },
            #"{"type":"action","entity":{"device":"lamp"},"deviceType":"DimmableLightDeviceType","trait":"LevelControl","#
                + #""update":{"onLevel":9}},{"type":"action",\#(Self.lampTrait),"command":"onWithTimedOff","#
                + #""parameters":{"offWaitTime":0,"onOffControl":0,"onTime":30}},{"type":"action","#
                + #""entity":{"structure":"s1"},"trait":"AssistantBroadcast","command":"broadcast","#
                + #""parameters":{"msg":"Dinner"}}"#)
    }

    @Test func `a node that is referred to but not placed is not in the graph`() throws {
        let graph = try graph {
            let forgotten = stateReader(lamp, OnOffLightDeviceType.self, Matter.OnOffTrait.self)
            manualStarter()
            condition { forgotten.onOff.equals(true) }
        }
        guard case .condition(let condition) = graph.nodes.last else { throw HomeError.internal("no condition") }
        guard case .field("onOff", of: .reference(let name)) = condition.expression.operands[0] else {
            throw HomeError.internal("no reference")
        }
        #expect(name.hasPrefix("unplaced"))
    }

    @Test func `a graph is read back with its types`() throws {
        let draft = automation {
            let lit = starter(lamp, OnOffLightDeviceType.self, Matter.OnOffTrait.self)
            select {
                lit
                manualStarter()
            }
            condition(for: .seconds(10)) { lit.onOff.equals(true).and(lit.onTime.between(1, 5)).or(lit.onOff.not()) }
            parallel { toggle() }
        }
        let nodes = try #require(draft.automationGraph).nodes
        let choice = try #require(nodes[0] as? SelectFlow)
        let first = try #require(choice.nodes[0] as? AttributeStarter)
        #expect(first.entity.description == "device@lamp")
        #expect(first.deviceType == OnOffLightDeviceType.self)
        #expect(first.trait == Matter.OnOffTrait.self)
        #expect(choice.nodes[1] is ManualStarter)
        let check = try #require(nodes[1] as? Condition)
        #expect(check.duration == .seconds(10))
        let or = try #require(check.expression as? Or)
        let and = try #require(or.operand1 as? And)
        let equals = try #require(and.operand1 as? Equals)
        let field = try #require(equals.operand1 as? FieldSelect)
        #expect(field.selected == "onOff" && (field.from as? Reference)?.name == "n1")
        #expect((equals.operand2 as? Constant)?.value == .bool(true))
        #expect((and.operand2 as? Between)?.operand3 is Constant)
        #expect((or.operand2 as? Not)?.operand1 is FieldSelect)
        let last = try #require((nodes[2] as? ParallelFlow)?.nodes.first as? Action)
        #expect((last.behavior as? AutomationCommand)?.command == Matter.OnOffTrait.ToggleCommand.self)
        #expect(draft.automationGraph?.graphNode.view(.all) as? SequentialFlow == draft.automationGraph)
    }
}
