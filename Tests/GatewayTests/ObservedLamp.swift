import Foundation
import HomeHub
import HomeTypes

/// A lamp that reports the commands that arrive at it.
struct ObservedLamp: DeviceBackend {
    let device: VirtualDevice
    private let record: @Sendable (CommandCall) -> Void

    init(_ device: VirtualDevice, _ record: @escaping @Sendable (CommandCall) -> Void) {
        self.device = device
        self.record = record
    }

    var deviceID: String { device.deviceID }

    func updates() -> AsyncStream<DeviceUpdate> { device.updates() }

    func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
        record(call)
        return try await device.execute(call, body: body)
    }
}
