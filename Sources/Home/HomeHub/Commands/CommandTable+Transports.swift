import HomeTypes
import PushAvStreamTransport
import Signalling

extension CommandTable {
    /// The traits `PushAvStreamTransport` and `CameraAvStreamManagement`, which the service of the connections serves.
    mutating func addTransports() {
        typealias Push = Google.PushAvStreamTransportTrait
        onCluster(Push.AllocatePushTransportCommand.self) { hub, call, parameters in
            let principal = call.caller.principal
            let made = try await hub.change(call) { table, camera, now throws(TransportFault) in
                try table.allocate(parameters.transportOptions, for: principal, of: camera, at: now)
            }
            try await hub.requireFootageStill(for: call)
            return Push.AllocatePushTransportCommand.Response(
                transportConfiguration: made.configuration(withOptions: true))
        }
        onCluster(Push.DeallocatePushTransportCommand.self) { hub, call, parameters in
            let principal = call.caller.principal
            try await hub.change(call) { table, _, _ throws(TransportFault) in
                try table.deallocate(
                    parameters.connectionID, for: principal, seesAll: principal == PlaceShares.owner)
            }
            return NoFields()
        }
        onCluster(Push.ModifyPushTransportCommand.self) { hub, call, parameters in
            let principal = call.caller.principal
            try await hub.change(call) { table, camera, now throws(TransportFault) in
                try table.modify(
                    parameters.connectionID, parameters.transportOptions, for: principal, of: camera, at: now)
            }
            return NoFields()
        }
        onCluster(Push.SetTransportStatusCommand.self) { hub, call, parameters in
            let principal = call.caller.principal
            try await hub.change(call) { table, _, _ throws(TransportFault) in
                try table.setStatus(parameters.connectionID ?? nil, parameters.transportStatus, for: principal)
            }
            return NoFields()
        }
        onCluster(Push.ManuallyTriggerTransportCommand.self) { hub, call, parameters in
            let reason = parameters.activationReason
            let trigger = RecordingTrigger(kind: .command, reason: reason, words: "command (\(reason.rawValue))")
            try await hub.transportService(for: call).trigger(
                parameters.connectionID, of: call.deviceID, trigger, parameters.timeControl,
                for: call.caller.principal)
            return NoFields()
        }
        onCluster(Push.FindTransportCommand.self) { hub, call, parameters in
            let table = try await hub.transportService(for: call).table(of: call.deviceID)
            let principal = call.caller.principal
            let found = try table?.find(
                parameters.connectionID ?? nil, for: principal, seesAll: principal == PlaceShares.owner)
            return Push.FindTransportCommand.Response(transportConfigurations: found ?? [])
        }
        onCluster(Push.UpdateMotionZoneOptionsCommand.self) { hub, call, parameters in
            let principal = call.caller.principal
            try await hub.change(call) { table, camera, _ throws(TransportFault) in
                try table.updateZones(
                    parameters.connectionID, zones: parameters.motionZones, sensitivity: parameters.motionSensitivity,
                    for: principal, of: camera)
            }
            return NoFields()
        }
        onCluster(Google.CameraAvStreamManagementTrait.SetStreamPrioritiesCommand.self) { hub, call, parameters in
            try await hub.change(call) { table, _, _ throws(TransportFault) in
                try table.setPriorities(parameters.streamPriorities.compactMap { StreamUsage(rawValue: $0.rawValue) })
            }
            return NoFields()
        }
    }
}

extension HomeHub {
    /// The service of the connections.
    /// - Throws: `unimplemented` in a home without that service.
    func transportService(for call: CommandCall) throws(HomeError) -> TransportService {
        guard let service = transports?.service else {
            throw HomeError.unimplemented("device \(call.deviceID) does not accept the command \(call.command)")
        }
        return service
    }

    /// Changes a device's connections. When it returns, the device shows the change, and its outputs are permitted
    /// accordingly.
    func change<Value: Sendable>(
        _ call: CommandCall,
        _ body: @escaping @Sendable (inout ConnectionTable, CameraCapabilities, Int64) throws(TransportFault) -> Value
    ) async throws -> Value {
        let value = try await transportService(for: call).change(call.deviceID, body)
        await readConnections(of: call.deviceID)
        return value
    }
}
