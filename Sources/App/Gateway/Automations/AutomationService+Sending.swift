import Automation
import AutomationGraph
import Foundation
import HomeHub
import HomeTypes

/// Commands of runs.
extension AutomationService {
    /// Names a command.
    struct CommandKey: Hashable, Sendable {
        var runID: String
        var commandID: Int
    }

    /// How long commands on their way have to end when the service stops.
    private static let lastMoment = Duration.seconds(3)

    /// Sends a command, or lets it wait for a place.
    /// - Parameter until: when its time is over, by the uptime; nil for one whose time begins now.
    func send(_ request: CommandRequest, until: Int64? = nil) {
        let until = until ?? now().uptime + request.timeout
        guard runningCommands.count < settings.commands else { return waitingCommands.append((request, until)) }
        let key = CommandKey(runID: request.runID, commandID: request.commandID)
        guard runningCommands[key] == nil else { return }
        counts.commands += 1
        // The time that it has waited for its place is a part of its time.
        var request = request
        request.timeout = max(0, until - now().uptime)
        // The owner's rights count at this moment, and not those at which the automation was made.
        let access = registry.access(of: request.owner)
        let structure = definitions[request.automationID]?.structureID
        let answer = CommandAnswer(to: request, in: inbox)
        runningCommands[key] = [
            Task { [request] in finish(request, await carryOut(request, access, in: structure, answer), answer) },
            Task { [request] in
                guard (try? await Task.sleep(for: .milliseconds(request.timeout))) != nil else { return }
                let late = "the device did not answer in time"
                finish(request, .failed(code: "deadlineExceeded", message: late), answer)
            },
        ]
    }

    /// Lets the commands on their way end, and cancels those that do not.
    func endCommands() async {
        for (request, _) in waitingCommands {
            inbox.take(request, .failed(code: "unavailable", message: "the gateway was stopped before it was sent"))
        }
        waitingCommands = []
        guard !runningCommands.isEmpty else { return }
        let limit = Task {
            guard (try? await Task.sleep(for: Self.lastMoment)) != nil else { return }
            cancelCommands()
        }
        await withCheckedContinuation { whenNothingIsSent = $0 }
        limit.cancel()
    }

    /// Nobody knows what becomes of the commands that are on their way.
    private func cancelCommands() {
        for tasks in runningCommands.values { for task in tasks { task.cancel() } }
        runningCommands = [:]
        recordIfNothingIsSent()
    }

    private func recordIfNothingIsSent() {
        guard runningCommands.isEmpty else { return }
        whenNothingIsSent?.resume()
        whenNothingIsSent = nil
    }

    /// A command that is not sent, because nothing says afterwards that it was.
    func refuse(_ request: CommandRequest) {
        inbox.take(
            request,
            .failed(code: "unavailable", message: "the run cannot be recorded, so nothing was sent"))
    }

    /// Takes the outcome of a command, the first one only, and gives its place to the next.
    private func finish(
        _ request: CommandRequest, _ outcome: Automation.CommandOutcome, _ answer: CommandAnswer
    ) {
        let key = CommandKey(runID: request.runID, commandID: request.commandID)
        guard let tasks = runningCommands.removeValue(forKey: key) else { return }
        // Whatever is left of it after its deadline is no longer done.
        for task in tasks { task.cancel() }
        switch answer.take(outcome) {
        case .succeeded: break
        case .failed: counts.failedCommands += 1
        case .notAuthorised: counts.refusedCommands += 1
        case .unknown: counts.unknownCommands += 1
        }
        if isStopped { recordIfNothingIsSent() } else { sendNext() }
    }

    /// Gives a place that is free to the first command that is not too late, and whose run was not stopped meanwhile. The
    /// engine has counted those that are too late as failed, or does so soon, and nobody expects them any more.
    func sendNext() {
        while !waitingCommands.isEmpty {
            let (request, until) = waitingCommands.removeFirst()
            guard engine.isOpen(runID: request.runID) else { continue }
            guard until <= now().uptime else { return send(request, until: until) }
            counts.failedCommands += 1
            inbox.take(
                request, .failed(code: "deadlineExceeded", message: "too many commands were waiting; it was not sent"))
        }
    }

