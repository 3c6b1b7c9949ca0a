import Foundation
import HomeTypes

/// The events of the devices: the log keeps them, and every watcher gets them.
extension HomeHub {
    /// The maximum number of events in a response.
    public static let maximumEvents = 200

    /// The events of a device, newest first.
    /// - Parameters:
    ///   - since: only what happened then or later.
    ///   - after: only what happened after the event with this identifier.
    ///   - limit: how many at most.
    public func events(
        of deviceID: String, since: Date? = nil, after: String? = nil, limit: Int = HomeHub.maximumEvents
    ) async throws(HomeError) -> [DeviceEvent] {
        try requireDevice(deviceID)
        let entries = await log.events(
            of: HomeChange.subject(ofDevice: deviceID), since: since, after: after,
            limit: min(max(limit, 0), Self.maximumEvents))
        guard let entries else {
            throw HomeError.unavailable("the events cannot be read at the moment; the gateway's log says why")
        }
        return entries.compactMap { DeviceEvent($0, log: log.identity.log) }
    }

    /// How long ago an event was, in seconds; nil if it is not among the newest of the device.
    public func age(ofEvent id: String, of deviceID: String) async throws(HomeError) -> TimeInterval? {
        let event = try await events(of: deviceID).first { $0.id == id }
        return event.map { now().timeIntervalSince($0.timestamp) }
    }

    /// How long a report waits for the disk.
    static let longestWrite = Duration.seconds(5)

    /// Accepts an event that somebody reports for a device. It is in the store when this returns, unless the disk does not
    /// accept it in time: a client that has the answer does not report it again. The same holds for a repetition, whose
    /// first report may still be on its way.
    /// - Returns: whether it was new, and not a repetition of a known event.
    public func report(_ event: ReportedEvent, of deviceID: String) async throws(HomeError) -> Bool {
        let state = try self.state(of: deviceID)
        guard event.type != .privacy else {
            throw HomeError.invalidArgument("privacy is the position of a switch and not an event")
        }
        if event.type == .doorbellPressed, state.description.kind != .doorbell {
            throw HomeError.failedPrecondition("device \(deviceID) is not a doorbell: its button cannot be pressed")
        }
        guard let driver = state.driver else {
            throw HomeError.unavailable("no camera is connected to device \(deviceID)")
        }
        let follower = followers[deviceID]?.number
        let isNew = try await driver.report(event)
        await driver.reportsApplied()
        // Nobody has read what was reported to the driver of a camera that was replaced meanwhile. One that is replaced later
        // loses nothing.
        guard followers[deviceID]?.number == follower else {
            throw HomeError.unavailable("the camera of device \(deviceID) was replaced; report the event again")
        }
        await log.settle(atMost: Self.longestWrite)
        return isNew
    }
}
