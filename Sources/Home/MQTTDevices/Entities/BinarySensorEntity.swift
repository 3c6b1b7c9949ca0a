/// A sensor that knows two states.
struct BinarySensorEntity: Entity {
    let kind: EntityKind
    let deviceType: String?
    private let meaning: Meaning
    private let source: ValueSource
    private let payloads: (on: String, off: String)

    /// What the two states mean.
    private enum Meaning: Sendable {
        /// On is open. `BooleanState` is true while the contact is closed.
        case contact
        case occupancy
        case alarm(attribute: String)
        case battery
    }

    private static let meanings: [String: (EntityKind, String?, Meaning)] = [
        "door": (.contactSensor, "ContactSensorDeviceType", .contact),
        "garage_door": (.contactSensor, "ContactSensorDeviceType", .contact),
        "opening": (.contactSensor, "ContactSensorDeviceType", .contact),
        "window": (.contactSensor, "ContactSensorDeviceType", .contact),
        "motion": (.motionSensor, "MotionSensorDeviceType", .occupancy),
        "moving": (.motionSensor, "MotionSensorDeviceType", .occupancy),
        "occupancy": (.occupancySensor, "OccupancySensorDeviceType", .occupancy),
        "presence": (.occupancySensor, "OccupancySensorDeviceType", .occupancy),
        "smoke": (.smokeAlarm, "SmokeCOAlarmDeviceType", .alarm(attribute: "smokeState")),
        "carbon_monoxide": (.smokeAlarm, "SmokeCOAlarmDeviceType", .alarm(attribute: "coState")),
        "battery": (.supplement, nil, .battery),
    ]

    /// Returns nil for a sensor whose states do not have a trait in the home's vocabulary.
    init?(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        guard let meaning = Self.meanings[configuration.string("device_class") ?? ""] else { return nil }
        guard let source = try configuration.source("state_topic", "value_template") else {
            throw DiscoveryProblem("state_topic is missing")
        }
        (kind, deviceType, self.meaning) = meaning
        self.source = source
        payloads = (
            configuration.payload("payload_on", default: "ON"), configuration.payload("payload_off", default: "OFF")
        )
    }

    var topics: Set<String> { [source.topic] }

    var initial: TraitValues {
        switch meaning {
        case .contact: TraitValues("BooleanState", ["stateValue": .null])
        case .occupancy: TraitValues("OccupancySensing", ["occupancy": .null])
        case .alarm(let attribute): TraitValues("SmokeCoAlarm", [attribute: .null])
        case .battery: TraitValues("ExtendedPowerSource", ["batChargeLevel": .null])
        }
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        guard let text = try source.text(payload) else { return EntityReading() }
        let isOn: Bool
        switch text {
        case payloads.on: isOn = true
        case payloads.off: isOn = false
        default: throw UnreadablePayload("\(text.prefix(40)) is neither \(payloads.on) nor \(payloads.off)")
        }
        switch meaning {
        case .contact: return EntityReading(values: TraitValues("BooleanState", ["stateValue": .bool(!isOn)]))
        case .occupancy:
            return EntityReading(values: TraitValues("OccupancySensing", ["occupancy": .integer(isOn ? 1 : 0)]))
        case .alarm(let attribute):
            return EntityReading(values: TraitValues("SmokeCoAlarm", [attribute: isOn ? "critical" : "normal"]))
        case .battery:
            return EntityReading(
                values: TraitValues("ExtendedPowerSource", ["batChargeLevel": isOn ? "critical" : "ok"]))
        }
    }
}
