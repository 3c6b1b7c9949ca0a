public import HomeTypes

/// What an EXECUTE command does to an endpoint.
public enum CloudAction: Sendable, Equatable {
    /// Sends a command of a trait, with its parameters.
    case send(trait: String, command: String, parameters: JSONValue)
    /// Writes attributes of a trait.
    case write(trait: String, attributes: JSONValue)
    /// Begins a live stream.
    case cameraStream
}

extension CloudEndpoint {
    /// The steps of a cloud command, in their order.
    /// - Parameters:
    ///   - parameters: those of the command.
    ///   - challenge: what the cloud sends with the second request, such as a PIN.
    /// - Throws: `unimplemented` for a command that the endpoint does not have, `invalidArgument` for a parameter that is
    ///   missing, `outOfRange` for one without a counterpart, `failedPrecondition` for a difference to an unknown value.
    public func actions(
        for command: String, _ parameters: JSONValue, challenge: JSONValue = .null, table: CloudTable = .standard
    ) throws(HomeError) -> [CloudAction] {
        for (trait, mapping) in mappings(of: table) {
            let found = mapping.commands?.first { candidate in
                candidate.name == command
                    && (candidate.when ?? []).allSatisfy { condition in
                        if let name = condition.attribute { return condition.holds(for: attribute(name, of: trait)) }
                        return condition.holds(for: condition.parameter.flatMap { parameters[path: $0] })
                    }
            }
            guard let found else { continue }
            if found.handler == "cameraStream" {
                // A display that states what it can play, without WebRTC among it, could not use the answer.
                if case .array(let protocols)? = parameters[path: "SupportedStreamProtocols"],
                    !protocols.contains(.string("webrtc"))
                {
                    throw .unimplemented("\(self.name) streams only over WebRTC, which the display does not support")
                }
                return [.cameraStream]
            }
            var actions: [CloudAction] = []
            for step in found.steps ?? [] {
                if let action = try action(step, of: trait, parameters, challenge) { actions.append(action) }
            }
            return actions
        }
        throw .unimplemented("\(name) does not have the command \(command)")
    }

    /// One step; nil for a command of a trait that the endpoint does not have.
    private func action(
        _ step: CloudMapping.Step, of trait: String, _ parameters: JSONValue, _ challenge: JSONValue
    ) throws(HomeError) -> CloudAction? {
        if let name = step.send {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            let (owner, command) = parts.count == 2 ? (parts[0], parts[1]) : (trait, name)
            guard traits[owner] != nil else { return nil }
            return .send(
                trait: owner, command: command,
                parameters: try values(step.parameters ?? [:], of: trait, parameters, challenge))
        }
        return .write(trait: trait, attributes: try values(step.write ?? [:], of: trait, parameters, challenge))
    }

    private func values(
        _ inputs: [String: CloudMapping.Input], of trait: String, _ parameters: JSONValue, _ challenge: JSONValue
    ) throws(HomeError) -> JSONValue {
        var values: [String: JSONValue] = [:]
        for (name, input) in inputs {
            if let value = try value(input, of: trait, parameters, challenge) { values[name] = value }
        }
        return .object(values)
    }

    private func value(
        _ input: CloudMapping.Input, of trait: String, _ parameters: JSONValue, _ challenge: JSONValue
    ) throws(HomeError) -> JSONValue? {
        if let value = input.value { return value }
        guard let from = input.from else { return nil }
        let given =
            from.hasPrefix("challenge.")
            ? challenge[path: String(from.dropFirst("challenge.".count))] : parameters[path: from]
        guard let given, given != .null else {
            if input.optional == true { return nil }
            throw .invalidArgument("\(from) is missing")
        }
        if let base = input.addTo {
            guard let present = attribute(base, of: trait)?.number else {
                throw .failedPrecondition("\(base) of \(name) is not known, so it cannot be changed by a difference")
            }
            guard let difference = (input.convert ?? CloudConversion()).difference(given) else {
                throw .invalidArgument("\(from) must be a number")
            }
            let sum = present + difference
            return .number(input.convert?.limits.map { min(max(sum, $0.lowerBound), $0.upperBound) } ?? sum)
        }
        guard let convert = input.convert else { return given }
        guard let value = convert.ours(given) else {
            throw .outOfRange("the value of \(from) is not one that \(name) knows")
        }
        return value
    }
}
