import AutomationGraph
import HomeTypes

/// Graphs for tests.
enum Samples {
    static let lamp = GraphTrait(.device("d1"), deviceType: "OnOffLightDeviceType", trait: "OnOff")
    static let level = GraphTrait(.device("d1"), deviceType: "DimmableLightDeviceType", trait: "LevelControl")
    static let time = GraphTrait(.structure("s1"), trait: "Time")
    static let onOff = GraphExpression.field("onOff", of: .reference("n1"))
    static let isOn = GraphExpression.operation(.equals, [onOff, .constant(.bool(true))])

    /// A graph with every kind of node and expression.
    static let everything = Graph([
        .select([
            .attributeStarter(GraphReader(id: "n1", lamp)),
            .eventStarter(
                GraphEventStarter(
                    id: "n2", time, event: "Scheduled",
                    parameters: [
                        "clockTime": .object(["hours": .integer(8), "minutes": .integer(0)]),
                        "daysOfWeek": .list([.text("monday"), .text("sunday")]),
                    ])),
            .manualStarter,
        ]),
        .suppress(.seconds(60)),
        .stateReader(GraphReader(id: "n3", time)),
        .condition(GraphCondition(isOn)),
        .condition(
            GraphCondition(
                .operation(
                    .or,
                    [
                        .operation(
                            .between,
                            [.field("currentTime", of: .reference("n3")), .constant(.null), .constant(.number(0.1))]),
                        .operation(.not, [.item(.constant(.integer(-1)), of: .constant(.list([.large(.max)])))]),
                        .operation(.contains, [.constant(.text("ü\"\\\n\u{1}🏠")), .constant(.text(""))]),
                    ]), for: .milliseconds(5_250))),
        .ifThen(
            GraphIf(
                .init(isOn, [.delay(.seconds(-1))]),
                elseIfThens: [.init(.constant(.bool(false)), []), .init(isOn, [.parallel([.sequential([])])])],
                elseThen: [.action(GraphAction(lamp, .command("toggle", parameters: [:])))])),
        .parallel([
            .action(GraphAction(level, .command("moveToLevel", parameters: ["level": .integer(254)]))),
            .action(GraphAction(level, .update(["onLevel": .null]), deferral: .seconds(90))),
        ]),
        .delay(Duration(secondsComponent: 0, attosecondsComponent: 1)),
    ])
}
