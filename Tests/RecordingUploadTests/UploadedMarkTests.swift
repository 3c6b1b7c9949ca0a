import Foundation
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// A recording that is uploaded is marked in its folder, whatever the disk does meanwhile.
@Suite("The mark of an uploaded recording") struct UploadedMarkTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("mark-\(UUID())").path
    private let session = RecordingSession(
        id: .init(device: "door", start: 1_763_900_000_000, epoch: 1, sequence: 1), connection: 1, number: 1,
        trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_763_900_000_000,
        tracks: [
            .init(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, initializationSegment: Data())
        ])

    private var layout: RecordingLayout { RecordingLayout(root: "\(root)/recordings") }
    private var folder: String { layout.folder(of: session.id) }
    private var journal: UploadJournal { UploadJournal(path: "\(root)/uploads.jsonl") }

    /// An uploader whose reports can be awaited.
    private func uploader(
        retry: Duration
    ) throws -> (uploader: RecordingUploader, reports: AsyncStream<RecordingUploader.Report>) {
        let (reports, continuation) = AsyncStream.makeStream(of: RecordingUploader.Report.self)
        let uploader = RecordingUploader(
            layout: layout, storage: journal, deadlines: UploadDeadlines(storage: retry), endpoint: { _ in nil },
            destination: { _ in
                UploadDestination(endpoint: 1, url: "https://ingest.example/", interface: .interface1)
            }, report: { continuation.yield($0) })
        return (uploader, reports)
    }

    private func first(
        in reports: AsyncStream<RecordingUploader.Report>, where isWanted: (RecordingUploader.Report) -> Bool
    ) async -> RecordingUploader.Report? {
        for await report in reports where isWanted(report) { return report }
        return nil
    }

    private func isFailure(_ report: RecordingUploader.Report) -> Bool {
        if case .storageFailed = report { true } else { false }
    }

    @Test(.timeLimit(.minutes(10)))
    func `it is set as soon as the disk takes it, and nothing is uploaded a second time`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: layout.root, withIntermediateDirectories: true)
        // A folder where the mark's temporary file would be keeps the mark from being written, like a full disk.
        let obstacle = "\(folder)/uploaded.new"
        let mark = "\(folder)/uploaded"

        // The recording has no segments, so it is uploaded when it ends.
        let (one, reports) = try uploader(retry: .seconds(3_600))
        let store = try RecordingStore(
            root: layout.root, index: MemoryRecordingIndex(), follower: one, now: { session.id.start })
        try store.take(.began(session), of: session.id)
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        try store.take(
            .ended(RecordingEnd(at: session.id.start * 1_000 + 1, reason: .lengthReached)), of: session.id)
        let running = Task { await one.run() }
        #expect(await first(in: reports, where: isFailure) != nil)
        running.cancel()
        await running.value
        #expect(!FileManager.default.fileExists(atPath: mark))

        // The next start still has to set the mark, and does not begin from the first object again.
        let (other, later) = try uploader(retry: .milliseconds(10))
        other.resume(from: store)
        #expect(other.status.sessions == 0)
        let again = Task { await other.run() }
        #expect(await first(in: later, where: isFailure) != nil)
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(await first(in: later, where: { $0 == .storageRecovered }) == .storageRecovered)
        #expect(FileManager.default.fileExists(atPath: mark))
        again.cancel()
        await again.value
        // Nothing is left of it.
        #expect(UploadQueue(records: journal.load().records).snapshot.isEmpty)
        #expect(UploadFolders(root: layout.root).pending().sessions.isEmpty)
    }
}
