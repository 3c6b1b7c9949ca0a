import Foundation
public import HomeHub
public import HomeTypes

/// Answers the cloud's requests for one linked account, over the home and with the account's permissions.
public struct CloudFulfilment: Sendable {
    /// Begins a live stream of a device, and returns the states of `GetCameraStream`.
    public typealias CameraStreams = @Sendable (_ device: String) async throws -> JSONValue

    private let hub: HomeHub
    private let caller: Caller
    private let willReportState: Bool
    private let cameraStream: CameraStreams

    /// Speaks for an account.
    /// - Parameters:
    ///   - caller: the account. Its access limits what the cloud sees and does.
    ///   - willReportState: whether changes are reported without being asked for.
    ///   - cameraStream: begins live streams.
    public init(
        _ hub: HomeHub, caller: Caller, willReportState: Bool, cameraStream: @escaping CameraStreams
    ) {
        self.hub = hub
        self.caller = caller
        self.willReportState = willReportState
        self.cameraStream = cameraStream
    }

    /// The response to a request.
    /// - Parameter user: names the account for the cloud, the same in all of its messages.
    public func answer(_ request: CloudRequest, user: String) async -> JSONValue {
        let payload: JSONValue
        switch request.intent {
        case .sync: payload = await sync(user)
        case .query(let devices): payload = await query(devices)
        case .execute(let groups): payload = await execute(groups)
        case .disconnect: return .object([:])
        }
        return .object(["requestId": .string(request.requestID), "payload": payload])
    }

    private func sync(_ user: String) async -> JSONValue {
        let rooms = await hub.rooms(for: caller.access)
        let endpoints = await hub.devices(for: caller.access).flatMap { CloudEndpoint.all(of: $0, in: rooms) }
        let devices = endpoints.sorted { $0.id < $1.id }
            .compactMap { $0.cloudDevice(willReportState: willReportState) }
        return .object(["agentUserId": .string(user), "devices": .array(devices)])
    }

    private func query(_ devices: [String]) async -> JSONValue {
        var states: [String: JSONValue] = [:]
        for id in devices {
            guard let endpoint = await endpoint(id) else {
                states[id] = .object(["status": .string("ERROR"), "errorCode": .string("deviceNotFound")])
                continue
            }
            var state = endpoint.cloudStates()
            state.merge(.object(["status": .string(endpoint.isOnline ? "SUCCESS" : "OFFLINE")]))
            states[id] = state
        }
        return .object(["devices": .object(states)])
    }

    private func execute(_ groups: [CloudRequest.Group]) async -> JSONValue {
        var commands: [JSONValue] = []
        for group in groups {
            for id in group.devices {
                // A cloud that has given up gets no answer, and sends its commands again if it still wants them.
                if Task.isCancelled { return .object(["commands": .array(commands)]) }
                commands.append(await execute(group.executions, on: id))
            }
        }
        return .object(["commands": .array(commands)])
    }

    /// Runs commands on one device, one after another, and stops at the first one that fails.
    private func execute(_ executions: [CloudRequest.Execution], on id: String) async -> JSONValue {
        var result: [String: JSONValue] = ["ids": .array([.string(id)])]
        do {
            var added = JSONValue.object([:])
            for execution in executions { added.merge(try await run(execution, on: id)) }
            // The state after the commands: the next look at the device.
            var states = await endpoint(id)?.cloudStates() ?? .object([:])
            states.merge(added)
            result["status"] = .string("SUCCESS")
            result["states"] = states
        } catch {
            result["status"] = .string("ERROR")
            result["errorCode"] = .string(Self.code(error))
        }
        return .object(result)
    }

    private func run(_ execution: CloudRequest.Execution, on id: String) async throws -> JSONValue {
        guard let endpoint = await endpoint(id) else { throw HomeHub.unknownDevice(id) }
        guard endpoint.isOnline else { throw HomeError.unavailable("\(endpoint.name) cannot be reached") }
        let actions = try endpoint.actions(
            for: execution.command, execution.parameters, challenge: execution.challenge)
        var states = JSONValue.object([:])
        for action in actions {
            switch action {
            case .send(let trait, let command, let parameters):
                let call = CommandCall(
                    deviceID: endpoint.deviceID, endpoint: endpoint.number, trait: trait, command: command,
                    caller: caller)
                _ = try await hub.send(call, body: try JSONEncoder().encode(parameters))
            case .write(let trait, let attributes):
                _ = try await hub.update(
                    trait, of: endpoint.deviceID, endpoint: endpoint.number,
                    body: try JSONEncoder().encode(attributes), by: caller)
            case .cameraStream: states.merge(try await cameraStream(endpoint.deviceID))
            }
        }
        return states
    }

    /// An endpoint that the account may read; nil for an id that SYNC does not list.
    private func endpoint(_ id: String) async -> CloudEndpoint? {
        for device in [id, CloudEndpoint.deviceID(ofPart: id)] {
            guard let device, let found = await hub.device(device, for: caller.access) else { continue }
            return CloudEndpoint.all(of: found).first { $0.id == id }
        }
        return nil
    }

    /// The cloud's code for an error (reference, "Errors and exceptions").
    static func code(_ error: any Error) -> String {
        switch (error as? HomeError)?.code {
        case .notFound: "deviceNotFound"
        case .unavailable: "deviceOffline"
        case .permissionDenied, .unauthenticated: "authFailure"
        case .invalidArgument, .outOfRange: "valueOutOfRange"
        case .unimplemented: "functionNotSupported"
        case .deadlineExceeded: "timeout"
        case .failedPrecondition: "actionNotAvailable"
        case .resourceExhausted: "resourceUnavailable"
        default: "hardError"
        }
    }
}
