import Foundation
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// What a privacy switch has discarded is not uploaded, whatever becomes of the queue.
@Suite("Footage that a privacy switch has discarded") struct DiscardedFootageTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("discarded-\(UUID())").path
    private let session = RecordingSession(
        id: .init(device: "door", start: 1_763_900_000_000, epoch: 1, sequence: 1), connection: 1, number: 1,
        trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_763_900_000_000,
        tracks: [
            .init(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, initializationSegment: Data())
        ])

    private var layout: RecordingLayout { RecordingLayout(root: "\(root)/recordings") }
    private var folder: String { layout.folder(of: session.id) }
    private var queuePath: String { "\(root)/uploads.jsonl" }

    private func uploader(
        report: @escaping @Sendable (RecordingUploader.Report) -> Void = { _ in }
    ) throws -> RecordingUploader {
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        return RecordingUploader(
            layout: layout, storage: UploadJournal(path: queuePath),
            deadlines: UploadDeadlines(storage: .milliseconds(10)), endpoint: { _ in nil },
            destination: { _ in
                UploadDestination(endpoint: 1, url: "https://ingest.example/", interface: .interface1)
            }, report: report)
    }

    /// Records two segments. The second one was captured at ten seconds.
    private func record(_ uploader: RecordingUploader) throws -> RecordingStore {
        let store = try RecordingStore(
            root: layout.root, index: MemoryRecordingIndex(), follower: uploader, now: { session.id.start })
        try store.take(.began(session), of: session.id)
        for number in 1...2 as ClosedRange<UInt32> {
            let time = Int64(number - 1) * 90_000
            try store.take(
                .chunk(
                    RecordedChunk(
                        track: 0, segment: number, beginsSegment: true, decodeTime: time, duration: 90_000,
                        wallTime: session.id.start * 1_000, captured: Instant.zero + .seconds(5 * Int(number)),
                        beginsWithKeyFrame: true, bytes: [UInt8](repeating: 1, count: 100))),
                of: session.id)
            try store.take(
                .segmentEnded(RecordedSegment(track: 0, segment: number, decodeTime: time, duration: 90_000)),
                of: session.id)
        }
        try store.take(
            .ended(RecordingEnd(at: session.id.start * 1_000 + 1, reason: .lengthReached)), of: session.id)
        return store
    }

    private func damageQueue() throws {
        try Data("damage\nand more of it\n".utf8).write(to: URL(fileURLWithPath: queuePath))
    }

    @Test func `it does not come back with a recording that a damaged queue does not know`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = try uploader()
        let store = try record(first)
        #expect(first.status.segments == 2)
        first.discard(device: "door", capturedFrom: .zero + .seconds(10))
        // A busy disk may take longer than the switch waits for it.
        #expect(first.discards.keep(patience: .seconds(50)) == nil)
        // The process ends at once, and its queue is damaged.
        try damageQueue()
        let second = try uploader()
        second.resume(from: store)
        #expect(second.status.segments == 1)
        let left = second.state.withLock { $0.queue.snapshot }
        #expect(left.contains(.dropped(session.id, track: 0, number: 2)))
        // Neither does it when that happens again.
        try damageQueue()
        let third = try uploader()
        third.resume(from: store)
        #expect(third.status.segments == 1)
    }

    @Test func `it is taken out of a queue whose newest records are lost, before anything is uploaded`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = try uploader()
        _ = try record(first)
        let records = first.state.withLock { $0.queue.snapshot }
        first.discard(device: "door", capturedFrom: .zero + .seconds(10))
        first.discard(device: "door", capturedFrom: .zero + .seconds(5))
        #expect(first.discards.keep(patience: .seconds(50)) == nil)
        try UploadJournal(path: queuePath).replace(with: records)
        #expect(UploadQueue(records: records).status.segments == 2)
        #expect(try uploader().status.segments == 0)
    }

    @Test func `a recording that is marked as uploaded leaves a queue whose newest records are lost`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = try uploader()
        _ = try record(first)
        let records = first.state.withLock { $0.queue.snapshot }
        try UploadJournal(path: queuePath).replace(with: records)
        try Data().write(to: URL(fileURLWithPath: "\(folder)/uploaded"))
        #expect(try uploader().status.sessions == 0)
    }

    @Test func `nothing of a recording is uploaded while it is not known what was discarded of it`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let store = try record(uploader())
        try Data("[{".utf8).write(to: URL(fileURLWithPath: "\(folder)/discarded"))
        try damageQueue()
        let reports = Locked<[RecordingUploader.Report]>([])
        let second = try uploader { report in reports.withLock { $0.append(report) } }
        second.resume(from: store)
        #expect(second.status.sessions == 0)
        let isSaid = reports.withLock { reports in
            reports.contains { if case .damaged(let what) = $0 { what.contains("/discarded: ") } else { false } }
        }
        #expect(isSaid)
        // The owner decides that all of it may be uploaded.
        try FileManager.default.removeItem(atPath: "\(folder)/discarded")
        let third = try uploader()
        third.resume(from: store)
        #expect(third.status.segments == 2)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a disk that does not take a discard gets it again, and its owner is informed`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let (reports, continuation) = AsyncStream.makeStream(of: RecordingUploader.Report.self)
        let first = try uploader { continuation.yield($0) }
        let store = try record(first)
        // A folder where the temporary file would be keeps it from being written, like a full disk.
        let obstacle = "\(folder)/discarded.new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        first.discard(device: "door", capturedFrom: .zero + .seconds(10))
        #expect(first.status.segments == 1)
        let running = Task { await first.run() }
        for await report in reports {
            if case .storageFailed = report { try FileManager.default.removeItem(atPath: obstacle) }
            if report == .storageRecovered { break }
        }
        running.cancel()
        await running.value
        try damageQueue()
        let second = try uploader()
        second.resume(from: store)
        #expect(second.status.segments == 1)
    }

    /// Begins attempts until the footage itself is next.
    private func begin(_ uploader: RecordingUploader) throws -> UploadRequest {
        let requests = uploader.state.withLock { state -> [UploadRequest] in
            for request in state.queue.ready(at: .zero) { state.queue.finished(request.attempt, .accepted, at: .zero) }
            return state.queue.ready(at: .zero)
        }
        let request = try #require(requests.first)
        try #require(request.item == .segment(track: 0, number: 1))
        return request
    }

    @Test(.timeLimit(.minutes(10)))
    func `its upload ends at once, and does not wait for a disk that stores the queue`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = try uploader()
        _ = try record(first)
        let attempt = try begin(first).attempt
        let (steps, step) = AsyncStream.makeStream(of: Void.self)
        // It goes on until it is cancelled.
        let upload = Task { for await _ in steps {} }
        first.state.withLock { $0.running[attempt] = upload }
        // Nothing runs that would store the queue, like a task that waits for its disk.
        first.discard(device: "door", capturedFrom: .zero + .seconds(5))
        #expect(upload.isCancelled)
        step.finish()
        await upload.value
    }

    @Test func `an upload of it that waits for the disk does not begin`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = try uploader()
        _ = try record(first)
        let request = try begin(first)
        first.discard(device: "door", capturedFrom: .zero + .seconds(5))
        #expect(first.status.attempts == 1)
        first.start([request], [:])
        #expect(first.status.attempts == 0)
        #expect(first.state.withLock { $0.running.isEmpty && $0.abandoned.isEmpty })
    }
}
