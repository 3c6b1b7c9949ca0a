import HomeTypes

/// A door lock: `DoorLock`.
struct LockEntity: Entity {
    let kind = EntityKind.lock
    let deviceType: String? = "DoorLockDeviceType"
    let isOptimistic: Bool
    private let state: ValueSource?
    private let command: CommandTarget
    private let payloads: (lock: String, unlock: String)
    private let states: (locked: String, unlocked: String)
    /// States between the two, and a lock that is stuck.
    private let unfinished: Set<String>

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        state = try configuration.source("state_topic", "value_template")
        guard let command = try configuration.target("command_topic") else {
            throw DiscoveryProblem("command_topic is missing")
        }
        self.command = command
        payloads = (
            configuration.payload("payload_lock", default: "LOCK"),
            configuration.payload("payload_unlock", default: "UNLOCK")
        )
        states = (
            configuration.payload("state_locked", default: "LOCKED"),
            configuration.payload("state_unlocked", default: "UNLOCKED")
        )
        unfinished = [
            configuration.payload("state_locking", default: "LOCKING"),
            configuration.payload("state_unlocking", default: "UNLOCKING"),
            configuration.payload("state_jammed", default: "JAMMED"),
            // Zigbee2MQTT's word for a bolt that is neither in nor out.
            "not_fully_locked",
        ]
        isOptimistic = state == nil || configuration.isTrue("optimistic")
    }

    var topics: Set<String> { Set([state?.topic].compactMap { $0 }) }

    var initial: TraitValues {
        var values = TraitValues("DoorLock", ["lockState": .null, "lockType": "deadBolt", "actuatorEnabled": true])
        typealias Lock = Matter.DoorLockTrait
        values.accept([Lock.LockDoorCommand.self, Lock.UnlockDoorCommand.self], of: Lock.self)
        return values
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        guard let text = try state?.text(payload) else { return EntityReading() }
        let value: JSONValue
        switch text {
        case states.locked: value = "locked"
        case states.unlocked: value = "unlocked"
        case _ where unfinished.contains(text): value = "notFullyLocked"
        default: throw UnreadablePayload("\(text.prefix(40)) is not a state of this lock")
        }
        return EntityReading(values: TraitValues("DoorLock", ["lockState": value]))
    }

    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction {
        guard command.trait == "DoorLock", ["lockDoor", "unlockDoor"].contains(command.name) else {
            throw command.refusal
        }
        let locks = command.name == "lockDoor"
        let code = command.parameters["pinCode"] ?? .null
        let message = try self.command.message(
            .string(locks ? payloads.lock : payloads.unlock), ["code": code.isNull ? .null : .string(code.printed)])
        return EntityAction(
            publications: [message],
            expected: TraitValues("DoorLock", ["lockState": locks ? "locked" : "unlocked"]))
    }
}
