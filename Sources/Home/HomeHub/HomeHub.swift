import Foundation
import HomeTypes
import Signalling

/// The live state of the home: its devices, their traits, and the stream of changes.
///
/// Commands of the trait `WebRtcLiveView` go to the signalling service. The button goes to the camera's driver. The hub
/// is for control: no packet passes through it.
public actor HomeHub {
    /// How many watchers of the change stream may be connected at once. Principals share them; see ``PlaceShares``.
    public static let maximumWatchers = 64

    let liveView: any LiveViewServing
    let now: @Sendable () -> Date
    var order: [String]
    var states: [String: DeviceState] = [:]
    /// The tasks that follow each driver once the home runs.
    var followers: [String: Follower] = [:]
    var isRunning = false
    var nextFollower: UInt64 = 0
    var changeStream: ChangeStream
    var history: EventHistory
    let journal: @Sendable (DeviceEvent) -> Void
    let observer: @Sendable (_ deviceID: String, CameraUpdate?) -> Void
    var knownSessions: [String: SessionSnapshot] = [:]
    var sessionRefresh: Task<Void, Never>?
    var mustRefreshSessionsAgain = false

    /// Makes a home.
    /// - Parameters:
    ///   - devices: the devices in the order in which people should see them. Of two with one id the first stays.
    ///   - drivers: the cameras behind them; a device without one is offline.
    ///   - liveView: who serves live views.
    ///   - history: the events that an earlier run has kept, oldest first.
    ///   - journal: takes each event, to keep it for a later run.
    ///   - observer: gets each camera's reports, and nil once a device is gone, for the log. It must not block.
    ///   - run: a name of this run of the process, part of the change stream's places.
    ///   - now: the wall clock.
    public init(
        devices: [DeviceDescription], drivers: [any CameraDriver], liveView: any LiveViewServing,
        history: [DeviceEvent] = [], journal: @escaping @Sendable (DeviceEvent) -> Void = { _ in },
        observer: @escaping @Sendable (_ deviceID: String, CameraUpdate?) -> Void = { _, _ in },
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
        self.changeStream = ChangeStream(run: run, places: PlaceShares(total: Self.maximumWatchers))
        self.history = EventHistory(history)
        self.journal = journal
        self.observer = observer
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

    /// What the device's speaker received, or nil when it cannot measure it.
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

    /// Adopts one update of a camera.
    func apply(_ update: CameraUpdate, deviceID: String) {
        if self.states[deviceID] != nil { self.observer(deviceID, update) }
        switch update {
        case .source(let status):
            guard var state = self.states[deviceID] else { return }
            let before = state.snapshot
            state.update(status)
            self.states[deviceID] = state
            if state.snapshot != before { self.changeStream.publish(.device(state.snapshot)) }
        case .doorbellPressed(let event):
            self.note(event, deviceID: deviceID)
        case .detection(let detection):
            guard var state = self.states[deviceID] else { return }
            let before = state.snapshot
            state.update(detection)
            self.states[deviceID] = state
            self.note(detection, deviceID: deviceID)
            if state.snapshot != before { self.changeStream.publish(.device(state.snapshot)) }
        case .eventSource(let status):
            guard var state = self.states[deviceID] else { return }
            let before = state.snapshot
            state.eventSource = status
            self.states[deviceID] = state
            if state.snapshot != before { self.changeStream.publish(.device(state.snapshot)) }
        }
    }

    func state(of id: String) throws(HomeError) -> DeviceState {
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
