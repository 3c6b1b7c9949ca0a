import Foundation
import HomeTypes
import Signalling

/// The live state of the home: the devices of the config, their traits, and the stream of what changes.
///
/// Commands of the trait `WebRtcLiveView` go to the signalling service; the button goes to the camera's driver. The
/// hub is control: no packet passes through it.
public actor HomeHub {
    /// How many watchers of the change stream may be connected at once.
    public static let maximumWatchers = 64

    let liveView: any LiveViewServing
    let now: @Sendable () -> Date
    private let order: [String]
    private var states: [String: DeviceState] = [:]
    var changeStream: ChangeStream
    var knownSessions: [String: SessionSnapshot] = [:]
    var sessionRefresh: Task<Void, Never>?
    var mustRefreshSessionsAgain = false

    /// Makes a home.
    /// - Parameters:
    ///   - devices: the devices in the order in which people should see them. Of two with one id the first stays.
    ///   - drivers: the cameras behind them; a device without one is offline.
    ///   - liveView: who serves live views.
    ///   - run: a name of this run of the process, part of the change stream's places.
    ///   - now: the wall clock.
    public init(
        devices: [DeviceDescription], drivers: [any CameraDriver], liveView: any LiveViewServing,
        run: String = UUID().uuidString.prefix(8).lowercased(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        var order: [String] = []
        for device in devices where self.states[device.id] == nil {
            order.append(device.id)
            self.states[device.id] = DeviceState(
                description: device, driver: drivers.first { $0.deviceID == device.id })
        }
        self.order = order
        self.liveView = liveView
        self.now = now
        self.changeStream = ChangeStream(run: run)
    }

    // MARK: Devices

    /// All devices, in the config's order.
    public func devices() -> [DeviceSnapshot] {
        self.order.compactMap { self.states[$0]?.snapshot }
    }

    /// One device.
    public func device(_ id: String) throws(HomeError) -> DeviceSnapshot {
        try self.state(of: id).snapshot
    }

    /// What the device's speaker heard, or nil when it cannot tell.
    public func speakerReading(of id: String) throws(HomeError) -> SpeakerReading? {
        try self.state(of: id).driver?.speakerReading
    }

    /// Presses the doorbell's button.
    public func press(_ id: String) async throws(HomeError) {
        let state = try self.state(of: id)
        guard state.description.kind == .doorbell else {
            throw HomeError.unimplemented("device \(id) is no doorbell: it has no trait DoorbellPress")
        }
        guard let driver = state.driver else {
            throw HomeError.unavailable("no camera is connected to device \(id)")
        }
        try await driver.press()
    }

    // MARK: Life

    /// Follows the cameras until they all end or the task is cancelled.
    public func run() async {
        let drivers = self.order.compactMap { self.states[$0]?.driver }
        await withTaskGroup(of: Void.self) { group in
            for driver in drivers {
                group.addTask {
                    for await update in driver.updates() {
                        await self.apply(update, deviceID: driver.deviceID)
                    }
                }
            }
        }
    }

    /// Takes one update of a camera over.
    func apply(_ update: CameraUpdate, deviceID: String) {
        switch update {
        case .source(let status):
            guard var state = self.states[deviceID] else { return }
            let before = state.snapshot
            state.update(status)
            self.states[deviceID] = state
            if state.snapshot != before { self.changeStream.publish(.device(state.snapshot)) }
        case .doorbellPressed(let event):
            self.changeStream.publish(.doorbellPressed(deviceID: deviceID, at: self.now(), event))
        }
    }

    private func state(of id: String) throws(HomeError) -> DeviceState {
        guard let state = self.states[id] else {
            throw HomeError.notFound(
                "no device has the id \(id.prefix(64).debugDescription); GET /v1/devices lists them")
        }
        return state
    }

    /// Fails unless the home has this device.
    func requireDevice(_ id: String) throws(HomeError) {
        _ = try self.state(of: id)
    }
}
