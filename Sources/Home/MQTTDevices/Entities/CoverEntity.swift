import HomeTypes

/// A blind, a curtain, a garage door or a gate: `WindowCovering`. Matter counts from open (0) to closed (10,000); on a broker 0 is
/// closed and 100 is open, unless the description says otherwise.
struct CoverEntity: Entity {
    let kind = EntityKind.windowCovering
    let deviceType: String?
    let isOptimistic: Bool
    private let state: ValueSource?
    private let position: ValueSource?
    private let tilt: ValueSource?
    private let command: CommandTarget?
    private let positionCommand: CommandTarget?
    private let tiltCommand: CommandTarget?
    private let payloads: (open: String?, close: String?, stop: String?)
    private let states: (open: String, opening: String, closed: String, closing: String, stopped: String)
    private let positionRange: (closed: Double, open: Double)
    private let tiltRange: (closed: Double, open: Double)

    /// The device classes of Home Assistant's covers that let people in.
    private static let entrances: Set<String> = ["door", "garage", "gate"]

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        let isEntrance = Self.entrances.contains(configuration.string("device_class") ?? "")
        deviceType = isEntrance ? "GarageDoorDeviceType" : "WindowCoveringDeviceType"
        state = try configuration.source("state_topic", "value_template")
        position = try configuration.source("position_topic", "position_template")
        tilt = try configuration.source("tilt_status_topic", "tilt_status_template")
        // The template is for positions; the three payloads are sent as they are.
        command = try configuration.target("command_topic", "")
        positionCommand = try configuration.target("set_position_topic", "set_position_template")
        tiltCommand = try configuration.target("tilt_command_topic", "tilt_command_template")
        guard command != nil || positionCommand != nil else { throw DiscoveryProblem("command_topic is missing") }
        func payload(_ key: String, _ standard: String) -> String? {
            configuration.isNull(key) ? nil : configuration.payload(key, default: standard)
        }
        payloads = (payload("payload_open", "OPEN"), payload("payload_close", "CLOSE"), payload("payload_stop", "STOP"))
        states = (
            configuration.payload("state_open", default: "open"),
            configuration.payload("state_opening", default: "opening"),
            configuration.payload("state_closed", default: "closed"),
            configuration.payload("state_closing", default: "closing"),
            configuration.payload("state_stopped", default: "stopped")
        )
        positionRange = (configuration.number("position_closed") ?? 0, configuration.number("position_open") ?? 100)
        tiltRange = (configuration.number("tilt_closed_value") ?? 0, configuration.number("tilt_opened_value") ?? 100)
        guard positionRange.closed != positionRange.open, tiltRange.closed != tiltRange.open else {
            throw DiscoveryProblem("the open and the closed position are the same")
        }
        isOptimistic = state == nil && position == nil || configuration.isTrue("optimistic")
    }

    var topics: Set<String> { Set([state, position, tilt].compactMap { $0?.topic }) }

    var initial: TraitValues {
        // Lift, its exact position, tilt and its exact position (Matter application clusters, section 5.3.4).
        let lift = 1 | (position == nil && positionCommand == nil ? 0 : 4)
        let tilts = tiltCommand == nil ? 0 : 2 | 16
        var values = TraitValues(
            "WindowCovering",
            ["featureMap": .integer(lift | tilts), "currentPositionLiftPercent100ths": .null])
        if tilts != 0 { values["WindowCovering", "currentPositionTiltPercent100ths"] = .null }
        typealias Covering = Matter.WindowCoveringTrait
        // A cover without a topic for positions goes to both ends.
        var accepted: [any Command.Type] = [
            Covering.UpOrOpenCommand.self, Covering.DownOrCloseCommand.self, Covering.GoToLiftPercentageCommand.self,
        ]
        if command != nil, payloads.stop != nil { accepted.append(Covering.StopMotionCommand.self) }
        if tiltCommand != nil { accepted.append(Covering.GoToTiltPercentageCommand.self) }
        values.accept(accepted, of: Covering.self)
        return values
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        var values = TraitValues()
        if let position, position.topic == topic, let value = try position.number(payload) {
            values["WindowCovering", "currentPositionLiftPercent100ths"] = .integer(Self.closed(value, positionRange))
        }
        if let tilt, tilt.topic == topic, let value = try tilt.number(payload) {
            values["WindowCovering", "currentPositionTiltPercent100ths"] = .integer(Self.closed(value, tiltRange))
        }
        if let state, state.topic == topic, let text = try state.text(payload) { try read(text, into: &values) }
        return EntityReading(values: values)
    }

    private func read(_ text: String, into values: inout TraitValues) throws(UnreadablePayload) {
        // Bits 0 and 1 for the whole, 2 and 3 for the lift: 1 opens, 2 closes (section 5.3.5.4).
        var movement = 0
        switch text {
        case states.opening: movement = 1
        case states.closing: movement = 2
        case states.stopped: break
        // A position says more than the two words.
        case states.open where position == nil: values["WindowCovering", "currentPositionLiftPercent100ths"] = 0
        case states.closed where position == nil: values["WindowCovering", "currentPositionLiftPercent100ths"] = 10_000
        case states.open, states.closed: break
        default: throw UnreadablePayload("\(text.prefix(40)) is not a state of this cover")
        }
        values["WindowCovering", "operationalStatus"] = .integer(movement | movement << 2)
    }

    /// How far closed a position is, in hundredths of a percent.
    private static func closed(_ value: Double, _ range: (closed: Double, open: Double)) -> Int {
        let open = (value - range.closed) / (range.open - range.closed)
        return Int(nearestTo: 10_000 * (1 - open), in: 0...10_000)
    }

    private static func position(_ closed: Double, _ range: (closed: Double, open: Double)) -> Int {
        Int(nearestTo: range.open + (range.closed - range.open) * closed / 10_000)
    }

    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction {
        guard command.trait == "WindowCovering" else { throw command.refusal }
        switch command.name {
        case "upOrOpen": return try move(to: 0, payloads.open, command)
        case "downOrClose": return try move(to: 10_000, payloads.close, command)
        case "stopMotion":
            guard let target = self.command, let payload = payloads.stop else { throw command.refusal }
            return EntityAction(publications: [target.publication(text: payload)], expected: TraitValues())
        case "goToLiftPercentage":
            let wanted = try Self.percentage(command, "liftPercent100thsValue")
            guard positionCommand == nil else { return try move(to: wanted, nil, command) }
            switch wanted {
            case 0: return try move(to: wanted, payloads.open, command)
            case 10_000: return try move(to: wanted, payloads.close, command)
            default: throw HomeError.unimplemented("this cover can only be opened and closed, not set to a position")
            }
        case "goToTiltPercentage":
            guard let tiltCommand else { throw command.refusal }
            let wanted = try Self.percentage(command, "tiltPercent100thsValue")
            let value = JSONValue.integer(Self.position(wanted, tiltRange))
            return EntityAction(
                publications: [try tiltCommand.message(value, ["tilt_position": value])],
                expected: TraitValues(
                    "WindowCovering", ["currentPositionTiltPercent100ths": .integer(Self.reached(wanted))]))
        default: throw command.refusal
        }
    }

    /// The position that a cover reports when it has reached this one.
    private static func reached(_ closed: Double) -> Int {
        Int(nearestTo: closed.rounded(.towardZero), in: 0...10_000)
    }

    private static func percentage(_ command: EntityCommand, _ name: String) throws(HomeError) -> Double {
        let value = try command.number(name)
        guard (0...10_000).contains(value) else {
            throw HomeError.outOfRange("\(name) of \(command.name) is \(value); it must be from 0 to 10000")
        }
        return value
    }

    private func move(to closed: Double, _ payload: String?, _ command: EntityCommand) throws(HomeError) -> EntityAction
    {
        let expected = TraitValues(
            "WindowCovering",
            [
                "currentPositionLiftPercent100ths": .integer(Self.reached(closed)),
                "targetPositionLiftPercent100ths": .integer(Self.reached(closed)),
            ])
        if let payload, let target = self.command {
            return EntityAction(publications: [target.publication(text: payload)], expected: expected)
        }
        guard let positionCommand else { throw command.refusal }
        let value = JSONValue.integer(Self.position(closed, positionRange))
        return EntityAction(publications: [try positionCommand.message(value, ["position": value])], expected: expected)
    }
}
