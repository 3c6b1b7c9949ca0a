import Foundation
import HomeHub
import HomeTypes

/// A lamp that tells of the commands that arrive at it.
struct ObservedLamp: DeviceBackend {
    let device: VirtualDevice
    private let note: @Sendable (CommandCall) -> Void

    init(_ device: VirtualDevice, _ note: @escaping @Sendable (CommandCall) -> Void) {
        self.device = device
        self.note = note
    }

    var deviceID: String { device.deviceID }

    func updates() -> AsyncStream<DeviceUpdate> { device.updates() }

    func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
        note(call)
        return try await device.execute(call, body: body)
    }
}
