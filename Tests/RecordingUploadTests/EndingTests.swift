import Foundation
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

@Suite("An uploader that ends") struct EndingTests {
    /// Keeps the queue in memory.
    private final class Memory: UploadQueueStorage {
        let records = Locked<[UploadRecord]>([])

        func load() -> StoredUploads { StoredUploads(records: []) }
        func append(_ added: [UploadRecord], durably: Bool) { records.withLock { $0 += added } }
        func replace(with all: [UploadRecord]) { records.withLock { $0 = all } }
    }

    @Test("stores what happened until then")
    func storesTheLast() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let id = RecordingSession.ID(device: "door", start: 1_795_300_000_000, epoch: 1, sequence: 1)
        let layout = RecordingLayout(root: folder.path)
        try FileManager.default.createDirectory(atPath: layout.folder(of: id), withIntermediateDirectories: true)
        let storage = Memory()
        let uploader = RecordingUploader(
            layout: layout, storage: storage, endpoint: { _ in nil },
            destination: { _ in
                UploadDestination(endpoint: 1, url: "https://192.0.2.1/", interface: .interface1)
            }, report: { _ in })
        let session = RecordingSession(
            id: id, connection: 1, number: 1, trigger: .init(kind: .command, reason: "test"), triggeredAt: id.start,
            tracks: [])
        uploader.wrote(.began(session), of: id, at: nil)
        let running = Task { await uploader.run() }
        running.cancel()
        await running.value
        guard case .opened(let stored)? = storage.records.withLock({ $0.first }) else {
            Issue.record("nothing was stored")
            return
        }
        #expect(stored.id == id)
    }
}
