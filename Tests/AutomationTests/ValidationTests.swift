import Automation
import AutomationGraph
import HomeTypes
import Testing

@Suite struct ValidationTests {
    private static let lamp = GraphTrait(.device("lamp"), deviceType: "DimmableLightDeviceType", trait: "OnOff")
    private static let level = GraphTrait(.device("lamp"), deviceType: "OnOffLightDeviceType", trait: "LevelControl")
    private static let plug = GraphTrait(.device("plug"), trait: "OnOff")
    private static let lock = GraphTrait(.device("lock"), trait: "DoorLock")
    private static let clock = GraphTrait(.structure("s1"), trait: "Time")
    private static let door = GraphTrait(.device("door"), trait: "DoorbellPress")
    private static let starter = GraphNode.attributeStarter(GraphReader(id: "n1", lamp))
    private static let onOff = GraphExpression.field("onOff", of: .reference("n1"))
    private static let isOn = GraphExpression.operation(.equals, [onOff, .constant(.bool(true))])
    private static let time = GraphNode.stateReader(GraphReader(id: "t", clock))

    private static func command(
        _ target: GraphTrait, _ name: String, _ parameters: [String: JSONObject.Value] = [:]
    ) -> GraphNode { .action(GraphAction(target, .command(name, parameters: parameters))) }

    private static let home = ValidationHome(
        structureID: "s1", hasCoordinates: false,
        devices: [
            "lamp": .init(parts: [
                .init(types: ["RootNodeDeviceType"], traits: TraitCollection([])),
                .init(
                    types: ["DimmableLightDeviceType"],
                    traits: TraitCollection([
                        Matter.OnOffTrait(attributes: .init(onOff: true)),
                        Matter.LevelControlTrait(attributes: .init(currentLevel: 1)),
                        Matter.TemperatureMeasurementTrait(),
                    ])),
            ]),
            "plug": .init(
                parts: [
                    .init(
                        types: ["OnOffPluginUnitDeviceType"],
                        traits: TraitCollection([
                            Matter.OnOffTrait(attributes: .init(onOff: false, onTime: 0, acceptedCommandList: [0, 1]))
                        ]))
                ], daysOffline: 8),
            "lock": .init(parts: [
                .init(types: ["DoorLockDeviceType"], traits: TraitCollection([Matter.DoorLockTrait()]))
            ]),
            "door": .init(
                parts: [
                    .init(
                        types: ["GoogleDoorbellDeviceType"], traits: TraitCollection([Google.DoorbellPressTrait()]))
                ], statelessTraits: ["CameraMotion"]),
        ])

    private static func issues(_ nodes: [GraphNode], in home: ValidationHome = home) -> [String] {
        GraphValidator.issues(of: Graph(nodes), in: home)
            .map { "\($0.severity == .warning ? "warning " : "")\($0.type.name) \($0.path.dropFirst(15))" }
    }

    /// The issues of a condition behind a starter for a lamp and readers of the clock and the level.
    private static func issues(of expression: GraphExpression) -> [String] {
        issues([
            starter, time, .stateReader(GraphReader(id: "l", level)), .condition(GraphCondition(expression)),
        ]).map { $0.replacing(" .nodes[3]", with: "") }
    }

    private static func issues(of action: GraphNode) -> [String] {
        issues([.manualStarter, action]).map { $0.replacing(" .nodes[1]", with: "") }
    }

    private static func scheduled(_ parameters: [String: JSONObject.Value]) -> GraphNode {
        .eventStarter(GraphEventStarter(id: "e", clock, event: "Scheduled", parameters: parameters))
    }

    private static let eight = JSONObject.Value.object(["hours": .integer(8), "minutes": .integer(0)])

