import DatagramPort
import Dispatch
import HomeTypes
import MediaRelay
import SDP
import Stations
import Transport

/// The recorders of the cameras, one for each connection that records: it carries out what the connections decide.
///
/// What is asked of it is done on one queue, in the order in which it was asked. The recorders do their own work on the
/// recording threads.
public final class CameraRecorders: RecordingDriving {
    private struct Key: Hashable {
        let device: String
        let connection: UInt16
    }

    /// A recorder, with the options of the connection that it was made for.
    private struct Recorder: Sendable {
        var recorder: CameraRecorder
        /// Distinguishes the recorders of one connection.
        var number: Int
        var options: TransportOptions
    }

    private struct State: Sendable {
        var stations: [String: CameraStation] = [:]
        var recorders: [Key: Recorder] = [:]
        /// Recorders that others have replaced, by their numbers, until their last recording has been handed over.
        var retiring: [Int: CameraRecorder] = [:]
        var nextRecorder = 0
        /// How much the connections need before their triggers, and what keeps it.
        var preRolls: [Key: Duration] = [:]
        var holds: [Key: CameraHold] = [:]
        /// What records now, so that it goes on at a camera that got another station.
        var orders: [Key: RecordingOrder] = [:]
        /// The connections whose order's number belongs to a session already.
        var numbered: Set<Key> = []
        /// What to call when an order's first session has begun, by the order's number.
        var announcements: [Key: [UInt64: @Sendable () -> Void]] = [:]
        var sequences: [String: UInt32] = [:]
        /// Recordings that were ordered while the camera's outputs did not allow them.
        var refused: Set<Key> = []
        /// When the microphones of the cameras were muted for recordings.
        var gates: [String: SoundGate] = [:]
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "recorders")
    private let relay: MediaRelay
    private let sink: any RecordingSink
    /// Learns where each recording goes before it begins.
    private let destinations: UploadDestinations
    private let threads: RecordingThreads
    /// The number of a session that follows one that was cut; it may wait for the disk.
    private let nextNumber: @Sendable (_ device: String, _ connection: UInt16) -> UInt64?
    /// The epoch of the tenure under which the gateway records a device.
    private let epoch: @Sendable (_ device: String) -> UInt64
    private let report: @Sendable (_ device: String, CameraRecorder.Report) -> Void

    /// - Parameters:
    ///   - relay: where the cameras' tracks are.
    ///   - sink: takes the sessions.
    ///   - destinations: learns where each recording goes.
    ///   - threads: where the work is done.
    ///   - epoch: the epoch of the tenure under which the gateway records a device.
    ///   - nextNumber: numbers a session that follows one that was cut. It is called on a recording thread, and may wait.
    ///   - report: learns what the recorders of a device report, on a recording thread. It must not wait.
    public init(
        relay: MediaRelay, sink: any RecordingSink, destinations: UploadDestinations = UploadDestinations(),
        threads: RecordingThreads = RecordingThreads(), epoch: @escaping @Sendable (_ device: String) -> UInt64,
        nextNumber: @escaping @Sendable (_ device: String, _ connection: UInt16) -> UInt64? = { _, _ in nil },
        report: @escaping @Sendable (_ device: String, CameraRecorder.Report) -> Void
    ) {
        self.relay = relay
        self.sink = sink
        self.destinations = destinations
        self.threads = threads
        self.epoch = epoch
        self.nextNumber = nextNumber
        self.report = report
    }

    // MARK: What is asked

    /// The cameras that run now. Recordings of one whose station is another one now go on there.
    public func setStations(_ stations: [CameraStation]) {
        let now = MonotonicClock.now
        queue.async { self.adopt(stations, at: now) }
    }

    public func begin(_ order: RecordingOrder, began: @escaping @Sendable () -> Void) {
        let key = Key(device: order.device, connection: order.connection.id)
        queue.async {
            self.destinations.set(order.connection, of: order.device)
            self.state.withLock { state in
                state.orders[key] = order
                state.numbered.remove(key)
                state.announcements[key, default: [:]][order.number] = began
            }
            self.start(order, of: key)
        }
    }