    private nonisolated func carryOut(
        _ request: CommandRequest, _ access: Access, in structure: String?, _ answer: CommandAnswer
    ) async -> Automation.CommandOutcome {
        do throws(HomeError) {
            guard let structure else { throw .notFound("the automation was deleted") }
            guard access.permits(.automate, .structure(structure)) else {
                throw .notGranted("\(request.owner) does not have the right to automate this structure any more")
            }
            try await apply(request, access, answer)
            return .succeeded
        } catch {
            if error.code == .permissionDenied { return .notAuthorised(message: error.message) }
            return .failed(code: "\(error.code)", message: error.message)
        }
    }

    /// The hub takes the answer when it has reported what the command changed, and before it reports what comes later.
    private nonisolated func apply(
        _ request: CommandRequest, _ access: Access, _ answer: CommandAnswer
    ) async throws(HomeError) {
        let action = request.action
        let caller = Caller(
            principal: request.owner, access: access, requestID: request.runID,
            idempotencyKey: "\(request.runID)/\(request.commandID)",
            remainingSeconds: Double(request.timeout) / 1_000)
        let trait = Vocabulary.trait(named: action.target.trait)?.name ?? action.target.trait
        guard case .device(let id) = action.target.entity else {
            return try await applyToStructure(request, trait, caller)
        }
        let object = hub.directory.device(id)
        let scopes: [Caller.Scope] =
            switch action.behaviour {
            case .command(let name, _): Caller.Scope.needed(for: Self.commandName(name, of: trait), of: trait)
            case .update: [.control]
            }
        guard scopes.allSatisfy({ access.permits($0, object) }) else {
            throw .notGranted("\(request.owner) does not have the right to send commands to device \(id)")
        }
        let device = try await hub.device(id)
        if AutomationRights.isBlocked(action, of: device) {
            guard AutomationRights.permitsBlockedActions(access, on: object) else {
                throw .notGranted(
                    "\(request.owner) does not have the scope unlock, which an automation needs to unlock or open")
            }
        }
        guard !Task.isCancelled else { throw .deadlineExceeded("the command's time had passed before it was sent") }
        let endpoint = device.endpoint(of: action.target.deviceType, having: trait)
        switch action.behaviour {
        case .command(let name, let parameters):
            let call = CommandCall(
                deviceID: id, endpoint: endpoint, trait: trait, command: Self.commandName(name, of: trait),
                caller: caller)
            _ = try await hub.send(call, body: try Self.json(parameters)) { answer.take(.succeeded) }
        case .update(let attributes):
            _ = try await hub.update(
                trait, of: id, endpoint: endpoint, body: try Self.json(attributes), by: caller
            ) { answer.take(.succeeded) }
        }
    }

    private nonisolated func applyToStructure(
        _ request: CommandRequest, _ trait: String, _ caller: Caller
    ) async throws(HomeError) {
        guard trait == AutomationNotifier.trait, case .command(_, let parameters) = request.action.behaviour else {
            throw .unimplemented("a structure does not accept commands of the trait \(trait)")
        }
        guard let notifier else {
            throw .failedPrecondition("nobody is notified: automations.notify in the config has no receiver; add one")
        }
        try await notifier.notify(parameters, of: request, by: caller, in: hub)
    }

    /// The name that the vocabulary gives to a command of a graph.
    private static func commandName(_ name: String, of trait: String) -> String {
        Vocabulary.trait(named: trait).flatMap { Vocabulary.command(named: name, of: $0)?.name } ?? name
    }

    private static func json(_ members: [String: JSONObject.Value]) throws(HomeError) -> Data {
        var object = JSONObject()
        object.members = members
        do { return try JSONEncoder().encode(object) } catch {
            throw .encodingFailed("the parameters cannot be written as JSON: \(error)")
        }
    }
}

extension DeviceSnapshot {
    /// The endpoint that has a type and a trait; nil if none has both, so that the hub chooses.
    fileprivate func endpoint(of typeName: String?, having trait: String) -> UInt16? {
        guard let typeName else { return nil }
        let wanted = Vocabulary.deviceType(named: typeName)
        return endpoints.first { endpoint in
            endpoint.traits[trait] != nil
                && endpoint.types.contains { name in
                    name == typeName
                        || wanted.map { Vocabulary.deviceType(named: name)?.isKind(of: $0) ?? false } ?? false
                }
        }?.id
    }
}
