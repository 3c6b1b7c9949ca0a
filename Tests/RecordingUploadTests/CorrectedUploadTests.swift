import Foundation
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// Uploads that the queue gives up between two turns of the uploader. The next turn may wait for a disk.
@Suite("Uploads that are corrected between two turns") struct CorrectedUploadTests {
    /// What the folder of a recording says.
    enum Discards: CaseIterable, Sendable {
        /// The segment that is being uploaded was discarded.
        case listed
        /// Something was discarded, and nobody can read what.
        case damaged
    }

    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("corrected-\(UUID())").path
    private let session = RecordingSession(
        id: .init(device: "door", start: 1_763_900_000_000, epoch: 1, sequence: 1), connection: 1, number: 1,
        trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_763_900_000_000,
        tracks: [
            .init(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, initializationSegment: Data())
        ])
    private static let ingest = UploadDestination(
        endpoint: 1, url: "https://ingest.example/", interface: .interface1)

    private var layout: RecordingLayout { RecordingLayout(root: "\(root)/recordings") }
    private var folder: String { layout.folder(of: session.id) }

    private func makeUploader(
        destination: @escaping @Sendable (RecordingSession) -> UploadDestination? = { _ in CorrectedUploadTests.ingest }
    ) throws -> RecordingUploader {
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        return RecordingUploader(
            layout: layout, storage: UploadJournal(path: "\(root)/uploads.jsonl"), endpoint: { _ in nil },
            destination: destination, report: { _ in })
    }

    /// Records one segment.
    private func record(_ uploader: RecordingUploader) throws -> RecordingStore {
        let store = try RecordingStore(
            root: layout.root, index: MemoryRecordingIndex(), follower: uploader, now: { session.id.start })
        try store.take(.began(session), of: session.id)
        try store.take(
            .chunk(
                RecordedChunk(
                    track: 0, segment: 1, beginsSegment: true, decodeTime: 0, duration: 90_000,
                    wallTime: session.id.start * 1_000, captured: Instant.zero, beginsWithKeyFrame: true,
                    bytes: [UInt8](repeating: 1, count: 100))),
            of: session.id)
        try store.take(
            .segmentEnded(RecordedSegment(track: 0, segment: 1, decodeTime: 0, duration: 90_000)), of: session.id)
        try store.take(
            .ended(RecordingEnd(at: session.id.start * 1_000 + 1, reason: .lengthReached)), of: session.id)
        return store
    }

    /// Begins an upload of what comes next, like a turn. It goes on until it is cancelled.
    private static func upload(next state: inout RecordingUploader.State) -> Task<Void, Never>? {
        guard let request = state.queue.ready(at: .zero).first else { return nil }
        let upload = Task {
            let (steps, step) = AsyncStream.makeStream(of: Void.self)
            for await _ in steps {}
            step.finish()
        }
        state.running[request.attempt] = upload
        return upload
    }

    @Test(.timeLimit(.minutes(10)), arguments: Discards.allCases)
    func `an upload ends when the disk comes back and its footage may have been discarded`(
        discards: Discards
    ) async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let uploader = try makeUploader()
        let store = try record(uploader)
        let begun = uploader.state.withLock { state -> Task<Void, Never>? in
            // What precedes the footage.
            for request in state.queue.ready(at: .zero) { state.queue.finished(request.attempt, .accepted, at: .zero) }
            return Self.upload(next: &state)
        }
        let upload = try #require(begun)
        switch discards {
        case .listed:
            let place = String(folder.dropFirst(layout.root.utf8.count + 1))
            try UploadFolders(root: layout.root).discard([DiscardedSegment(track: 0, number: 1)], in: place)
        case .damaged: try Data("[{".utf8).write(to: URL(fileURLWithPath: "\(folder)/discarded"))
        }
        // Nothing runs that would take a turn.
        uploader.resume(from: store)
        #expect(upload.isCancelled)
        upload.cancel()
        await upload.value
    }

    @Test(.timeLimit(.minutes(10)))
    func `an upload that has begun ends when its receiver may not have the recording`() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        struct World: Sendable {
            var uploader: RecordingUploader?
            var questions = 0
            var upload: Task<Void, Never>?
        }
        let world = Locked(World())
        let uploader = try makeUploader { _ in
            world.withLock { world -> UploadDestination? in
                world.questions += 1
                guard world.questions > 1 else { return Self.ingest }
                // A turn has come in between.
                world.upload = world.uploader?.state.withLock { state in Self.upload(next: &state) }
                return nil
            }
        }
        world.withLock { $0.uploader = uploader }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        uploader.wrote(.began(session), of: session.id, at: nil)
        let begun = world.withLock { world -> Task<Void, Never>? in
            world.uploader = nil
            return world.upload
        }
        let upload = try #require(begun)
        #expect(upload.isCancelled)
        #expect(uploader.status.sessions == 0)
        upload.cancel()
        await upload.value
    }

    @Test func `a recording whose uploads have ended is not taken for an unfinished one before it is marked`()
        async throws
    {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let uploader = try makeUploader()
        let store = try record(uploader)
        // From here on the queue is complete.
        uploader.resume(from: store)
        uploader.endUploads(of: [1], on: "door")
        #expect(uploader.status.sessions == 0)
        // The store has completed another recording.
        uploader.resume(from: store)
        #expect(uploader.status.sessions == 0)
        let running = Task { await uploader.run() }
        running.cancel()
        await running.value
        #expect(FileManager.default.fileExists(atPath: "\(folder)/uploaded"))
    }

    @Test func `a recording whose uploads ended before damage to the queue is not taken for unfinished`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let store = try record(makeUploader())
        // The process ends, and its queue is damaged.
        try Data("damage\nand more of it\n".utf8).write(to: URL(fileURLWithPath: "\(root)/uploads.jsonl"))
        let second = try makeUploader()
        second.endUploads(of: [1], on: "door")
        for _ in 0..<2 {
            second.resume(from: store)
            #expect(second.status.sessions == 0)
        }
    }
}
