import Foundation
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// Uploads that wait until something is put right on this side.
@Suite("Uploads that are held") struct HeldUploadTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("held-\(UUID())").path
    private let session = RecordingSession(
        id: .init(device: "door", start: 1_763_900_000_000, epoch: 1, sequence: 1), connection: 2, number: 1,
        trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_763_900_000_000,
        tracks: [
            .init(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, initializationSegment: Data())
        ])

    private var layout: RecordingLayout { RecordingLayout(root: "\(root)/recordings") }

    /// An uploader of the recording, which has one segment and has ended, and its reports.
    private func uploader(
        endpoint: @escaping @Sendable (UInt16) -> UploadEndpoint? = { _ in nil },
        reasonToHold: @escaping @Sendable (String, UInt16) -> String? = { _, _ in nil }
    ) throws -> (RecordingUploader, AsyncStream<RecordingUploader.Report>) {
        try FileManager.default.createDirectory(
            atPath: layout.folder(of: session.id), withIntermediateDirectories: true)
        let (reports, continuation) = AsyncStream.makeStream(of: RecordingUploader.Report.self)
        let uploader = RecordingUploader(
            layout: layout, storage: UploadJournal(path: "\(root)/uploads.jsonl"),
            deadlines: UploadDeadlines(storage: .milliseconds(10)), endpoint: endpoint,
            missing: { "endpoint \($0) is in a file that cannot be used" },
            destination: { _ in
                UploadDestination(endpoint: 1, url: "https://192.0.2.1/", interface: .interface1)
            }, reasonToHold: reasonToHold, report: { continuation.yield($0) })
        uploader.wrote(.began(session), of: session.id, at: nil)
        uploader.wrote(
            .chunk(
                RecordedChunk(
                    track: 0, segment: 1, beginsSegment: true, decodeTime: 0, duration: 90_000,
                    wallTime: session.id.start * 1_000, captured: nil, beginsWithKeyFrame: true, bytes: [1, 2, 3])),
            of: session.id, at: nil)
        uploader.wrote(
            .ended(RecordingEnd(at: session.id.start * 1_000 + 1, reason: .lengthReached)), of: session.id, at: nil)
        return (uploader, reports)
    }

    /// Why the first upload cannot be made.
    private func failure(
        _ uploader: RecordingUploader, _ reports: AsyncStream<RecordingUploader.Report>
    ) async -> String? {
        let running = Task { await uploader.run() }
        var reason: String?
        for await report in reports {
            guard case .queue(.failing(_, _, let words)) = report else { continue }
            reason = words
            break
        }
        running.cancel()
        await running.value
        return reason
    }

    @Test(.timeLimit(.minutes(10)))
    func `footage for an endpoint that is not known stays in the queue, and its owner reads why`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let (held, reports) = try uploader()
        #expect(await failure(held, reports) == "endpoint 1 is in a file that cannot be used")
        #expect(held.status.segments == 1)
        // So it is after a restart.
        let stored = UploadQueue(records: UploadJournal(path: "\(root)/uploads.jsonl").load().records)
        #expect(stored.holds(session.id) && stored.holds(endpoint: 1))
    }

    @Test(.timeLimit(.minutes(10)))
    func `nothing of a connection that is held leaves`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let asked = Locked<[String]>([])
        let (held, reports) = try uploader(
            endpoint: { id in
                asked.withLock { $0.append("endpoint \(id)") }
                return nil
            },
            reasonToHold: { device, connection in
                asked.withLock { $0.append("\(device) \(connection)") }
                return "a token cannot be read"
            })
        #expect(await failure(held, reports) == "a token cannot be read")
        // It does not come as far as the endpoint.
        #expect(Set(asked.withLock { $0 }) == ["door 2"])
        #expect(held.status.segments == 1)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a disk that does not say whether it is there keeps no task waiting`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let isAskedInTask = Locked(true)
        let (held, reports) = try uploader(
            reasonToHold: { _, _ in
                // The disk may take any time here.
                let isInTask = withUnsafeCurrentTask { $0 != nil }
                isAskedInTask.withLock { $0 = isInTask }
                return "its disk does not answer"
            })
        #expect(await failure(held, reports) == "its disk does not answer")
        let isInTask = isAskedInTask.withLock { $0 }
        #expect(!isInTask)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a queue that the disk does not take at the start is stored as soon as it does`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let obstacle = "\(root)/uploads.jsonl.new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        let (held, reports) = try uploader()
        let running = Task { await held.run() }
        var hasFailed = false
        for await report in reports {
            if case .storageFailed = report, !hasFailed {
                hasFailed = true
                try FileManager.default.removeItem(atPath: obstacle)
            }
            if report == .storageRecovered { break }
        }
        running.cancel()
        await running.value
        #expect(hasFailed)
        let stored = UploadQueue(records: UploadJournal(path: "\(root)/uploads.jsonl").load().records)
        #expect(stored.holds(session.id))
    }
}
