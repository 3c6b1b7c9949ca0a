import Foundation
import HomeTypes

extension HomeHub {
    /// Sends a command to a trait of a device.
    ///
    /// If the caller gives an idempotency key, a repetition of the command returns the first result for ten minutes. A
    /// repetition that arrives while the first command runs waits for its result. For a command that would act twice, this
    /// also holds after a restart of the gateway.
    /// - Parameters:
    ///   - call: the command, and who sends it.
    ///   - body: the parameters as JSON.
    ///   - whenApplied: called when the command has succeeded, after the observers have received what it changed, and before
    ///     they receive what the hub learns later. The result itself may come later, because it is kept first. It is not
    ///     called for a repetition that gets the first result. It must not block.
    /// - Returns: the result as JSON.
    /// - Throws: `notFound` for a device, trait or command that does not exist, `invalidArgument` for parameters that
    ///   violate the vocabulary's constraints, `deadlineExceeded` if the caller's time is over before the command is
    ///   applied, and what the command itself throws.
    public func send(
        _ call: CommandCall, body: Data, whenApplied: @escaping @Sendable () -> Void = {}
    ) async throws(HomeError) -> Data {
        for scope in Caller.Scope.needed(for: call.command, of: call.trait) {
            try require(scope, of: call.deviceID, for: call.caller)
        }
        let endpoint = try device(call.deviceID).endpoint(having: call.trait, number: call.endpoint)
        var call = call
        call.endpoint = endpoint.id
        guard let trait = endpoint.traits[call.trait].map({ type(of: $0) }) else {
            throw HomeError.internal("endpoint \(endpoint.id) of device \(call.deviceID) has lost \(call.trait)")
        }
        guard trait.supportedCommandTypes.contains(where: { $0.name == call.command }) else {
            let list = trait.supportedCommandTypes.map { $0.name }.joined(separator: ", ")
            throw HomeError.notFound(
                "trait \(trait.name) has no command of this name; it has \(list.isEmpty ? "none" : list)")
        }
        // The home does not know yet how to reach it, and waiting would not help.
        guard endpoint.connectivity(ofTrait: call.trait).dataSourceLocality != .unspecified else {
            throw HomeError.unavailable("device \(call.deviceID) is not connected")
        }
        guard let idempotencyKey = call.caller.idempotencyKey else {
            return try await apply(call, body: body, whenApplied)
        }
        let key = CommandResults.Key(
            principal: call.caller.principal, deviceID: call.deviceID, endpoint: call.endpoint, trait: call.trait,
            command: call.command, idempotencyKey: idempotencyKey)
        let applied = call
        return try await once(
            key, parameters: body, isKept: key.actsTwice,
            isLate: { () throws(HomeError) in
                try applied.requireTime(at: self.clock())
            }
        ) { () async throws(HomeError) in
            try await self.apply(applied, body: body, whenApplied)
        }
    }

    /// Applies a command unless its caller has given up.
    private func apply(
        _ call: CommandCall, body: Data, _ whenApplied: @Sendable () -> Void
    ) async throws(HomeError) -> Data {
        try call.requireTime(at: clock())
        guard mayAct(call.deviceID) else {
            throw HomeError.unavailable("another gateway of the home runs device \(call.deviceID)")
        }
        let state = try self.state(of: call.deviceID)
        let response: Data
        if let handler = commands.handler(of: call, isCamera: state.camera != nil) {
            response = try await handler.run(call, body: body, in: self)
        } else {
            guard state.backend != nil else {
                throw HomeError.unavailable("device \(call.deviceID) is not connected")
            }
            try Self.check(body, of: call)
            response = try await inTurn(
                at: call.deviceID, check: { () throws(HomeError) in try call.requireTime(at: clock()) }
            ) { backend async throws(HomeError) in
                try await backend.execute(call, body: body)
            }.response
        }
        // After a backend's command, nothing else has happened in the hub since its changes were reported.
        whenApplied()
        return response
    }

    /// Checks the parameters of a command that a backend handles.
    private static func check(_ body: Data, of call: CommandCall) throws(HomeError) {
        guard let trait = Vocabulary.trait(named: call.trait),
            let command = Vocabulary.command(named: call.command, of: trait)
        else { return }
        do {
            try JSONDecoder().decode(command, from: body).validate()
        } catch let error as HomeError {
            throw error
        } catch let error as DecodingError {
            throw HomeError(error, body: body)
        } catch {
            throw HomeError.invalidArgument("the parameters of \(call.command) cannot be read: \(error)")
        }
    }

    /// The attributes of a trait of a device.
    /// - Parameter endpoint: the number of the endpoint; nil to have one chosen.
    public func trait(
        _ name: String, of deviceID: String, endpoint: UInt16? = nil
    ) throws(HomeError) -> any Trait {
        let endpoint = try device(deviceID).endpoint(having: name, number: endpoint)
        guard let trait = endpoint.traits[name] else {
            throw HomeError.internal("endpoint \(endpoint.id) of device \(deviceID) has lost \(name)")
        }
        return trait
    }
}
