import Foundation

/// Apps change a connection with the options that they have read from `findTransport`, in the same type. A field without a
/// value stays as it is.
extension Google.PushAvStreamTransportTrait {
    /// Changes a connection.
    @_disfavoredOverload public static func modifyPushTransport(
        connectionID: UInt16, transportOptions: TransportOptionsStruct
    ) throws(HomeError) -> ModifyPushTransportCommand {
        let partial: PartialTransportOptionsStruct
        do {
            // Both have the same fields under the same names.
            partial = try JSONDecoder().decode(
                PartialTransportOptionsStruct.self, from: JSONEncoder().encode(transportOptions))
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
