import DatagramPort
import Dispatch
import HomeTypes
import Transport

/// The recording connections of all cameras: it keeps their tables, runs their triggers, and orders recordings.
///
/// Everything that changes runs on one queue, because what a command changes is on the disk before the next one begins.
/// Reading does not wait for the disk.
public final class TransportService: Sendable {
    /// The clocks and the timer; tests have their own.
    public struct Clocks: Sendable {
        /// The clock of the triggers.
        public var now: @Sendable () -> Instant = { MonotonicClock.now }
        /// Milliseconds since 1970, UTC, for what outlives a restart.
        public var wall: @Sendable () -> Int64 = { WallClock.milliseconds }
        /// Calls on the queue after a time.
        public var after: @Sendable (DispatchQueue, Duration, @escaping @Sendable () -> Void) -> Void = {
            queue, time, body in
            let (seconds, attoseconds) = time.components
            queue.asyncAfter(
                deadline: .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000) + 1_000_000),
                execute: body)
        }

        /// The system's.
        public init() {}
    }

    /// One camera.
    struct Camera: Sendable {
        var table: ConnectionTable
        var capabilities: CameraCapabilities
        /// The triggers of each connection.
        var machines: [UInt16: Machine] = [:]
        /// The newest session of each session group since the start.
        var sessions: [String: SharedSession] = [:]
        /// Whether the home has the camera now. Connections of one that is only remembered do nothing.
        var isPresent = false

        /// The connections that record.
        var recording: Set<UInt16> { Set(machines.filter { $0.value.machine.isRecording }.keys) }
    }

    struct Machine: Sendable {
        var machine: TriggerMachine
        var settings: TriggerSettings
        var stopped: RecordingEnd.Reason?
        /// The number of the recording that runs, which is that of its first session, and the number of its newest one.
        var order: UInt64 = 0
        var number: UInt64 = 0
        /// Whether its begin has been reported.
        var isAnnounced = false
        /// A recording that ended before its begin could be reported.
        var unannounced: (order: UInt64, number: UInt64, reason: RecordingEnd.Reason)?
        /// The pre-roll that the recorder was asked for.
        var preRoll: Duration?
        /// The options that the recording which runs was begun with.
        var options: TransportOptions?
    }

    struct State: Sendable {
        var cameras: [String: Camera] = [:]
        /// The endpoints that uploads can go to.
        var endpoints: Set<UInt16> = []
        var observers: [@Sendable (TransportChange) -> Void] = []
        /// The cameras whose connections are other ones than on the disk.
        var unkept: [String: Unkept] = [:]
        /// Endpoints that are about to be deleted. No connection can refer to them now.
        var givenUp: Set<UInt16> = []
        /// Counts the timers; an older one does nothing.
        var timer: UInt64 = 0
        /// Whether cameras of which nothing is kept begin switched off.
        var startsOff: Bool

        /// The endpoints that connections can name.
        var offered: Set<UInt16> { endpoints.subtracting(givenUp) }

        /// Reports to the cameras which endpoints there are.
        mutating func adoptEndpoints() {
            let offered = offered
            for device in Array(cameras.keys) { cameras[device]?.capabilities.endpoints = offered }
        }
    }

    /// How many cameras that the home has lost are remembered.
    static let maximumAway = 100

    let state: Locked<State>
    let queue = DispatchQueue(label: "recording connections")
    let storage: any ConnectionStorage
    /// Records; nil if the config switches recording off. Connections exist anyway.
    let recorder: (any RecordingDriving)?
    let clocks: Clocks
    private static let isOnQueue = DispatchSpecificKey<Bool>()

    /// Reads what is kept.
    /// - Parameter startsOff: whether what an earlier run kept has been lost. The first cameras of the home then begin
    ///   switched off, because each of them may have been off or private.
    /// - Throws: what the storage throws. A gateway continues with a ``ForgetfulConnectionStorage`` then.
    public init(
        storage: any ConnectionStorage = ForgetfulConnectionStorage(), startsOff: Bool = false,
        recorder: (any RecordingDriving)? = nil, clocks: Clocks = Clocks()
    ) throws(RecordingFault) {
        self.state = Locked(State(startsOff: startsOff))
        self.storage = storage
        self.recorder = recorder
        self.clocks = clocks
        queue.setSpecific(key: Self.isOnQueue, value: true)
        for (device, table) in try storage.load() {
            state.withLock { $0.cameras[device] = Camera(table: table, capabilities: CameraCapabilities()) }
        }
    }

    /// Whether recordings are made at all.
    public var records: Bool { recorder != nil }

    /// Does something on the queue: at once if this is the queue.
    func onQueue(_ body: @escaping @Sendable (TransportService) -> Void) {
        if DispatchQueue.getSpecific(key: Self.isOnQueue) == true { return body(self) }
        queue.async { body(self) }
    }

    /// Calls `handler` for each change from now on, on the service's queue, before the change is acknowledged. It may wait for
    /// the disk, as the change itself does, and for nothing else.
    public func observe(_ handler: @escaping @Sendable (TransportChange) -> Void) {
        state.withLock { $0.observers.append(handler) }
    }

    // MARK: Reading

    /// The connections of a camera; nil for one that the home does not have.
    public func table(of device: String) -> ConnectionTable? {
        state.withLock { state in
            guard let camera = state.cameras[device], camera.isPresent else { return nil }
            return camera.table
        }
    }

    /// What is kept of a camera, also before the home has it: what is permitted when its station begins.
    public func kept(of device: String) -> ConnectionTable? {
        state.withLock { $0.cameras[device]?.table ?? ($0.startsOff ? ConnectionTable().switchedOff : nil) }
    }

    /// What is kept of some cameras.
    public func kept(of devices: [String]) -> [String: ConnectionTable] {
        state.withLock { state in state.cameras.filter { devices.contains($0.key) }.mapValues(\.table) }
    }

    /// What is kept of every camera, also of those that are away.
    public var allConnections: [String: [TransportConnection]] {
        state.withLock { $0.cameras.mapValues(\.table.connections) }
    }

    /// What connections of a camera can be.
    public func capabilities(of device: String) -> CameraCapabilities? {
        state.withLock { $0.cameras[device]?.capabilities }
    }

    /// The connections of a camera that record now.
    public func recordingConnections(of device: String) -> Set<UInt16> {
        state.withLock { $0.cameras[device]?.recording ?? [] }
    }

    // MARK: Changing

    /// Applies a change of a camera's connections as a whole. It is kept before it is acknowledged.
    /// - Throws: what the change throws, `notFound` for a camera that the home does not have, and `notKept` when the disk
    ///   does not take it.
    public func change<Value: Sendable>(
        _ device: String,
        _ body: @escaping @Sendable (inout ConnectionTable, CameraCapabilities, Int64) throws(TransportFault) -> Value
    ) async throws(TransportFault) -> Value {
        let result: Result<Value, TransportFault> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(TransportFault) {
                    continuation.resume(returning: .success(try self.apply(device, body)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// `manuallyTriggerTransport`.
    public func trigger(
        _ connection: UInt16, of device: String, _ trigger: RecordingTrigger, _ time: TransportTimeControl?,
        for principal: String
    ) async throws(TransportFault) {
        guard records else { throw .nothingIsRecorded }
        let duration = try await change(device) { table, _, _ throws(TransportFault) in
            try table.checkManualTrigger(connection, time, for: principal)
        }
        queue.async { self.feed(.command(trigger, duration), to: connection, of: device) }
    }

    /// The number of a session that follows another one within a recording, because that one was cut. It waits for the disk:
    /// with the number of the one before, an upload would put its objects in the place of older ones.
    /// - Returns: nil for a camera that the home does not have.
    public func nextSessionNumber(on connection: UInt16, of device: String) -> UInt64? {
        queue.sync { () -> UInt64? in
            guard let found = state.withLock({ $0.cameras[device]?.table.connection(connection) }) else { return nil }
            return sessionNumber(of: found, in: device, mayBeShared: false)
        }
    }

    /// Motion, its end, or a press: every connection of the camera decides for itself.
    public func take(_ input: TriggerMachine.Input, of device: String) {
        queue.async {
            for connection in self.state.withLock({ $0.cameras[device]?.machines.keys.sorted() ?? [] }) {
                self.feed(input, to: connection, of: device)
            }
        }
    }

    /// What a camera sends, once it has described itself.
    public func describe(_ device: String, _ streams: AllocatedStreams) {
        guard !streams.video.isEmpty || !streams.audio.isEmpty else { return }
        queue.async { self.record(device) { $0.describe(streams) } }
    }

    /// How far the key frames of one of a camera's pictures are apart, in milliseconds; nil where that is not steady.
    public func recordKeyFrameInterval(_ interval: UInt16?, of video: UInt16, of device: String) {
        queue.async { self.record(device) { $0.setKeyFrameInterval(interval, of: video) } }
    }

    /// Makes the cameras those of the home. A camera that is new gets its own connection, which is active unless what was kept
    /// has been lost. One that is gone records nothing, and is as it was when it comes back.
    /// - Parameter mayKeep: whether a principal may have the footage of a camera. It is asked about the connections of each
    ///   camera that comes: a right may have ended while the gateway was stopped, or while the camera was away.
    public func setCameras(
        _ cameras: [String: OwnConnection],
        mayKeep: (_ principal: String, _ device: String) -> Bool = { _, _ in true }
    ) {
        queue.sync {
            for (device, wanted) in cameras.sorted(by: { $0.key < $1.key }) {
                if self.state.withLock({ $0.cameras[device]?.isPresent == false }) {
                    self.endConnections(on: device) { mayKeep($0, device) }
                }
                self.add(device, wanted)
            }
            let gone = state.withLock { state in
                state.cameras.filter { $0.value.isPresent && cameras[$0.key] == nil }.keys.sorted()
            }
            for device in gone { self.remove(device) }
            // Those that left while the gateway was stopped.
            let lost = state.withLock { state in
                state.cameras.filter { !$0.value.isPresent && $0.value.table.removedAt == nil }.keys.sorted()
            }
            for device in lost { self.recordAbsence(of: device) }
            // Cameras that come later are new.
            state.withLock { $0.startsOff = false }
        }
    }

    /// Sets the endpoints that uploads can go to.
    /// - Parameters:
    ///   - endpoints: reads them. What was read last counts.
    ///   - areAllKnown: whether there are no others. While their file cannot be used, a connection to one that is not known
    ///     stays: the owner may restore the file.
    public func setEndpoints(_ endpoints: @autoclosure () -> Set<UInt16>, areAllKnown: Bool = true) {
        queue.sync {
            let all = endpoints()
            state.withLock { state in
                state.endpoints = all
                state.adoptEndpoints()
            }
            if areAllKnown { endConnectionsOfAbsentCameras(exceptTo: all) }
        }
    }

    /// Ends every recording, because the gateway stops.
    public func stop() {
        queue.sync {
            for device in state.withLock({ $0.cameras.keys.sorted() }) {
                self.feedAll(.stop(.gatewayStopped), of: device)
            }
            state.withLock { $0.cameras = [:] }
        }
    }
}
