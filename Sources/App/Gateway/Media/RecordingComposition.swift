import DatagramPort
import Dispatch
import Logging
import MediaRelay
import PushAvStreamTransport
import RecordingIndex
import RecordingUpload
import ServiceLifecycle
import Stations
import Transport

/// The local store of recordings and the recorders that fill it, as far as the config asks for them.
public struct RecordingComposition: Sendable {
    /// The recordings.
    public let store: RecordingStore
    /// Where they are.
    let place: RecordingPlace
    private let section: GatewayConfiguration.Recording
    /// Says when the store knows the recordings of earlier runs.
    let recovery = RecordingRecovery()
    /// What records.
    let recorders: CameraRecorders
    /// What uploads them.
    let uploads: RecordingUploads
    /// What the owner has to know.
    let alarms: RecordingAlarms
    /// By what they grow old.
    let time: RetentionTime
    let logger: Logger

    /// Opens the store; nil if the config has no section `recording`.
    static func make(
        configuration: GatewayConfiguration, stateDirectory: StateDirectory, relay: MediaRelay,
        outputs: CameraOutputs, logger: Logger
    ) throws -> RecordingComposition? {
        guard let section = configuration.recording else { return nil }
        let wallClock: @Sendable () -> Int64 = { WallClock.milliseconds }
        try stateDirectory.create()
        let alarms = RecordingAlarms()
        let place = RecordingPlace(section.folder, in: stateDirectory)
        let folder = place.folder.path
        let uploads = RecordingUploads(
            in: stateDirectory, recordings: folder, outputs: outputs, limits: section.uploadLimits,
            mayUpload: { outputs.mayAct(for: $0) },
            reasonToHold: { place.reasonToHold ?? outputs.reasonToHold(uploadsOf: $1, on: $0) },
            absence: { place.folder.problem() }, alarms: alarms, logger: logger)
        let store = try RecordingStore(
            root: folder, folder: place.folder, index: Self.index(in: stateDirectory, logger: logger),
            // Nothing is deleted before the devices are known.
            retention: RecordingRetention(), follower: uploads.uploader, now: wallClock,
            report: {
                Self.take($0, logger: logger)
                alarms.take($0)
            })
        let recorders = CameraRecorders(
            relay: relay, sink: store, destinations: uploads.destinations,
            epoch: { outputs.epoch(of: $0) },
            nextNumber: { outputs.nextSessionNumber(on: $1, of: $0) },
            report: {
                Self.take($1, of: $0, logger: logger)
                alarms.take($1, of: $0)
                outputs.take($1, of: $0)
            })
        if place.folder.problem() == nil {
            logger.notice("recordings are kept", metadata: ["folder": "\(folder)"])
        }
        return RecordingComposition(
            store: store, place: place, section: section, recorders: recorders, uploads: uploads, alarms: alarms,
            time: RetentionTime(in: stateDirectory, logger: logger), logger: logger)
    }

    /// What the routes of recordings need.
    func access(
        permits: @escaping @Sendable (_ device: String) async -> OutputPermits?
    ) -> RecordingAccess {
        var access = RecordingAccess(store: store, recovery: recovery, permits: permits)
        access.problem = { [folder = place.folder] in folder.problem().map { "\(folder.path) \($0)" } }
        return access
    }

    /// Reads what earlier runs have recorded, and completes it, if the folder can be used. It waits for the disk.
    /// - Returns: whether nothing is left to do.
    func readEarlier() -> Bool {
        defer { recovery.end() }
        guard place.folder.open() == nil else { return false }
        do throws(RecordingFault) {
            try store.recover()
            uploads.uploader.resume(from: store)
        } catch {
            if place.folder.problem() == nil {
                logger.error("earlier recordings cannot be read", metadata: ["reason": "\(error)"])
            }
        }
        // It may have gone meanwhile, and the queue of uploads may lack something then.
        guard place.folder.problem() == nil else { return false }
        place.recordRead()
        return true
    }

    /// Keeps the store in order. It waits for the disk.
    func maintain() {
        // The folder in the state folder is made again; another one may be there again.
        if place.folder.problem() != nil { place.folder.open() }
        let report = store.maintain(at: time.now())
        // The uploads wait for what the disk refused at the start. It is complete now, or there is nothing to wait for.
        guard !report.recovered.isEmpty || !report.lost.isEmpty else { return }
        uploads.uploader.resume(from: store)
    }

    /// Connections have ended because their principals may no longer have the footage: nothing more of theirs is uploaded.
    func endUploads(of connections: [TransportConnection], on device: String) {
        // First what begins, then what waits.
        recorders.endUploads(of: connections, on: device)
        uploads.uploader.endUploads(of: Set(connections.map(\.id)), on: device)
    }

    /// Keeps recordings for as long as the config says.
    /// - Parameter devices: the identifiers of the devices, by the keys that the config uses.
    func setRetention(of devices: [String: String]) {
        store.retention = RecordingRetention(section, devices: devices)
    }

    /// The index, or one in memory where its file cannot be used: the files of the recordings say everything.
    private static func index(in directory: StateDirectory, logger: Logger) -> any RecordingIndexing {
        do throws(RecordingIndexFault) {
            let index = try SQLiteRecordingIndex(path: directory.file(SQLiteRecordingIndex.fileName))
            if let aside = index.setAside {
                logger.warning(
                    "the index of recordings was damaged and is rebuilt", metadata: ["damaged": "\(aside)"])
            }
            return index
        } catch {
            logger.error(
                "the index of recordings cannot be opened; all recordings are read at each start",
                metadata: ["reason": "\(error)"])
            return MemoryRecordingIndex()
        }
    }

