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
        in directory: StateDirectory, recordings root: String, isNamed: @escaping @Sendable (UInt16) -> Bool,
        alarms: RecordingAlarms, logger: Logger
    ) throws(UploadStorageFailure) {
        let destinations = UploadDestinations()
        // The endpoints ask the uploader whether footage waits for one, and the uploader asks them for their secrets.
        let uploading = Locked<RecordingUploader?>(nil)
        let endpoints = try UploadEndpoints(stateFolder: directory.path) { id in
            isNamed(id) || uploading.withLock { $0 }?.holds(endpoint: id) ?? false
        }
        self.uploader = try RecordingUploader(
            layout: RecordingLayout(root: root),
            storage: UploadJournal(path: directory.file(Self.journalName)), endpoint: { endpoints.endpoint($0) },
            destination: { session in
                guard var destination = destinations.destination(of: session) else { return nil }
                // An S3 store wants to know the length of an object before it begins.
                if case .s3 = endpoints.endpoint(destination.endpoint)?.kind {
                    destination.uploadsWhileRecording = false
                }
                return destination
            },
            report: {
                Self.take($0, logger: logger)
                alarms.take($0)
            })
        uploading.withLock { [uploader] in $0 = uploader }
        self.endpoints = endpoints
        self.destinations = destinations
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

/// Where the recordings of each connection go: the recorder's thread asks, and the connections decide.
final class UploadDestinations: Sendable {
    private struct Key: Hashable {
        let device: String
        let connection: UInt16
    }

    private let byConnection = Locked<[Key: UploadDestination]>([:])

    /// The connection of a recording that is about to begin.
    func set(_ connection: TransportConnection, of device: String) {
        let destination = UploadDestination(connection.options)
        byConnection.withLock { $0[Key(device: device, connection: connection.id)] = destination }
    }

    /// Where a recording goes; nil when it stays in the local store.
    func destination(of session: RecordingSession) -> UploadDestination? {
        byConnection.withLock { $0[Key(device: session.id.device, connection: session.connection)] }
    }
}

extension UploadDestination {
    /// Nil for the local store.
    init?(_ options: TransportOptions) {
        guard options.tlsEndpointID != 0 else { return nil }
        let container = options.containerOptions.cmafContainerOptions
        let interface: UploadInterface =
            switch container?.cmafInterface {
            case .interface2DASH: .dash
            case .interface2HLS: .hls
            case .interface1, .unrecognized_, nil: .interface1
            }
        self.init(
            endpoint: options.tlsEndpointID, url: options.url, interface: interface,
            segmentDuration: Int(container?.segmentDuration ?? 4_000),
            uploadsWhileRecording: interface != .hls && (container?.chunkDuration ?? 0) > 0)
    }
}
