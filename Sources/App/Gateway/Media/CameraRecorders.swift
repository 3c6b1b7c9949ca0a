import DatagramPort
import HomeTypes
import MediaRelay
import PushAvStreamTransport
import SDP
import Stations
import Transport

/// The recorders of the cameras, one for each connection that records: it carries out what the connections decide.
final class CameraRecorders: RecordingDriving {
    private struct Key: Hashable {
        let device: String
        let connection: UInt16
    }

    private struct State: Sendable {
        var stations: [String: CameraStation] = [:]
        var recorders: [Key: CameraRecorder] = [:]
        /// The options that each recorder was made for; nil for one that was made before its first recording.
        var options: [Key: TransportOptions] = [:]
        var preRolls: [Key: Duration] = [:]
        /// What records now, so that it goes on at a camera that got another station.
        var orders: [Key: RecordingOrder] = [:]
        /// The connections whose order's number belongs to a session already.
        var numbered: Set<Key> = []
        var sequences: [String: UInt32] = [:]
        /// Recordings that were ordered while the camera's outputs did not allow them.
        var refused: Set<Key> = []
    }

    private let state = Locked(State())
    private let relay: MediaRelay
    private let sink: any RecordingSink
    /// Learns where each recording goes before it begins.
    private let destinations: UploadDestinations
    private let threads = RecordingThreads()
    /// The number of a session that follows one that was cut; it may wait for the disk.
    private let nextNumber: @Sendable (_ device: String, _ connection: UInt16) -> UInt64?
    /// The epoch of the tenure under which the gateway records.
    private let epoch: @Sendable () -> UInt64
    private let report: @Sendable (_ device: String, CameraRecorder.Report) -> Void

    init(
        relay: MediaRelay, sink: any RecordingSink, destinations: UploadDestinations = UploadDestinations(),
        epoch: @escaping @Sendable () -> UInt64,
        nextNumber: @escaping @Sendable (_ device: String, _ connection: UInt16) -> UInt64? = { _, _ in nil },
        report: @escaping @Sendable (_ device: String, CameraRecorder.Report) -> Void
    ) {
        self.relay = relay
        self.sink = sink
        self.destinations = destinations
        self.epoch = epoch
        self.nextNumber = nextNumber
        self.report = report
    }

