import Foundation

/// Apps change a connection with the options that they have read from `findTransport`, in the same type. A field without a
/// value stays as it is: an app that passes a variable of type `UInt8?` without a value means that, and not null, although
/// it becomes the null of a field that can be both absent and null.
extension Google.PushAvStreamTransportTrait {
    /// Changes a connection.
    @_disfavoredOverload public static func modifyPushTransport(
        connectionID: UInt16, transportOptions: TransportOptionsStruct
    ) throws(HomeError) -> ModifyPushTransportCommand {
        let partial: PartialTransportOptionsStruct
        do {
            // Both have the same fields under the same names.
            partial = try JSONDecoder().decode(
                PartialTransportOptionsStruct.self, from: JSONEncoder().encode(transportOptions.withoutNulls))
        } catch {
            throw .encodingFailed("the options of connection \(connectionID) cannot be written as JSON: \(error)")
        }
        return modifyPushTransport(connectionID: connectionID, transportOptions: partial)
    }

    /// Changes a connection.
    ///
    /// Throws `HomeError`, as ``sendCommand(_:)``.
    @_disfavoredOverload public nonisolated(nonsending) func modifyPushTransport(
        connectionID: UInt16, transportOptions: TransportOptionsStruct
    ) async throws {
        try await sendCommand(
            try Self.modifyPushTransport(connectionID: connectionID, transportOptions: transportOptions))
    }
}

extension Google.PushAvStreamTransportTrait.TransportOptionsStruct {
    /// The same options with nulls as absent fields.
    fileprivate var withoutNulls: Self {
        var options = self
        options.videoStreamID = videoStreamID.flatMap { $0 }.map { .some($0) }
        options.audioStreamID = audioStreamID.flatMap { $0 }.map { .some($0) }
        let triggers = triggerOptions
        options.triggerOptions.motionZones = triggers.motionZones.flatMap { $0 }.map { .some($0) }
        options.triggerOptions.motionSensitivity = triggers.motionSensitivity.flatMap { $0 }.map { .some($0) }
        return options
    }
}
