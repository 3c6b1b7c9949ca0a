import DatagramPort
import HomeTypes
import Logging
import PushAvStreamTransport
import RecordingUpload
import ServiceLifecycle
import Transport

/// The uploads of recordings: where each connection's recordings go, and what becomes of them.
struct RecordingUploads: Service {
    /// Sends what the store has written.
    let uploader: RecordingUploader
    /// Where recordings can be uploaded to.
    let endpoints: UploadEndpoints
    /// Where the recordings of each connection go.
    let destinations: UploadDestinations

    /// Opens the queue and the endpoints of a state folder.
    init(
        in directory: StateDirectory, recordings root: String, outputs: CameraOutputs, limits: UploadLimits,
        mayUpload: @escaping @Sendable (_ device: String) -> Bool = { _ in true },
        reasonToHold: @escaping @Sendable (_ device: String, _ connection: UInt16) -> String? = { _, _ in nil },
        absence: @escaping @Sendable () -> RecordingFolderProblem? = { nil },
        alarms: RecordingAlarms, logger: Logger
    ) {
        let destinations = UploadDestinations()
        // The endpoints ask the uploader whether footage waits for one, and the uploader asks them for their secrets.
        let users = Users(outputs: outputs)
        let endpoints = UploadEndpoints(stateFolder: directory.path, users: users)
        if let loss = endpoints.loss {
            Self.report(loss, logger: logger)
            alarms.take(loss)
        }
        self.uploader = RecordingUploader(
            layout: RecordingLayout(root: root),
            storage: UploadJournal(path: directory.file(Self.journalName)), limits: limits,
            endpoint: { endpoints.endpoint($0) },
            missing: { id in
                endpoints.loss.map { "the upload endpoint \(id) is not known: \($0)" }
                    ?? "the upload endpoint \(id) is no longer provisioned"
            },
            destination: { session in
                guard var destination = destinations.destination(of: session) else { return nil }
                // An S3 store wants to know the length of an object before it begins.
                if case .s3 = endpoints.endpoint(destination.endpoint)?.kind {
                    destination.uploadsWhileRecording = false
                }
                return destination
            },
            mayUpload: mayUpload, reasonToHold: reasonToHold, absence: absence,
            report: {
                Self.take($0, logger: logger)
                alarms.take($0)
            })
        users.uploader.withLock { [uploader] in $0 = uploader }
        self.endpoints = endpoints
        self.destinations = destinations
    }

    /// Connections name endpoints, and footage of connections that are gone may still wait for them.
    private final class Users: UploadEndpointUsers {
        let outputs: CameraOutputs
        let uploader = Locked<RecordingUploader?>(nil)

        init(outputs: CameraOutputs) { self.outputs = outputs }

        func uses(_ endpoint: UInt16) -> Bool {
            outputs.uses(endpoint) || uploader.withLock { $0 }?.holds(endpoint: endpoint) == true
        }

        func giveUp(_ endpoint: UInt16) -> Bool {
            guard outputs.giveUp(endpoint) else { return false }
            guard uploader.withLock({ $0 })?.holds(endpoint: endpoint) == true else { return true }
            outputs.takeBack(endpoint)
            return false
        }

        func takeBack(_ endpoint: UInt16) { outputs.takeBack(endpoint) }
    }

    /// The file of the queue in the state folder.
    private static let journalName = "uploads.jsonl"

    func run() async throws {
        await cancelWhenGracefulShutdown { await uploader.run() }
    }

    /// The metrics for Prometheus.
    var metrics: [MetricFamily] {
        let status = uploader.status
        let age = status.oldestCapturedAt.map { max(0, WallClock.now / 1_000 - $0) } ?? 0
        func gauge(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
            MetricFamily(name: name, help: help, kind: .gauge, samples: [.init(value)])
        }
        return [
            gauge("gatehouse_upload_queue_segments", "Segments that wait for their upload.", Double(status.segments)),
            gauge("gatehouse_upload_queue_bytes", "Bytes that wait for their upload.", Double(status.byteCount)),
            gauge(
                "gatehouse_upload_queue_age_seconds", "How long ago the oldest waiting segment was captured.",
                Double(age) / 1_000_000),
            gauge(
                "gatehouse_upload_failing", "Recordings whose last attempt of an upload failed.",
                Double(status.failing)),
        ]
    }

    /// The endpoints of a file that cannot be used are not known.
    static func report(_ loss: UploadStorageFailure, logger: Logger) {
        logger.error(
            "the file of the upload endpoints cannot be used; recording continues, and uploads to them wait",
            metadata: ["file": "\(loss.path)", "reason": "\(loss.reason)"])
    }

    private static func take(_ report: RecordingUploader.Report, logger: Logger) {
        switch report {
        case .queue(.completed(let id, _, let dropped)):
            logger.info(
                "a recording was uploaded", metadata: ["camera": "\(id.device)", "leftOut": "\(dropped) segments"])
        case .queue(.dropped(let id, let segments, _, let reason)):
            logger.warning(
                "footage was not uploaded",
                metadata: [
                    "camera": "\(id.device)", "segments": "\(segments)", "reason": "\(reason.rawValue)",
                ])
        case .queue(.failing(let id, let destination, let reason)):
            logger.error(
                "a recording cannot be uploaded at the moment",
                metadata: [
                    "camera": "\(id.device)", "endpoint": "\(destination.endpoint)", "reason": "\(reason)",
                ])
        case .queue(.recovered(let id, _)):
            logger.notice("a recording can be uploaded again", metadata: ["camera": "\(id.device)"])
        case .queue(.cancel): break
        case .damaged(let what):
            logger.error("the upload queue was damaged", metadata: ["reason": "\(what)"])
        case .storageFailed(let failure):
            logger.error("the upload queue cannot be written", metadata: ["reason": "\(failure)"])
        case .storageRecovered: logger.notice("the upload queue can be written again")
        }
    }
}
