import DatagramPort
import Foundation
import HomeTypes
import PushAvStreamTransport
import Signalling
import Stations
import Transport

/// The live state of the home: its devices, their traits, and the stream of changes.
///
/// Commands of the trait `WebRtcLiveView` go to the signalling services. The button goes to the camera's driver. The
/// hub is for control: packets do not pass through it.
public actor HomeHub {
    /// How many watchers of the changes may be connected at once, unless the config says otherwise.
    public static let standardWatchers = 2_048

    /// Live views, talks, clips, publishers and pictures.
    public nonisolated let signalling: SignallingServices
    /// The structures, the rooms, and the identifiers and places of the devices.
    public nonisolated let directory: HomeDirectory
    /// The structures and rooms as the watchers know them.
    var knownStructures: [String: StructureSnapshot] = [:]
    var knownRooms: [String: RoomSnapshot] = [:]
    let commands = CommandTable.standard
    /// The results of commands that may be repeated.
    var results = CommandResults()
    /// The commands and writes that wait for their turn at a device.
    var turns = DeviceTurns()
    /// The wall clock.
    let now: @Sendable () -> Date
    /// The clock of deadlines.
    let clock: @Sendable () -> Instant
    /// The devices of each origin, in the order in which people should see them.
    var orders: [DeviceOrigin: [String]] = [:]
    /// All devices, in that order.
    var order: [String] { DeviceOrigin.allCases.flatMap { orders[$0] ?? [] } }
    var states: [String: DeviceState] = [:]
    /// The tasks that follow each driver once the home runs.
    var followers: [String: Follower] = [:]
    var isRunning = false
    var nextFollower: UInt64 = 0
    nonisolated let log: ChangeLog
    /// Keeps what happened; nil for a home without a history.
    nonisolated let historyKeeper: History?
    /// Keeps pictures of the cameras; nil for a home that does not keep pictures.
    nonisolated let pictures: (any PictureKeeping)?
    /// How principals share the places for watchers.
    let places: PlaceShares
    /// The current state of devices that watchers get first, if it has already been encoded. A camera's is not kept: it
    /// depends on what its driver knows at the time.
    var presentEvents: [String: HomeEvent] = [:]
    /// The devices that an earlier run knew, by their identifiers, with the origins that they may come from. The first
    /// list of devices from an origin replaces them.
    var recalledDevices: [String: DeviceOrigin] = [:]
    let observer: @Sendable (_ deviceID: String, CameraUpdate?) -> Void
    /// The recording connections; nil for a home without them.
    nonisolated let transports: HomeTransports?
    /// The connections that record each device now.
    var recordings: [String: Set<UInt16>] = [:]
    /// The latest change of each device's outputs, and what has been permitted since then.
    var outputs: [String: Task<Void, Never>] = [:]
    var permitted: [String: OutputPolicy] = [:]
    /// The alarms that are still raised, by their subjects in the log.
    var alarms: [String: HomeAlarm] = [:]
    /// Since when devices have been offline. A device that is reachable again is not in it.
    var offlineSince: [String: Date] = [:]
    /// What a principal may do now, for commands that arrive on data channels.
    let accessOf: @Sendable (_ principal: String) -> Access
    /// Whether a principal's rights are unknown.
    let isUnknown: @Sendable (_ principal: String) -> Bool
    /// Whether this gateway may act for a device now.
    let mayAct: @Sendable (_ device: String) -> Bool
    /// The observers, which receive each change immediately.
    var observers: [any HomeObserver] = []
    /// The live sessions as the watchers know them.
    var knownSessions: [String: SessionSnapshot] = [:]

    /// Creates a home.
    /// - Parameters:
    ///   - devices: the devices in the order in which people should see them. Of two devices with the same id, the
    ///     first stays.
    ///   - drivers: the backends behind them; a camera without one is offline.
    ///   - signalling: live views, talks, clips, publishers and pictures.
    ///   - transports: the recording connections; nil for a home without them.
    ///   - directory: keeps structures, rooms and the identifiers of devices.
    ///   - log: records every change. What an earlier run left in it is updated: its sessions have ended.
    ///   - history: keeps what happened; nil for a home without a history.
    ///   - pictures: keeps pictures of the cameras; nil for a home that does not keep pictures.
    ///   - watchers: how many watchers of the changes may be connected at once. Principals share them; see
    ///     ``PlaceShares``.
    ///   - mayAct: whether this gateway may act for a device now, because another gateway of the home may run it. It is
    ///     called before each command takes effect.
    ///   - accessOf: what a principal may do now; without it, everybody may do everything. It must not retain the home.
    ///   - isUnknown: whether a principal's rights are unknown because their record is damaged. The principal may then
    ///     do nothing, but keeps its recording connections. The closure must not retain the home.
    ///   - observer: gets each camera's reports, and nil once a device is gone, for the log. It must not block.
    ///   - now: the wall clock.
    ///   - clock: the clock of deadlines.
    public init(
        devices: [DeviceDescription], drivers: [any DeviceBackend], signalling: SignallingServices,
        transports: HomeTransports? = nil, directory: HomeDirectory = HomeDirectory(), log: ChangeLog = ChangeLog(),
        history: History? = nil, pictures: (any PictureKeeping)? = nil,
        watchers: Int = HomeHub.standardWatchers,
        mayAct: @escaping @Sendable (_ device: String) -> Bool = { _ in true },
        accessOf: @escaping @Sendable (_ principal: String) -> Access = { _ in .everything },
        isUnknown: @escaping @Sendable (_ principal: String) -> Bool = { _ in false },
        observer: @escaping @Sendable (_ deviceID: String, CameraUpdate?) -> Void = { _, _ in },
        now: @escaping @Sendable () -> Date = { Date() },
        clock: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.directory = directory
        self.places = PlaceShares(total: watchers)
        directory.adopt(devices)
        var order: [String] = []
        for device in devices where self.states[device.id] == nil {
            order.append(device.id)
            self.states[device.id] = DeviceState(
                description: device, record: directory.record(ofDevice: device.id),
                backend: drivers.first { $0.deviceID == device.id })
        }
        self.orders = [.cameras: order]
        self.signalling = signalling
        self.transports = transports
        self.now = now
        self.clock = clock
        self.log = log
        self.historyKeeper = history
        self.pictures = pictures
        self.mayAct = mayAct
        self.accessOf = accessOf
        self.isUnknown = isUnknown
        self.observer = observer
        let (date, instant) = (now(), clock())
        self.results.adopt(log.results(since: date - CommandResults.longestLife), at: instant, date)
        for (change, time) in log.recall() {
            switch change {
            case .device(let device), .deviceAdded(let device):
                // An offline device does not change: its last entry says since when it has been offline.
                if device.connectivityState == .offline { self.offlineSince[device.id] = time }
                self.recalledDevices[device.id] = device.source == nil ? .virtual : .cameras
            case .session(_, let session): log.append(.session(.ended, session.ended), at: now())
            // A problem that persists raises its alarm again.
            case .alarm(let alarm):
                log.append(.alarm(alarm.cleared(because: "the gateway was restarted", at: now())), at: now())
            case .structure(let structure): self.knownStructures[structure.id] = structure
            case .room(let room): self.knownRooms[room.id] = room
            case .structureRemoved, .roomRemoved, .deviceRemoved, .doorbellPressed, .detection, .recordingBegan,
                .recordingEnded, .traitEvent, .configuration, .missed:
                break
            }
        }
        // What the earlier run recorded and could no longer report.
        for change in Self.changes(in: directory, structures: &self.knownStructures, rooms: &self.knownRooms) {
            log.append(change, at: now())
        }
        if let transports {
            // In order: the end of a recording comes after its beginning.
            let (changes, continuation) = AsyncStream.makeStream(of: TransportChange.self)
            transports.service.observe { continuation.yield($0) }
            Task { [weak self] in for await change in changes { await self?.take(change) } }
        }
        signalling.channels?.setHandler { [weak self] command in
            await self?.apply(command) ?? .failure(.unavailable)
        }
        let changed = signalling.views.changedSessions
        Task { [weak self] in
            while let sessions = await changed.next() {
                for session in sessions { await self?.readSession(session) }
            }
        }
    }

    deinit { signalling.views.changedSessions.finish() }

    // MARK: Devices

    /// All devices, in the config's order.
    public func devices() -> [DeviceSnapshot] {
        order.compactMap { states[$0]?.snapshot }
    }

    /// One device.
    public func device(_ id: String) throws(HomeError) -> DeviceSnapshot {
        try state(of: id).snapshot
    }

    /// What the device's speaker received, or nil when it cannot measure it.
    public func speakerReading(of id: String) throws(HomeError) -> SpeakerReading? {
        try state(of: id).driver?.speakerReading
    }

    /// Presses the doorbell's button.
    public func press(_ id: String) async throws(HomeError) {
        let state = try self.state(of: id)
        guard state.description.kind == .doorbell else {
            throw HomeError.unimplemented("device \(id) is not a doorbell: it has no trait DoorbellPress")
        }
        guard let driver = state.driver else {
            throw HomeError.unavailable("no camera is connected to device \(id)")
        }
        try await driver.press()
    }

    // MARK: Life

    /// Adopts one update of a device.
    func apply(_ update: CameraUpdate, deviceID: String) {
        if states[deviceID] != nil { observer(deviceID, update) }
        switch update {
        case .source(let status):
            change(deviceID) { state in
                let isOnDemand = state.driver?.isOnDemand ?? false
                state.updateCamera { $0.update(status, isOnDemand: isOnDemand) }
            }
            describeStreams(status, of: deviceID)
            // What a session's notes say about its tracks may have changed.
            for session in knownSessions.values where session.session.deviceID == deviceID {
                signalling.views.changedSessions.add(session.session.mediaSessionId)
            }
        case .eventSource(let status): change(deviceID) { $0.updateCamera { $0.eventSource = status } }
        case .attributes(let traits): change(deviceID) { $0.update(traits) }
        case .settings(let settings): change(deviceID) { $0.updateCamera { $0.settings = settings } }
        case .doorbellPressed(let press):
            let event = publish(.doorbellPressed(deviceID: deviceID, at: now(), press))
            trigger(pressOf: deviceID, event: event.text)
        case .detection(let detection):
            guard states[deviceID] != nil else { return }
            let event = publish(.detection(deviceID: deviceID, at: now(), detection))
            trigger(detection, of: deviceID, event: event.text)
            change(deviceID) { $0.updateCamera { $0.update(detection) } }
        case .endpoints, .report, .connectivity, .traitConnectivity, .together: change(deviceID) { $0.update(update) }
        case .event(let event):
            guard states[deviceID] != nil else { return }
            publish(.traitEvent(deviceID: deviceID, at: now(), event))
        }
    }

    /// Changes a device's state, and reports it if the state is then different.
    func change(_ deviceID: String, _ body: (inout DeviceState) -> Void) {
        guard var state = states[deviceID] else { return }
        let before = state.snapshot
        body(&state)
        states[deviceID] = state
        let after = state.snapshot
        guard after != before else { return }
        publish(.device(after))
        historyKeeper?.take(.states(before: before, after: after, at: History.milliseconds(now())))
    }

    /// Adds a change to the log, from where every watcher gets it.
    /// - Parameter time: when it happened; nil for now.
    /// - Returns: its cursor, by which clients know an event.
    @discardableResult
    func publish(_ change: HomeChange, at time: Date? = nil) -> LogCursor {
        let now = time ?? self.now()
        historyKeeper?.take(change, at: now)
        reportToObservers(change)
        let encoded = change.encoded()
        switch change {
        case .device(let device), .deviceAdded(let device):
            keep(encoded.data, of: device)
            recordConnectivity(of: device, at: now)
        case .deviceRemoved(let id):
            presentEvents[id] = nil
            offlineSince[id] = nil
        default: break
        }
        return log.append(encoded, at: now)
    }

    func state(of id: String) throws(HomeError) -> DeviceState {
        guard let state = states[id] else {
            throw Self.unknownDevice(id)
        }
        return state
    }

    /// Fails unless the home has this device.
    /// - Throws: `notFound`.
    public func requireDevice(_ id: String) throws(HomeError) {
        _ = try state(of: id)
    }
}