    public func add(_ trigger: RecordingSession.Trigger, to connection: UInt16, of device: String) {
        let now = MonotonicClock.now
        queue.async {
            self.state.withLock { $0.recorders[Key(device: device, connection: connection)] }?
                .recorder.extend(trigger, at: now)
        }
    }

    public func end(_ connection: UInt16, of device: String, reason: RecordingEnd.Reason) {
        let key = Key(device: device, connection: connection)
        let now = MonotonicClock.now
        queue.async {
            let recorder = self.state.withLock { state in
                state.orders[key] = nil
                return state.recorders[key]?.recorder
            }
            recorder?.stop(reason, at: now)
        }
    }

    /// Connections have ended because their principals may no longer have the footage: nothing that begins on them from now
    /// on is uploaded, not even what was ordered before.
    public func endUploads(of connections: [TransportConnection], on device: String) {
        for connection in connections { destinations.end(connection, of: device) }
        // What was ordered before is ahead of this in the queue, and nothing is ordered on them any more.
        queue.async { for connection in connections { self.destinations.settle(connection, of: device) } }
    }

    public func setPreRoll(_ preRoll: Duration?, of connection: UInt16, of device: String) {
        let key = Key(device: device, connection: connection)
        queue.async {
            self.state.withLock { $0.preRolls[key] = preRoll }
            self.hold(key)
            if preRoll == nil { self.release(key) }
        }
    }

    /// The outputs of a camera have changed. A recording that was refused and is still wanted begins: a connection that
    /// becomes active orders it before the camera is on.
    public func resume(_ device: String) {
        queue.async {
            let due = self.state.withLock { state in
                let keys = state.refused.filter { $0.device == device }
                state.refused.subtract(keys)
                return keys.compactMap { key in state.orders[key].map { (key, $0) } }
            }
            for (key, order) in due { self.start(order, of: key) }
        }
    }

    /// What the recorders that there are have done.
    public var counters: [(device: String, counters: CameraRecorder.Counters)] {
        state.withLock { state in state.recorders.map { ($0.key.device, $0.value.recorder) } }
            .map { ($0.0, $0.1.counters) }
    }

    /// How much is remembered of connections, for tests.
    var remembered: Int {
        queue.sync {}
        return state.withLock { state in
            state.recorders.count + state.retiring.count + state.preRolls.count + state.orders.count
                + state.numbered.count + state.announcements.count + state.refused.count
        }
    }

    /// How often tracks of a camera have been tapped, for tests.
    func taps(of device: String) -> Int {
        state.withLock { $0.recorders.filter { $0.key.device == device }.map(\.value.recorder) }
            .reduce(0) { $0 + $1.taps }
    }

    /// How many tasks wait for the recorders of a camera, for tests.
    func waits(for device: String) -> Int {
        state.withLock { $0.recorders.filter { $0.key.device == device }.map(\.value.recorder) }
            .reduce(0) { $0 + $1.waitCount }
    }

    /// Waits until no session is open and what was asked before has been done, at most `patience`, and no longer than
    /// until the task is cancelled.
    /// - Returns: whether that is so.
    @discardableResult
    public func waitUntilIdle(atMost patience: Duration) async -> Bool {
        let deadline = ContinuousClock.now + patience
        // What was asked before is on the queue.
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        // Each has the rest of the time, so the loop ends with it.
        while let recorder = busyRecorder {
            guard await recorder.waitUntilIdle(atMost: ContinuousClock.now.duration(to: deadline)) else { return false }
        }
        return true
    }

    /// One that has a session open, or something left to do. One that retires is busy until it has stopped.
    private var busyRecorder: CameraRecorder? {
        state.withLock { $0.recorders.values.map(\.recorder) + $0.retiring.values }.first(where: \.isBusy)
    }

    /// Ends the threads. What has been recorded so far has been handed over when ``end(_:of:reason:)`` came before.
    public func stop() {
        queue.sync {}
        threads.stop()
    }

    // MARK: On the queue