    /// The metrics for Prometheus.
    var metrics: [MetricFamily] {
        let counters = store.counters
        let isReady = store.condition == .ready
        func counter(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
            MetricFamily(name: name, help: help, kind: .counter, samples: [.init(value)])
        }
        return [
            MetricFamily(
                name: "gatehouse_recording_failing", help: "1 while recordings cannot be written.", kind: .gauge,
                samples: [.init(isReady ? 0 : 1)]),
            counter(
                "gatehouse_recording_sessions_total", "Recordings that have begun.", Double(counters.sessionsBegun)),
            counter("gatehouse_recording_bytes_total", "Bytes of footage on the disk.", Double(counters.chunkBytes)),
            counter(
                "gatehouse_recording_synchronizations_total", "How often a file was forced to the disk.",
                Double(counters.fileSynchronizations)),
            counter(
                "gatehouse_recording_refused_total", "How often the disk or the store accepted nothing of a recording.",
                Double(alarms.counters.faults)),
            counter(
                "gatehouse_upload_dropped_segments_total", "Segments that left the full queue of uploads.",
                Double(alarms.counters.droppedSegments)),
            counter(
                "gatehouse_upload_missing_segments_total", "Segments whose file was missing before their upload.",
                Double(alarms.counters.missingSegments)),
        ] + uploads.metrics
    }

    static func take(_ event: StoreEvent, logger: Logger) {
        switch event {
        case .condition(.ready): logger.notice("recordings can be written again")
        case .condition(let condition):
            logger.error("recordings cannot be written", metadata: ["reason": "\(condition)"])
        case .deleted(let id, let bytes, let reason):
            logger.info(
                "a recording was deleted",
                metadata: ["camera": "\(id.device)", "bytes": "\(bytes)", "reason": "\(reason.rawValue)"])
        case .recovered(let id, _):
            logger.notice("a recording that was interrupted was completed", metadata: ["camera": "\(id.device)"])
        case .unreadable(let recording):
            logger.warning(
                "a recording cannot be read and was left alone",
                metadata: ["recording": "\(recording.path): \(recording.reason)"])
        case .indexFault(let fault):
            logger.error("the index of recordings cannot be used", metadata: ["reason": "\(fault)"])
        }
    }

    static func take(_ report: CameraRecorder.Report, of device: String, logger: Logger) {
        switch report {
        case .began: logger.info("recording began", metadata: ["camera": "\(device)"])
        case .ended(_, let end):
            logger.info("recording ended", metadata: ["camera": "\(device)", "reason": "\(end.reason.rawValue)"])
        case .refused(let error):
            logger.notice("a camera is not recorded", metadata: ["camera": "\(device)", "reason": "\(error.words)"])
        case .fault(let fault):
            logger.error("nothing is recorded for a while", metadata: ["camera": "\(device)", "reason": "\(fault)"])
        case .stopped, .keyFrameInterval: break
        }
    }
}

extension GatewayConfiguration.Recording {
    /// What the queue of uploads may use.
    var uploadLimits: UploadLimits {
        var limits = UploadLimits()
        if let gigabytes = uploadGigabytes { limits.maximumByteCount = gigabytes * 1_000_000_000 }
        return limits
    }
}

extension OwnConnection {
    /// The config's rules for a camera.
    init(_ rules: GatewayConfiguration.Recording.Rules) {
        self.init(trigger: rules.trigger, preRoll: UInt16(clamping: rules.preRollSeconds * 1_000))
    }
}

extension RecordingRetention {
    /// What the config says about it.
    /// - Parameter devices: the identifiers of the devices, by the keys that the config uses.
    init(_ section: GatewayConfiguration.Recording, devices: [String: String]) {
        func share(_ rules: GatewayConfiguration.Recording.Rules) -> Share {
            Share(
                maximumAge: rules.days.map { Int64($0) * 86_400_000 },
                maximumBytes: rules.gigabytes.map { Int64($0) * 1_000_000_000 })
        }
        self.init(
            standard: share(section.rules),
            devices: Dictionary(
                section.cameras.map { (devices[$0.key] ?? $0.key, share($0.value)) },
                uniquingKeysWith: { first, _ in first }),
            maximumBytes: section.totalGigabytes.map { Int64($0) * 1_000_000_000 },
            headroom: Int64(section.freeGigabytes) * 1_000_000_000)
    }
}

/// Keeps the store in order: at the start what an earlier run left, then what is too old or too much.
struct RecordingKeeper: Service {
    let recording: RecordingComposition

    private static let interval = Duration.seconds(60)
    /// How often a folder is looked for that could not be used at the start.
    private static let shortInterval = Duration.seconds(10)
    /// How long the end of the gateway waits for the last chunks.
    private static let lastPatience = Duration.seconds(5)

    func run() async throws {
        let isReadAtStart = await Self.onThread { recording.readEarlier() }
        await cancelWhenGracefulShutdown {
            var isRead = isReadAtStart
            while (try? await Task.sleep(for: isRead ? Self.interval : Self.shortInterval)) != nil {
                if !isRead { isRead = await Self.onThread { recording.readEarlier() } }
                await Self.onThread { recording.maintain() }
                recording.alarms.tick(isQueued: recording.uploads.uploader.holds)
            }
        }
        // The home has ended all recordings by now. Their last chunks are on the way to the disk. A gateway that was
        // cancelled does not wait for them: its next start completes the recordings.
        await recording.recorders.waitUntilIdle(atMost: Self.lastPatience)
        recording.recorders.stop()
    }

    /// Waits for the disk on a separate thread.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume(returning: body()) }
        }
    }
}