    @Test func `a graph without faults has no issues`() {
        let lamp = Self.command(Self.level, "moveToLevel", ["level": .integer(254)])
        #expect(
            Self.issues([
                .select([
                    .manualStarter, Self.scheduled(["clockTime": Self.eight, "daysOfWeek": .list([.text("monday")])]),
                    .sequential([
                        .eventStarter(GraphEventStarter(id: "d", Self.door, event: "DoorbellPressed")),
                        .suppress(.seconds(60)),
                    ]),
                ]),
                Self.time, .stateReader(GraphReader(id: "n1", Self.lamp)),
                .condition(GraphCondition(.operation(.and, [Self.isOn, Self.isOn]), for: .seconds(5))),
                .ifThen(GraphIf(.init(Self.isOn, [lamp]), elseThen: [.delay(.seconds(86_400)), lamp])),
                .parallel([.sequential([.delay(.seconds(5)), lamp]), Self.command(Self.lock, "lockDoor")]),
            ]) == [])
    }

    @Test func `each fault of the flow is reported at its node`() {
        let (starter, isOn) = (Self.starter, Self.isOn)
        let condition = GraphNode.condition(GraphCondition(isOn))
        #expect(Self.issues([]) == ["MissingStarterNode "])
        #expect(Self.issues([Self.time]) == ["MissingStarterNode .nodes[0]"])
        #expect(Self.issues([.select([])]) == ["MissingStarterNode .nodes[0]"])
        #expect(Self.issues([.select([.manualStarter, Self.time])]) == ["MissingStarterNode .nodes[0].nodes[1]"])
        #expect(Self.issues([.select([.sequential([])])]) == ["MissingStarterNode .nodes[0].nodes[0]"])
        #expect(Self.issues([.manualStarter, .manualStarter]) == ["MisplacedStarterNode .nodes[1]"])
        #expect(Self.issues([.manualStarter, .parallel([starter])]) == ["MisplacedStarterNode .nodes[1].nodes[0]"])
        #expect(Self.issues([.manualStarter, .select([starter])]) == ["MisplacedSelectFlow .nodes[1]"])
        #expect(
            Self.issues([.select([.manualStarter, .manualStarter])]) == ["DuplicateStarterNode .nodes[0].nodes[1]"])
        #expect(
            Self.issues([starter, .stateReader(GraphReader(id: "n1", Self.clock))]) == [
                "DuplicateStarterNode .nodes[1]"
            ])
        #expect(Self.issues([.manualStarter, condition]) == ["InvalidReference .nodes[1]"])
        #expect(Self.issues([starter, .delay(.seconds(5))]) == ["warning DelayWithoutEffect .nodes[1]"])
        #expect(
            Self.issues([starter, .parallel([.delay(.seconds(5))])])
                == ["warning DelayWithoutEffect .nodes[1].nodes[0]"])
        #expect(
            Self.issues([starter, .parallel([.ifThen(GraphIf(.init(isOn, [])))])])
                == ["MisplacedFlow .nodes[1].nodes[0]"])
        #expect(
            Self.issues([starter, .condition(GraphCondition(.constant(.bool(false)))), Self.time, Self.time])
                .filter { $0.contains("Unreachable") } == ["warning UnreachableBranch .nodes[2]"])
        let always = GraphIf.Branch(.constant(.bool(true)), [])
        let perhaps = GraphIf.Branch(isOn, [])
        #expect(
            Self.issues([
                starter, .ifThen(GraphIf(always, elseIfThens: [perhaps], elseThen: [.delay(.seconds(0)), Self.time])),
            ]) == [
                "warning UnreachableBranch .nodes[1].elseIfThens[0]", "warning UnreachableBranch .nodes[1].elseThen",
                "DelayDurationOutOfRange .nodes[1].elseThen.nodes[0]",
            ])
        #expect(Self.issues([starter, .parallel((0..<100).map { _ in .sequential([]) })]) == [])
        #expect(
            Self.issues([starter, .parallel((0...100).map { _ in .sequential([]) })])
                == ["TooManyBranches .nodes[1]"])
        #expect(
            Self.issues([.manualStarter] + (0..<500).map { _ in .sequential([]) }) == ["TooManyNodes "])
        let long = JSONObject.Value.text(String(repeating: "x", count: GraphLimits.bytes))
        #expect(
            Self.issues([starter, .condition(GraphCondition(.operation(.equals, [.constant(long), .constant(long)])))])
                == [
                    "AutomationTooLarge "
                ])
    }

    @Test func `what a branch reads is known behind parallel flows, and not behind a choice`() {
        let condition = GraphNode.condition(GraphCondition(Self.isOn))
        let reader = GraphNode.stateReader(GraphReader(id: "n1", Self.lamp))
        #expect(Self.issues([.manualStarter, .parallel([reader]), condition]) == [])
        #expect(Self.issues([.manualStarter, .sequential([reader]), condition]) == [])
        #expect(
            Self.issues([.manualStarter, .parallel([reader, condition])]) == ["InvalidReference .nodes[1].nodes[1]"])
        let choice = GraphNode.ifThen(GraphIf(.init(.constant(.bool(true)), [reader, condition])))
        #expect(Self.issues([.manualStarter, choice, condition]) == ["InvalidReference .nodes[2]"])
    }

    @Test(arguments: [
        (GraphNode.delay(.milliseconds(999)), "DelayDurationOutOfRange"),
        (.delay(.seconds(1)), "warning DelayDurationOutOfRange"), (.delay(.seconds(86_401)), "DelayDurationOutOfRange"),
        (.suppress(.seconds(4)), "SuppressionDurationOutOfRange"),
        (.suppress(.seconds(-1)), "SuppressionDurationOutOfRange"),
        (.condition(GraphCondition(isOn, for: .seconds(4))), "ConditionDurationOutOfRange"),
        (.delay(.seconds(315_576_000_001)), "InvalidDuration"), (.delay(.seconds(-315_576_000_001)), "InvalidDuration"),
    ])
    func `durations are from five seconds to a day`(_ node: GraphNode, _ issue: String) {
        #expect(Self.issues([Self.starter, node, Self.time]) == ["\(issue) .nodes[1]"])
    }

    @Test func `each fault of an entity is reported`() {
        func read(_ entity: GraphEntity, _ type: String?, _ trait: String) -> [String] {
            let source = GraphTrait(entity, deviceType: type, trait: trait)
            return Self.issues(of: .stateReader(GraphReader(id: "r", source)))
        }
        #expect(read(.device("lamp"), "OnOffLightDeviceType", "OnOff") == [])
        #expect(read(.device("gone"), nil, "OnOff") == ["InvalidEntity"])
        #expect(read(.structure("s2"), nil, "Time") == ["InvalidEntity"])
        #expect(read(.device("lamp"), nil, "Levitation") == ["InvalidTrait"])
        #expect(read(.device("lamp"), "FanDeviceType", "OnOff") == ["UnsupportedEntityType"])
        #expect(read(.device("lamp"), "Nothing", "OnOff") == ["UnsupportedEntityType"])
        #expect(read(.device("lock"), nil, "OnOff") == ["UnsupportedEntityTrait"])
        #expect(read(.structure("s1"), nil, "OnOff") == ["UnsupportedEntityTrait"])
        let source = GraphTrait(.device("lock"), deviceType: "DoorLockDeviceType", trait: "OnOff")
        #expect(
            GraphValidator.issues(of: Graph([.attributeStarter(GraphReader(id: "n1", source))]), in: Self.home)
                .map(\.type)
                == [.unsupportedEntityTrait(id: "OnOff", entityID: "lock", entityType: "DoorLockDeviceType")])
        #expect(read(.device("plug"), nil, "OnOff") == ["warning OfflineDevice"])
        #expect(read(.device("door"), nil, "CameraMotion") == [])
    }

    @Test func `each fault of a command is reported`() {
        #expect(Self.issues(of: Self.command(Self.lamp, "fly")) == ["InvalidCommand"])
        #expect(Self.issues(of: Self.command(Self.lamp, "on", ["x": .null])) == ["InvalidParameter"])
        #expect(Self.issues(of: Self.command(Self.level, "moveToLevel")) == ["MissingRequiredParameters"])
        #expect(
            Self.issues(of: Self.command(Self.level, "moveToLevel", ["level": .null]))
                == ["InvalidNullParameterValue"])
        for wrong in [JSONObject.Value.text("up"), .integer(256), .integer(.min), .number(1.5), .list([])] {
            #expect(
                Self.issues(of: Self.command(Self.level, "moveToLevel", ["level": wrong])) == ["InvalidParameterType"])
        }
        #expect(
            Self.issues(of: Self.command(Self.level, "moveToLevel", ["level": .integer(255)]))
                == ["UnsupportedEntityParameterValue"])
        #expect(Self.issues(of: Self.command(Self.plug, "on")) == ["warning OfflineDevice"])
        #expect(Self.issues(of: Self.command(Self.plug, "toggle")).contains("UnsupportedEntityCommand"))
        #expect(Self.issues(of: Self.command(Self.lock, "unlockDoor")) == ["BlockedAction"])
        var trusting = Self.home
        trusting.permitsBlockedActions = true
        #expect(Self.issues([.manualStarter, Self.command(Self.lock, "unlockDoor")], in: trusting) == [])
        #expect(
            Self.issues([Self.starter, Self.command(Self.lamp, "toggle")]) == ["warning TriggersItself .nodes[1]"])
    }

    @Test func `opening a garage door or a gate needs the right to unlock, and closing it does not`() {
        var home = Self.home
        for (id, type) in [("blind", "WindowCoveringDeviceType"), ("gate", "GarageDoorDeviceType")] {
            home.devices[id] = .init(parts: [
                .init(types: [type], traits: TraitCollection([Matter.WindowCoveringTrait()]))
            ])
        }
        func issues(_ device: String, _ command: String, as type: String? = nil) -> [String] {
            let parameters: [String: JSONObject.Value] =
                command == "goToLiftPercentage" ? ["liftPercent100thsValue": .integer(0)] : [:]
            let target = GraphTrait(.device(device), deviceType: type, trait: "WindowCovering")
            return Self.issues([.manualStarter, Self.command(target, command, parameters)], in: home)
        }
        for command in ["upOrOpen", "goToLiftPercentage", "stopMotion"] {
            #expect(issues("gate", command) == ["BlockedAction .nodes[1]"], "\(command)")
            #expect(issues("gate", command, as: "WindowCoveringDeviceType") == ["BlockedAction .nodes[1]"])
            #expect(issues("blind", command) == [])
        }
        #expect(issues("gate", "downOrClose") == [])
        home.unlockableDevices = ["gate"]
        #expect(issues("gate", "upOrOpen") == [])
    }

    @Test func `an action that leads to the event of a starter is reported`() {
        func issues(_ trait: String, _ event: String, _ target: String, _ command: String) -> [String] {
            var home = Self.home
            home.devices["door"]?.parts[0].traits = TraitCollection([Google.PushAvStreamTransportTrait()])
            home.devices["door"]?.statelessTraits = ["CameraSound", "CameraMotion", "Chime"]
            func door(_ trait: String) -> GraphTrait { GraphTrait(.device("door"), trait: trait) }
            let parameters: [String: JSONObject.Value] =
                target == "Chime"
                ? [:] : ["connectionID": .integer(1), "activationReason": .text("automation")]
            return Self.issues(
                [
                    .eventStarter(GraphEventStarter(id: "e", door(trait), event: event)),
                    Self.command(door(target), command, parameters),
                ], in: home)
        }
        let transport = "PushAvStreamTransport"
        let loop = ["warning TriggersItself .nodes[1]"]
        #expect(issues(transport, "PushTransportEnd", transport, "manuallyTriggerTransport") == loop)
        #expect(issues("CameraSound", "Sound", "Chime", "playChimeSound") == loop)
        #expect(issues("CameraMotion", "Motion", transport, "manuallyTriggerTransport") == [])
    }

    @Test func `a starter for changes that nobody reports is an error`() {
        func issues(_ trait: GraphTrait) -> [String] { Self.issues([.attributeStarter(GraphReader(id: "n1", trait))]) }
        #expect(issues(Self.clock) == ["StarterWithoutChanges .nodes[0]"])
        #expect(issues(GraphTrait(.device("door"), trait: "CameraMotion")) == ["StarterWithoutChanges .nodes[0]"])
        #expect(issues(Self.door) == ["StarterWithoutChanges .nodes[0]"])
        #expect(issues(GraphTrait(.structure("s1"), trait: "AreaPresenceState")) == [])
        // Reading the time is what it is there for.
        #expect(Self.issues([Self.starter, Self.time]) == [])
    }

    @Test func `each fault of an update is reported`() {
        func update(_ target: GraphTrait, _ values: [String: JSONObject.Value]) -> [String] {
            Self.issues(of: .action(GraphAction(target, .update(values))))
        }
        #expect(update(Self.level, [:]) == ["MissingRequiredParameters"])
        #expect(update(Self.level, ["currentLevel": .integer(1)]) == ["InvalidParameter"])
        #expect(update(Self.level, ["onLevel": .integer(1)]) == ["warning UnsupportedEntityParameter"])
        #expect(update(Self.level, ["onLevel": .text("x")]).contains("InvalidParameterType"))
        #expect(update(Self.plug, ["onTime": .integer(1)]) == ["warning OfflineDevice"])
    }

    @Test func `each fault of an event is reported`() {
        func event(_ source: GraphTrait, _ name: String, _ values: [String: JSONObject.Value] = [:]) -> [String] {
            Self.issues([.eventStarter(GraphEventStarter(id: "e", source, event: name, parameters: values))])
                .map { $0.replacing(" .nodes[0]", with: "") }
        }
        #expect(event(Self.door, "Sneezed") == ["InvalidEvent"])
        #expect(event(Self.door, "DoorbellPressed") == [])
        #expect(event(Self.clock, "Scheduled") == ["MissingRequiredParameters"])
        #expect(event(Self.clock, "RecurringClockTimeScheduled") == ["MissingRequiredParameters"])
        #expect(event(Self.clock, "Scheduled", ["clockTime": .text("8:00")]) == ["InvalidParameterType"])
        func clock(_ hours: Int64, _ minutes: Int64) -> [String] {
            let time = JSONObject.Value.object(["hours": .integer(hours), "minutes": .integer(minutes)])
            return event(Self.clock, "Scheduled", ["clockTime": time])
        }
        #expect(clock(25, 0) == ["UnsupportedEntityParameterValue"])
        #expect(clock(24, 1) == ["UnsupportedEntityParameterValue"])
        #expect(clock(24, 0) == [])
        let dusk = JSONObject.Value.object(["type": .text("sunset")])
        #expect(event(Self.clock, "Scheduled", ["solarTime": dusk]) == ["warning MissingStructureAddress"])
    }

    @Test func `an event that a switch does not send is reported`() {
        func issues(_ event: String, _ features: Matter.SwitchTrait.Feature?) -> [String] {
            var home = Self.home
            let state = Matter.SwitchTrait(attributes: .init(currentPosition: 0, featureMap: features))
            home.devices["button"] = .init(parts: [
                .init(types: ["GenericSwitchDeviceType"], traits: TraitCollection([state]))
            ])
            let button = GraphTrait(.device("button"), trait: "Switch")
            return Self.issues([.eventStarter(GraphEventStarter(id: "e", button, event: event))], in: home)
        }
        let unsupported = ["UnsupportedEntityEvent .nodes[0]"]
        for (event, feature) in [
            ("SwitchLatched", Matter.SwitchTrait.Feature.latchingSwitch), ("InitialPress", .momentarySwitch),
            ("ShortRelease", .momentarySwitchRelease), ("LongPress", .momentarySwitchLongPress),
            ("LongRelease", .momentarySwitchLongPress), ("MultiPressOngoing", .momentarySwitchMultiPress),
            ("MultiPressComplete", .momentarySwitchMultiPress), ("MultiPressComplete", .actionSwitch),
        ] {
            #expect(issues(event, feature) == [], "\(event)")
            #expect(issues(event, []) == unsupported, "\(event)")
            // A switch that does not say what it supports may send everything.
            #expect(issues(event, nil) == [], "\(event)")
        }
        #expect(issues("LongPress", [.momentarySwitch, .momentarySwitchMultiPress]) == unsupported)
        #expect(issues("MultiPressOngoing", [.actionSwitch]) == unsupported)
    }

    @Test func `a chime plays only the sounds that it has`() {
        func issues(_ number: Int64?, _ sounds: [UInt8]?) -> [String] {
            var home = Self.home
            let chime = Google.ChimeTrait(
                attributes: .init(installedChimeSounds: sounds?.map { .init(chimeID: $0, name: "Sound \($0)") }))
            home.devices["gong"] = .init(parts: [
                .init(types: ["ChimeDeviceType"], traits: TraitCollection([chime]))
            ])
            let gong = GraphTrait(.device("gong"), trait: "Chime")
            let play = Self.command(gong, "playChimeSound", number.map { ["chimeID": .integer($0)] } ?? [:])
            return Self.issues([.manualStarter, play], in: home)
        }
        #expect(issues(nil, [0, 3]) == [] && issues(3, [0, 3]) == [] && issues(3, nil) == [])
        #expect(issues(1, [0, 3]) == ["UnsupportedEntityParameterValue .nodes[1]"])
        #expect(issues(256, [0, 3]).first == "InvalidParameterType .nodes[1]")
    }

    @Test func `a camera that has not connected may have a speaker`() {
        var home = Self.home
        home.devices["door"]?.statelessTraits.insert("Chime")
        let ring = Self.command(GraphTrait(.device("door"), trait: "Chime"), "playChimeSound")
        #expect(Self.issues([.manualStarter, ring], in: home) == [])
        #expect(Self.issues([.manualStarter, ring]) == ["UnsupportedEntityTrait .nodes[1]"])
    }

    @Test func `each fault of an expression is reported`() {
        func compare(_ operation: GraphOperator, _ operands: GraphExpression...) -> [String] {
            Self.issues(of: .operation(operation, operands))
        }
        func field(_ name: String, _ node: String = "t") -> GraphExpression { .field(name, of: .reference(node)) }
        let (yes, one, text) = (GraphExpression.constant(.bool(true)), GraphExpression.constant(.integer(1)), "x")
        #expect(Self.issues(of: Self.onOff) == [])
        #expect(Self.issues(of: one) == ["InvalidConditionType"])
        #expect(Self.issues(of: field("currentTime")) == ["InvalidConditionType"])
        #expect(Self.issues(of: field("mood")) == ["InvalidField"])
        #expect(Self.issues(of: .reference("n1")) == ["InvalidOperand"])
        #expect(compare(.not) == ["InvalidArgumentCount"])
        #expect(compare(.between, one, one) == ["InvalidArgumentCount"])
        #expect(compare(.not, one) == ["InvalidOperand"])
        #expect(compare(.and, yes, one) == ["InvalidOperand"])
        #expect(compare(.equals, Self.onOff, one) == ["InvalidArgumentsForOperator"])
        #expect(compare(.equals, one, .constant(.null)) == ["InvalidOperand"])
        #expect(compare(.lessThan, yes, yes) == ["InvalidOperand"])
        #expect(compare(.lessThan, field("currentTime"), .constant(Self.eight)) == [])
        #expect(compare(.lessThan, field("currentTime"), one) == ["InvalidArgumentsForOperator"])
        #expect(compare(.equals, field("dayOfWeek"), .constant(.text("monday"))) == [])
        #expect(compare(.equals, field("dayOfWeek"), .constant(.text(text))) == ["InvalidOperand"])
        #expect(compare(.greaterThan, field("dayOfWeek"), .constant(.text("monday"))) == ["InvalidOperand"])
        #expect(compare(.contains, field("currentTime"), one) == ["InvalidOperand"])
        #expect(compare(.contains, .constant(.text(text)), one) == ["InvalidArgumentsForOperator"])
        #expect(compare(.lessThan, field("currentTime"), field("sunsetTime")) == ["warning MissingStructureAddress"])
        let may = GraphExpression.constant(.object(["month": .integer(5)]))
        let mayDay = GraphExpression.constant(.object(["month": .integer(5), "day": .integer(1)]))
        #expect(compare(.between, field("currentDate"), mayDay, mayDay) == [])
        #expect(compare(.between, field("currentDate"), may, mayDay) == ["InvalidArgumentsForOperator"])
        #expect(compare(.equals, may, mayDay) == ["InvalidArgumentsForOperator"])
        #expect(compare(.equals, .field("hours", of: field("currentTime")), one) == [])
        #expect(compare(.equals, .field("year", of: field("currentTime")), one) == ["InvalidField"])
        #expect(compare(.equals, .item(yes, of: one), one) == ["InvalidOperand"])
        let started = GraphExpression.operation(.equals, [field("x", "e"), one])
        #expect(
            Self.issues([
                .eventStarter(GraphEventStarter(id: "e", Self.clock, event: "Nothing")),
                .condition(GraphCondition(started)),
            ]).contains("UnsupportedNodeOutput .nodes[1]"))
    }

    @Test func `what a later version adds is a warning`() throws {
        let graph = try Graph(
            json: #"{"version":1,"nodes":[{"type":"manualStarter"},{"type":"whenever"},"#
                + #"{"type":"condition","expression":{"xor":[]}}]}"#)
        let issues = GraphValidator.issues(of: graph, in: Self.home)
        #expect(issues.map(\.type.name) == ["Unknown", "Unknown"])
        #expect(issues.allSatisfy { $0.severity == .warning })
        #expect(GraphValidator.issues(of: try Graph(json: #"{"version":9}"#), in: Self.home).count == 1)
    }

    @Test(arguments: [
        (#"{"type":"dealy","for":5}"#, #"the type "dealy" is not known; did you mean delay?"#),
        (
            #"{"type":"action","entity":{"device":"d1"},"trait":"OnOff","comand":"on"}"#,
            #"the member "comand" is not known; did you mean command?"#
        ),
        (
            #"{"type":"action","entity":{"devise":"d1","device":"d1"},"trait":"OnOff","command":"on"}"#,
            #"the member "devise" of entity is not known; did you mean device?"#
        ),
        (
            #"{"type":"if","ifThen":{"condition":{"constant":true},"nodes":[],"note":1}}"#,
            #"the member "note" of ifThen is not known; did you mean nodes?"#
        ),
        (#"{"type":"condition","expression":{"equal":[]}}"#, #"the member "equal" is not known; did you mean equals?"#),
        (#"{"type":"teleport"}"#, #"the type "teleport" is not known; known types are action, attributeStarter"#),
    ])
    func `a warning names the unknown word and what it may mean`(node: String, words: String) throws {
        let graph = try Graph(json: #"{"version":1,"nodes":[{"type":"manualStarter"},\#(node)]}"#)
        let issue = try #require(GraphValidator.issues(of: graph, in: Self.home).first { $0.type.name == "Unknown" })
        #expect(issue.path == "automationGraph.nodes[1]" && issue.severity == .warning)
        #expect(issue.type.words.contains(words), "\(issue.type.words)")
        #expect(issue.type.words.hasSuffix("The automation is kept, but it does not run"))
    }

    @Test func `a warning names an unknown member of the graph`() throws {
        let graph = try Graph(json: #"{"version":1,"nodes":[],"node":[]}"#)
        let issues = GraphValidator.issues(of: graph, in: Self.home)
        #expect(issues.first?.type.words.contains(#"the member "node" is not known; did you mean nodes?"#) == true)
    }

    @Test func `every issue says where it is and what to do`() {
        let issue = ValidationIssue("automationGraph.nodes[2].nodes[0]", .error, .invalidEntity(id: "d9"))
        #expect(
            issue.description
                == "automationGraph.nodes[2].nodes[0]: the structure of the automation has no d9; choose another device"
        )
        let types: [ValidationIssueType] = [
            .unsupportedEntityEvent(id: "Motion", entityID: "d1"), .invalidDurationExpressionType,
            .invalidCustomCameraEventQuery, .invalidEntityExpressionType, .missingStarterNode,
        ]
        for type in types { #expect(!type.words.isEmpty && !type.words.contains("(")) }
    }
}
