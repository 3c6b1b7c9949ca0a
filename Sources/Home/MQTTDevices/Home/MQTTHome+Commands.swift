import HomeTypes

/// How commands become messages.
extension MQTTHome {
    /// Turns a command into messages.
    /// - Parameters:
    ///   - key: the device.
    ///   - endpoint: the number of its part.
    ///   - trait: the trait's wire name.
    ///   - command: the command's wire name.
    ///   - parameters: the parameters as JSON.
    /// - Returns: the messages to send, and what the home learns immediately.
    /// - Throws: `notFound` for an unknown device or part, `unavailable` without a broker, and what the device itself
    ///   throws.
    public mutating func perform(
        key: String, endpoint: Int, trait: String, command: String, parameters: JSONValue
    ) throws(HomeError) -> (publications: [MQTTPublication], effects: Effects) {
        let command = EntityCommand(trait: trait, name: command, parameters: parameters)
        let record = try entity(of: key, endpoint: endpoint, with: trait)
        return adopt(try record.entity.perform(command, with: record.known), of: record)
    }

    /// Turns new values of a trait's attributes into messages; see ``perform(key:endpoint:trait:command:parameters:)``.
    public mutating func write(
        key: String, endpoint: Int, trait: String, attributes: [String: JSONValue]
    ) throws(HomeError) -> (publications: [MQTTPublication], effects: Effects) {
        let record = try entity(of: key, endpoint: endpoint, with: trait)
        return adopt(try record.entity.write(attributes, of: trait, with: record.known), of: record)
    }

    private mutating func adopt(
        _ action: EntityAction, of record: EntityRecord
    ) -> (publications: [MQTTPublication], effects: Effects) {
        var effects = Effects()
        if record.entity.isOptimistic { adopt(action.expected, for: record.described.id, &effects) }
        return (action.publications, effects)
    }

    private func entity(of key: String, endpoint: Int, with trait: String) throws(HomeError) -> EntityRecord {
        guard let device = devices[key], device.reported != nil else {
            throw HomeError.notFound("nothing on the MQTT broker describes the device \(key) any longer")
        }
        guard isConnected else {
            throw HomeError.unavailable("the MQTT broker is not connected, so the device cannot be reached")
        }
        let candidates = device.endpoints.filter { $0.value == endpoint }.keys.sorted().compactMap { entities[$0] }
        guard let record = candidates.first(where: { $0.known.traits[trait] != nil }) else {
            throw HomeError.notFound("the part \(endpoint) of the device has no trait \(trait)")
        }
        guard record.isReachable != false else {
            throw HomeError.unavailable("the device is offline: its availability topic says so")
        }
        return record
    }
}
