import HomeTypes

/// A switch or a socket: `OnOff`.
struct SwitchEntity: Entity {
    let kind = EntityKind.plug
    let deviceType: String? = "OnOffPluginUnitDeviceType"
    let isOptimistic: Bool
    private let state: ValueSource?
    private let command: CommandTarget
    private let payloads: (on: String, off: String)
    private let states: (on: String, off: String)

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        state = try configuration.source("state_topic", "value_template")
        guard let command = try configuration.target("command_topic") else {
            throw DiscoveryProblem("command_topic is missing")
        }
        self.command = command
        payloads = (
            configuration.payload("payload_on", default: "ON"), configuration.payload("payload_off", default: "OFF")
        )
        states = (
            configuration.payload("state_on", default: payloads.on),
            configuration.payload("state_off", default: payloads.off)
        )
        isOptimistic = state == nil || configuration.isTrue("optimistic")
    }

    var topics: Set<String> { Set([state?.topic].compactMap { $0 }) }

    var initial: TraitValues {
        var values = TraitValues("OnOff", ["onOff": .null])
        values.acceptOnOff()
        return values
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        guard let text = try state?.text(payload) else { return EntityReading() }
        switch text {
        case states.on: return EntityReading(values: TraitValues("OnOff", ["onOff": true]))
        case states.off: return EntityReading(values: TraitValues("OnOff", ["onOff": false]))
        default: throw UnreadablePayload("\(text.prefix(40)) is neither \(states.on) nor \(states.off)")
        }
    }

    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction {
        guard let isOn = try command.wantedOnOff(known["OnOff", "onOff"]?.bool) else { throw command.refusal }
        return EntityAction(
            publications: [try self.command.message(.string(isOn ? payloads.on : payloads.off))],
            expected: TraitValues("OnOff", ["onOff": .bool(isOn)]))
    }
}
