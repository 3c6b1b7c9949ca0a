import Foundation
import HomeTypes

/// The events of the devices: they are reported to the watchers, kept, and handed to the journal.
extension HomeHub {
    /// How many events one response holds at most.
    public static let maximumEvents = 200

    /// The events of a device, newest first.
    /// - Parameters:
    ///   - since: only what happened then or later.
    ///   - after: only what happened after the event with this identifier.
    ///   - limit: how many at most.
    public func events(
        of deviceID: String, since: Date? = nil, after: String? = nil, limit: Int = HomeHub.maximumEvents
    ) throws(HomeError) -> [DeviceEvent] {
        try self.requireDevice(deviceID)
        return self.history.events(
            of: deviceID, since: since, after: after, limit: min(max(limit, 0), Self.maximumEvents))
    }

    /// Accepts an event that somebody reports for a device.
    /// - Returns: whether it was new, and not a repetition of a known event.
    public func report(_ event: ReportedEvent, of deviceID: String) async throws(HomeError) -> Bool {
        let state = try self.state(of: deviceID)
        if event.type == .doorbellPressed, state.description.kind != .doorbell {
            throw HomeError.failedPrecondition("device \(deviceID) is no doorbell: its button cannot be pressed")
        }
        guard let driver = state.driver else {
            throw HomeError.unavailable("no camera is connected to device \(deviceID)")
        }
        return try await driver.report(event)
    }

    /// Reports a press.
    func note(_ press: Google.DoorbellPressTrait.DoorbellPressedEvent, deviceID: String) {
        let now = self.now()
        let event = self.changeStream.publish(.doorbellPressed(deviceID: deviceID, at: now, press))
        self.keep(DeviceEvent(id: event.id, deviceID: deviceID, at: now, press))
    }

    /// Reports a detection.
    func note(_ detection: DetectionEvent, deviceID: String) {
        let now = self.now()
        let event = self.changeStream.publish(.detection(deviceID: deviceID, at: now, detection))
        self.keep(DeviceEvent(id: event.id, deviceID: deviceID, at: now, detection))
    }

    private func keep(_ event: DeviceEvent) {
        self.history.append(event)
        self.journal(event)
    }
}