    /// The cameras that run now. Recordings of one whose station is another one now go on there.
    func setStations(_ stations: [CameraStation]) {
        let byID = Dictionary(stations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let (stale, orders, preRolls) = self.state.withLock { state in
            let stale = state.recorders.filter { state.stations[$0.key.device] !== byID[$0.key.device] }
            for key in stale.keys {
                state.recorders[key] = nil
                state.options[key] = nil
            }
            state.stations = byID
            return (
                stale, state.orders.filter { stale[$0.key] != nil || state.recorders[$0.key] == nil },
                state.preRolls.filter { state.recorders[$0.key] == nil }
            )
        }
        for recorder in stale.values { recorder.stop(.cameraAway) }
        for (key, preRoll) in preRolls { self.recorder(key)?.arm(preRoll: pulled(key.device) ? preRoll : nil) }
        for order in orders.values {
            self.recorder(Key(device: order.device, connection: order.connection.id), order.connection)?
                .start(order.trigger)
        }
    }

    /// What has been done since the start.
    var counters: [(device: String, counters: CameraRecorder.Counters)] {
        self.state.withLock { state in state.recorders.map { ($0.key.device, $0.value.counters) } }
    }

    func begin(_ order: RecordingOrder) {
        let key = Key(device: order.device, connection: order.connection.id)
        self.state.withLock { state in
            state.orders[key] = order
            state.numbered.remove(key)
        }
        destinations.set(order.connection, of: order.device)
        recorder(key, order.connection)?
            .start(order.trigger, triggeredAt: order.triggeredAt, preRoll: order.preRoll)
    }

    func add(_ trigger: RecordingSession.Trigger, to connection: UInt16, of device: String) {
        state.withLock { $0.recorders[Key(device: device, connection: connection)] }?.extend(trigger)
    }

    func end(_ connection: UInt16, of device: String, reason: RecordingEnd.Reason) {
        let key = Key(device: device, connection: connection)
        let recorder = self.state.withLock { state in
            state.orders[key] = nil
            return state.recorders[key]
        }
        recorder?.stop(reason)
    }

    func setPreRoll(_ preRoll: Duration?, of connection: UInt16, of device: String) {
        let key = Key(device: device, connection: connection)
        state.withLock { $0.preRolls[key] = preRoll }
        // A camera that is pulled on demand would be pulled all the time for its pre-roll. Its recordings begin with what is
        // there.
        recorder(key)?.arm(preRoll: pulled(device) ? preRoll : nil)
    }

    private func pulled(_ device: String) -> Bool {
        state.withLock { $0.stations[device] }?.pull == .always
    }

    /// The recorder of a connection; nil while no camera runs.
    private func recorder(_ key: Key, _ connection: TransportConnection? = nil) -> CameraRecorder? {
        let (known, options, station) = self.state.withLock { state in
            (state.recorders[key], state.options[key], state.stations[key.device])
        }
        // Other options need another recorder. The one before has stopped, or is stopping.
        if let known, connection == nil || options == connection?.options { return known }
        guard let station else { return nil }
        var configuration = CameraRecorder.Configuration(device: key.device, connection: key.connection)
        if let connection { configuration.adopt(connection.options) }
        let made = CameraRecorder(
            station: station, relay: relay, configuration: configuration, threads: threads, sink: sink,
            naming: { [weak self] in self?.name(key, start: $0) ?? (Self.unknown(key, $0), 0) },
            report: { [weak self] in self?.take($0, of: key) })
        let preRoll = self.state.withLock { state in
            state.recorders[key] = made
            state.options[key] = connection?.options
            return state.preRolls[key]
        }
        if let preRoll, station.pull == .always { made.arm(preRoll: preRoll) }
        return made
    }

    private func take(_ report: CameraRecorder.Report, of key: Key) {
        self.report(key.device, report)
        guard case .refused = report else { return }
        let station = self.state.withLock { state in
            state.refused.insert(key)
            return state.stations[key.device]
        }
        // The camera may have been switched on between the refusal and now.
        if station?.outputs.refusal(of: .recording) == nil { resume(key.device) }
    }

    /// The outputs of a camera have changed. A recording that was refused and is still wanted begins: a connection that
    /// becomes active orders it before the camera is on.
    func resume(_ device: String) {
        let due = self.state.withLock { state in
            let keys = state.refused.filter { $0.device == device }
            state.refused.subtract(keys)
            return keys.compactMap { key in
                state.recorders[key].flatMap { recorder in state.orders[key].map { (recorder, $0) } }
            }
        }
        for (recorder, order) in due {
            recorder.start(order.trigger, triggeredAt: order.triggeredAt, preRoll: order.preRoll)
        }
    }

    /// Names a session. The order's number belongs to the first one. A session that follows within a recording, because the one
    /// before was cut, has the next number. The recording thread calls this.
    private func name(_ key: Key, start: Int64) -> (id: RecordingSession.ID, number: UInt64) {
        let isFirst = self.state.withLock { $0.numbered.insert(key).inserted }
        let next = isFirst ? nil : nextNumber(key.device, key.connection)
        let epoch = self.epoch()
        return self.state.withLock { state in
            let sequence = (state.sequences[key.device] ?? 0) + 1
            state.sequences[key.device] = sequence
            let id = RecordingSession.ID(device: key.device, start: start, epoch: epoch, sequence: sequence)
            return (id, next ?? state.orders[key]?.number ?? 0)
        }
    }

    /// Whether a session is still open.
    var isBusy: Bool {
        state.withLock { Array($0.recorders.values) }.contains { $0.session != nil }
    }

    /// Ends the threads. What has been recorded until now has been handed over when ``end(_:of:reason:)`` came before.
    func stop() { threads.stop() }

    private static func unknown(_ key: Key, _ start: Int64) -> RecordingSession.ID {
        RecordingSession.ID(device: key.device, start: start, epoch: 0, sequence: 0)
    }
}

extension CameraRecorder.Configuration {
    /// Adopts what a connection's options say about streams and times.
    fileprivate mutating func adopt(_ options: TransportOptions) {
        let video = options.videoStreams?.first?.videoStreamID ?? AllocatedStreams.mainVideo
        stream = video == AllocatedStreams.subVideo ? .sub : .main
        recordsSound = options.audioStreams?.isEmpty == false
        guard let cmaf = options.containerOptions.cmafContainerOptions else { return }
        segmentDuration = .milliseconds(Int(cmaf.segmentDuration))
        chunkDuration = .milliseconds(Int(cmaf.chunkDuration))
    }
}

extension OwnConnection {
    /// The config's rules for a camera.
    init(_ rules: GatewayConfiguration.Recording.Rules) {
        self.init(trigger: rules.trigger, preRoll: UInt16(clamping: rules.preRollSeconds * 1_000))
    }
}
