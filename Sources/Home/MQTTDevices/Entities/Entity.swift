import HomeTypes

/// The kind of an entity. The order decides which part of a device comes first and names its type.
enum EntityKind: Int, Sendable, Comparable {
    case lock, thermostat, windowCovering, fan, light, plug, doorbell, button, smokeAlarm, contactSensor, motionSensor,
        occupancySensor, airQualitySensor, temperatureSensor, humiditySensor
    /// It adds attributes to the device's first part, and is not a part of its own.
    case supplement

    static func < (left: EntityKind, right: EntityKind) -> Bool { left.rawValue < right.rawValue }

    /// Whether all entities of this kind form one part of the device: one alarm for smoke and carbon monoxide, one sensor
    /// for all that is in the air.
    var formsOnePart: Bool { self == .smokeAlarm || self == .airQualitySensor || self == .supplement }
}

/// What a message reports about an entity.
struct EntityReading: Sendable, Hashable {
    /// The attributes that it carries.
    var values = TraitValues()
    /// The events that it reports.
    var events: [EntityEvent] = []
}

/// Something that happened at a device.
public enum EntityEvent: Sendable, Hashable {
    /// The button of a doorbell was pressed.
    case doorbellPressed
    /// Somebody did this with a button.
    case button(ButtonGesture)
}

/// The effect of a command.
struct EntityAction: Sendable, Hashable {
    /// The messages to send, in their order.
    var publications: [MQTTPublication]
    /// The attributes that the device will have. They are adopted immediately if the device does not report its state.
    var expected: TraitValues
}

/// A command of a trait, with its parameters.
struct EntityCommand: Sendable, Hashable {
    /// The trait's name on the wire.
    let trait: String
    /// The command's name on the wire.
    let name: String
    /// The parameters.
    let parameters: JSONValue

    /// A number among the parameters.
    /// - Throws: `invalidArgument` if it is missing.
    func number(_ name: String) throws(HomeError) -> Double {
        guard let value = parameters[name], !value.isText, let number = value.double else {
            throw HomeError.invalidArgument("\(self.name) needs the number \(name)")
        }
        return number
    }

    /// The command is not one that this device can do.
    var refusal: HomeError {
        HomeError.unimplemented("this device cannot carry out \(name) of \(trait); its other commands work")
    }
}

/// One entity of a device: how its messages become attributes, and commands become messages. It does not have a state;
/// each call passes what is known about the device.
protocol Entity: Sendable {
    /// What it is.
    var kind: EntityKind { get }
    /// The wire name of the device type that it gives its part; nil if it adds to another part.
    var deviceType: String? { get }
    /// The topics that it reads.
    var topics: Set<String> { get }
    /// What is known about its traits before the first message.
    var initial: TraitValues { get }
    /// Whether it never reports its state, so that commands are treated as done.
    var isOptimistic: Bool { get }

    /// Reads a message of one of its topics.
    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading

    /// Turns a command into messages.
    /// - Throws: `unimplemented` for a command that the device cannot carry out, `invalidArgument` or `outOfRange` for
    ///   its parameters.
    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction

    /// Turns new values of attributes into messages.
    func write(
        _ attributes: [String: JSONValue], of trait: String, with known: TraitValues
    ) throws(HomeError) -> EntityAction
}

extension Entity {
    var isOptimistic: Bool { false }

    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction {
        throw command.refusal
    }

    func write(
        _ attributes: [String: JSONValue], of trait: String, with known: TraitValues
    ) throws(HomeError) -> EntityAction {
        let names = attributes.keys.sorted().joined(separator: ", ")
        throw HomeError.unimplemented("this device cannot change \(names) of \(trait)")
    }
}

extension CommandTarget {
    /// ``publication(_:_:)`` for a command that somebody sent.
    func message(_ value: JSONValue, _ names: [String: JSONValue] = [:]) throws(HomeError) -> MQTTPublication {
        do throws(UnreadablePayload) {
            return try publication(value, names)
        } catch {
            throw HomeError.failedPrecondition("the device's description does not yield a message for this: \(error)")
        }
    }
}