    private func adopt(_ stations: [CameraStation], at now: Instant) {
        let byID = Dictionary(stations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let known = state.withLock { $0.stations }
        let changed = Set(known.keys).union(byID.keys).filter { known[$0] !== byID[$0] }
        let gates = byID.filter { changed.contains($0.key) }.mapValues { SoundGate($0, now: { MonotonicClock.now }) }
        // What the old gates hold is released outside of the lock.
        let (stale, orders, preRolls, oldGates) = state.withLock { state in
            let stale = state.recorders.filter { changed.contains($0.key.device) }
            for (key, one) in stale {
                state.recorders[key] = nil
                state.retiring[one.number] = one.recorder
            }
            state.stations = byID
            let oldGates = state.gates
            for id in changed { state.gates[id] = gates[id] }
            return (
                stale.values.map(\.recorder), state.orders.filter { changed.contains($0.key.device) },
                state.preRolls.keys.filter { changed.contains($0.device) }, oldGates
            )
        }
        withExtendedLifetime(oldGates) {}
        for recorder in stale { recorder.stop(.cameraAway, at: now) }
        for key in preRolls { hold(key) }
        for (key, order) in orders { start(order, of: key, from: now) }
    }

    /// Begins what was ordered. While no camera runs, it waits for one.
    /// - Parameter moment: when a recording goes on that has run before; nil for one that begins with its pre-roll.
    private func start(_ order: RecordingOrder, of key: Key, from moment: Instant? = nil) {
        guard let recorder = recorder(key, order.connection) else { return }
        let isNumbered = state.withLock { $0.numbered.contains(key) }
        recorder.start(
            order.trigger, triggeredAt: moment ?? order.triggeredAt, preRoll: moment == nil ? order.preRoll : .zero,
            notBefore: order.notBefore, number: isNumbered ? nil : order.number)
    }

    /// The recorder of a connection; nil while no camera runs.
    private func recorder(_ key: Key, _ connection: TransportConnection) -> CameraRecorder? {
        let (known, station, gate, number) = state.withLock { state in
            state.nextRecorder += 1
            return (
                state.recorders[key], state.stations[key.device], state.gates[key.device], state.nextRecorder
            )
        }
        if let known, known.options == connection.options { return known.recorder }
        guard let station else { return nil }
        var configuration = CameraRecorder.Configuration(device: key.device, connection: key.connection)
        configuration.adopt(connection.options)
        let made = CameraRecorder(
            station: station, relay: relay, configuration: configuration, threads: threads, sink: sink, gate: gate,
            naming: { [weak self] in
                self?.name(key, start: $0, number: $1) ?? (Self.unknown(key, $0), Self.lateNumber($0))
            },
            report: { [weak self] in self?.take($0, of: key, from: number) })
        state.withLock { state in
            state.recorders[key] = Recorder(recorder: made, number: number, options: connection.options)
            if let known { state.retiring[known.number] = known.recorder }
        }
        // It has stopped, or is stopping. This reports when it has handed over everything.
        known?.recorder.stop(.cut)
        return made
    }

    /// Gives up the recorder of a connection that records nothing and needs nothing: it may have been deallocated. The
    /// next order makes another one.
    private func release(_ key: Key) {
        let released = state.withLock { state -> CameraRecorder? in
            guard state.orders[key] == nil, let known = state.recorders.removeValue(forKey: key) else { return nil }
            state.retiring[known.number] = known.recorder
            return known.recorder
        }
        // It reports when it has handed over everything.
        if let released { released.stop(.inactive) } else { forget(key) }
    }

    /// Forgets what is known of a connection that has no recorder and no order.
    private func forget(_ key: Key) {
        let isForgotten = state.withLock { state in
            guard state.recorders[key] == nil, state.orders[key] == nil, state.preRolls[key] == nil else {
                return false
            }
            state.announcements[key] = nil
            state.numbered.remove(key)
            state.refused.remove(key)
            return true
        }
        if isForgotten { destinations.forget(key.connection, of: key.device) }
    }

    /// Keeps what a connection needs before its triggers.
    private func hold(_ key: Key) {
        let (preRoll, station) = state.withLock { ($0.preRolls[key], $0.stations[key.device]) }
        // A camera that is pulled on demand would be pulled all the time for its pre-roll. Its recordings begin with what is
        // there.
        let new = preRoll.flatMap { preRoll in
            station.flatMap { $0.pull == .always ? $0.hold(for: .preRoll(preRoll)) : nil }
        }
        // The old hold ends after the new one has begun, so that nothing in between is dropped.
        let old = state.withLock { state in
            defer { state.holds[key] = new }
            return state.holds[key]
        }
        old?.end()
    }

    // MARK: What the recorders say

    private func take(_ report: CameraRecorder.Report, of key: Key, from recorder: Int) {
        self.report(key.device, report)
        switch report {
        case .began(let session): announce(session, of: key)
        case .refused:
            let (station, usage) = state.withLock { state in
                state.refused.insert(key)
                return (state.stations[key.device], state.recorders[key]?.recorder.configuration.usage ?? .recording)
            }
            // The camera may have been switched on between the refusal and now.
            if station?.outputs.refusal(of: usage) == nil { resume(key.device) }
        case .stopped:
            // What it held is released outside of the lock.
            let retired = state.withLock { $0.retiring.removeValue(forKey: recorder) }
            // An order may be on its way.
            if retired != nil { queue.async { self.forget(key) } }
        case .ended, .fault, .keyFrameInterval: break
        }
    }

    /// Reports a recording to the one who ordered it.
    private func announce(_ session: RecordingSession, of key: Key) {
        let began = state.withLock { state -> (@Sendable () -> Void)? in
            // Numbers rise. Orders before this one have come to nothing.
            let numbers = state.announcements[key, default: [:]].keys.filter { $0 <= session.number }
            defer { for number in numbers { state.announcements[key]?[number] = nil } }
            return numbers.max().flatMap { state.announcements[key]?[$0] }
        }
        began?()
    }

    /// Names a session. The order's number belongs to the first one. A session that follows within a recording, because the one
    /// before was cut, has the next number. The recording thread calls this.
    private func name(_ key: Key, start: Int64, number: UInt64?) -> (id: RecordingSession.ID, number: UInt64) {
        let known = number
        let number = known ?? nextNumber(key.device, key.connection) ?? Self.lateNumber(start)
        let epoch = self.epoch(key.device)
        return state.withLock { state in
            if known != nil { state.numbered.insert(key) }
            let sequence = (state.sequences[key.device] ?? 0) + 1
            state.sequences[key.device] = sequence
            return (
                RecordingSession.ID(device: key.device, start: start, epoch: epoch, sequence: sequence), number
            )
        }
    }

    /// The number of a session whose connection has been deallocated meanwhile. Numbers that are counted are far below, so
    /// its objects do not take the place of others.
    private static func lateNumber(_ start: Int64) -> UInt64 { UInt64(max(start, 1)) }

    private static func unknown(_ key: Key, _ start: Int64) -> RecordingSession.ID {
        RecordingSession.ID(device: key.device, start: start, epoch: 0, sequence: 0)
    }
}

extension CameraRecorder.Configuration {
    /// Adopts what a connection's options say about streams and times.
    mutating func adopt(_ options: TransportOptions) {
        let picture = options.videoStreams?.first, sound = options.audioStreams?.first
        stream = picture?.videoStreamID == AllocatedStreams.subVideo ? .sub : .main
        pictureName = picture?.videoStreamName
        soundName = sound?.audioStreamName
        usage = OutputUsage(options.streamUsage)
        guard let cmaf = options.containerOptions.cmafContainerOptions else { return }
        segmentDuration = .milliseconds(Int(cmaf.segmentDuration))
        chunkDuration = .milliseconds(Int(cmaf.chunkDuration))
    }
}

extension OutputUsage {
    /// What a connection's recordings are for.
    init(_ usage: StreamUsage) {
        switch usage {
        case .liveView: self = .liveView
        case .analysis: self = .analysis
        case .recording, .internal, .unrecognized_: self = .recording
        }
    }
}
