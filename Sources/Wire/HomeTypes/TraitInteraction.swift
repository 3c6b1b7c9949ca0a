import Foundation

/// The connection between a trait's value and the device, for its commands and updates.
public protocol TraitInteraction: Sendable {
    /// Sends a command to the device that the trait belongs to.
    /// - Parameter parameters: the command as JSON.
    /// - Returns: the response as JSON.
    func send(_ command: any Command.Type, parameters: Data) async throws(HomeError) -> Data

    /// Writes attributes of the trait.
    /// - Parameter attributes: those to write, as JSON.
    /// - Returns: the trait's attributes afterwards, as JSON. Some may be left out.
    func update(_ trait: any Trait.Type, attributes: Data) async throws(HomeError) -> Data
}

extension Trait {
    /// Sends a command of this trait to its device.
    /// - Throws: `failedPrecondition` for a value without a device, `invalidArgument` for a command that violates the
    ///   vocabulary's constraints, and what the device throws.
    @discardableResult
    public func sendCommand<Sent: Command>(_ command: Sent) async throws(HomeError) -> Sent.Response {
        let interaction = try requireInteraction("receive the command \(Sent.name)")
        try command.validate()
        let response = try await interaction.send(Sent.self, parameters: try Self.json(command))
        return try Self.read(Sent.Response.self, from: response)
    }

    /// Writes attributes of this trait.
    /// - Returns: the trait with its attributes after the update.
    /// - Throws: `failedPrecondition` for a value without a device, `invalidArgument` for values that violate the
    ///   vocabulary's constraints, and what the device throws.
    public func sendUpdate(_ update: some VocabularyRecord) async throws(HomeError) -> Self {
        let interaction = try requireInteraction("be updated")
        try update.validate()
        let written = try await interaction.update(Self.self, attributes: try Self.json(update))
        var result = self
        result.attributes.merge(try Self.read(Attributes.self, from: written))
        return result
    }

    private func requireInteraction(_ purpose: String) throws(HomeError) -> any TraitInteraction {
        guard let interaction = self.interaction else {
            throw .failedPrecondition(
                "this \(Self.name) belongs to no device, so it cannot \(purpose); take the trait from a device's type")
        }
        return interaction
    }

    private static func json(_ value: some Encodable) throws(HomeError) -> Data {
        do { return try JSONEncoder().encode(value) } catch {
            throw .encodingFailed("\(type(of: value)) cannot be written as JSON: \(error)")
        }
    }

    private static func read<Value: Decodable>(_ type: Value.Type, from data: Data) throws(HomeError) -> Value {
        do { return try JSONDecoder().decode(type, from: data) } catch {
            throw .parseError("the answer for \(Self.name) cannot be read: \(error)")
        }
    }
}
