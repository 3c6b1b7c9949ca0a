import Automation
import AutomationGraph
import Foundation
import HomeTypes

/// A handful of automations that this home could run now.
struct Suggestions: Sendable {
    /// A suggestion, which a client sends back to make it.
    struct Draft: Sendable, Hashable {
        var name: String
        var description: String
        var graph: Graph

        /// The draft as JSON, as `POST /v1/structures/{structure}/automations` takes it.
        var json: String {
            let text = CandidateFields.json([
                "name": .text(name), "description": .text(description), "isActive": .bool(true),
            ])
            return "{\"automationGraph\":\(graph.json)," + text.dropFirst()
        }
    }

    let structure: String
    /// The devices that the owner may read.
    let devices: [DeviceSnapshot]
    /// Decides what can run.
    let home: ValidationHome
    /// Whether somebody reports who is at home.
    let isPresenceKnown: Bool

    /// The suggestions, each without an error and without a warning.
    var drafts: [Draft] {
        [lightAtTheDoor, recordingOfPersons, lightsOff, blinds, lightOnMotion].compactMap { $0 }
            .filter { GraphValidator.issues(of: $0.graph, in: home).isEmpty }
    }

    private var lights: [DeviceSnapshot] {
        devices.filter { device in
            device.traitNames.contains(Matter.OnOffTrait.name)
                && device.endpoints.flatMap(\.types).contains { type in
                    Vocabulary.deviceType(named: type)?.isKind(of: OnOffLightDeviceType.self) == true
                }
        }
    }

    private func trait(_ name: String, of device: DeviceSnapshot) -> GraphTrait {
        GraphTrait(.device(device.id), trait: name)
    }

    private func command(_ name: String, _ trait: String, _ device: DeviceSnapshot) -> GraphNode {
        .action(GraphAction(self.trait(trait, of: device), .command(name, parameters: [:])))
    }

    private func together(_ nodes: [GraphNode]) -> GraphNode { nodes.count == 1 ? nodes[0] : .parallel(nodes) }

    private func scheduled(hour: Int64) -> GraphNode {
        .eventStarter(
            GraphEventStarter(
                id: "n1", GraphTrait(.structure(structure), trait: Google.TimeTrait.name),
                event: Google.TimeTrait.ScheduledEvent.name,
                parameters: ["clockTime": .object(["hours": .integer(hour), "minutes": .integer(0)])]))
    }

    private var lightAtTheDoor: Draft? {
        guard let door = devices.first(where: { $0.traitNames.contains(Google.DoorbellPressTrait.name) }),
            let light = lights.first, let press = Google.DoorbellPressTrait.supportedEventTypes.first
        else { return nil }
        return Draft(
            name: "Light at the door", description: "Turns \(light.name) on for five minutes when somebody rings.",
            graph: Graph([
                .eventStarter(
                    GraphEventStarter(id: "n1", trait(Google.DoorbellPressTrait.name, of: door), event: press.name)),
                command("on", Matter.OnOffTrait.name, light), .delay(.seconds(300)),
                command("off", Matter.OnOffTrait.name, light),
            ]))
    }

    /// The camera has to have a connection that can record.
    private var recordingOfPersons: Draft? {
        let recording = Google.PushAvStreamTransportTrait.name
        for camera in devices where camera.activeDetections != nil {
            let connections = camera.endpoints.lazy
                .compactMap { $0.traits[Google.PushAvStreamTransportTrait.self]?.attributes.currentConnections }.first
            guard isPresenceKnown, let connection = connections?.first,
                let person = Google.CameraPersonTrait.supportedEventTypes.first
            else { continue }
            return Draft(
                name: "Record people while nobody is home",
                description: "Begins a recording of \(camera.name) when it sees a person while everybody is away.",
                graph: Graph([
                    .eventStarter(
                        GraphEventStarter(
                            id: "n1", trait(Google.CameraPersonTrait.name, of: camera), event: person.name)),
                    .stateReader(
                        GraphReader(
                            id: "n2", GraphTrait(.structure(structure), trait: Google.AreaPresenceStateTrait.name))),
                    .condition(GraphCondition(isVacant("n2"))),
                    .action(
                        GraphAction(
                            trait(recording, of: camera),
                            .command(
                                "manuallyTriggerTransport",
                                parameters: [
                                    "connectionID": .integer(Int64(connection.connectionID)),
                                    "activationReason": .text("automation"),
                                ]))),
                ]))
        }
        return nil
    }

    private func isVacant(_ node: String) -> GraphExpression {
        .operation(
            .equals,
            [.field("presenceState", of: .reference(node)), .constant(.text("presenceStateVacant"))])
    }

    private var lightsOff: Draft? {
        guard isPresenceKnown, !lights.isEmpty else { return nil }
        return Draft(
            name: "Lights off when everybody has left",
            description: "Turns all lights off when the last person leaves.",
            graph: Graph([
                .attributeStarter(
                    GraphReader(
                        id: "n1", GraphTrait(.structure(structure), trait: Google.AreaPresenceStateTrait.name))),
                .condition(GraphCondition(isVacant("n1"))),
                together(lights.prefix(GraphLimits.branches).map { command("off", Matter.OnOffTrait.name, $0) }),
            ]))
    }

    private var blinds: Draft? {
        let blinds = devices.filter { $0.traitNames.contains(Matter.WindowCoveringTrait.name) }
        guard !blinds.isEmpty else { return nil }
        return Draft(
            name: "Day time open blinds", description: "Opens all blinds at eight in the morning.",
            graph: Graph([
                scheduled(hour: 8),
                together(
                    blinds.prefix(GraphLimits.branches).map { command("upOrOpen", Matter.WindowCoveringTrait.name, $0) }
                ),
            ]))
    }

    private var lightOnMotion: Draft? {
        guard
            let sensor = devices.first(where: { $0.traitNames.contains(Matter.OccupancySensingTrait.name) }),
            let light = lights.first
        else { return nil }
        return Draft(
            name: "Light on motion", description: "Turns \(light.name) on when \(sensor.name) sees somebody.",
            graph: Graph([
                .attributeStarter(GraphReader(id: "n1", trait(Matter.OccupancySensingTrait.name, of: sensor))),
                .condition(
                    GraphCondition(
                        .operation(
                            .contains, [.field("occupancy", of: .reference("n1")), .constant(.integer(1))]))),
                command("on", Matter.OnOffTrait.name, light),
            ]))
    }
}
