import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

/// Folders of recordings that the disk does not let the gateway read for a while.
@Suite struct UnreadableFolderTests {
    private static let start: Int64 = 1_763_800_000_000
    private let fileSystem = SimulatedFileSystem()
    private let events = Locked<[StoreEvent]>([])

    private func store(
        _ index: MemoryRecordingIndex = MemoryRecordingIndex(),
        report: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) throws -> RecordingStore {
        let events = self.events
        return try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: index, now: { Self.start + 3_600_000 },
            report: { event in
                events.withLock { $0.append(event) }
                report(event)
            })
    }

    /// Records a session.
    private func record(in store: RecordingStore, seed: UInt64) throws -> RecordingSession.ID {
        var recorder = FakeRecorder(device: "camera", start: Self.start, seed: seed)
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { throw RecordingFault.unknownSession }
        for output in outputs { try store.take(output, of: session.id) }
        return session.id
    }

    @Test func `a recording whose folder cannot be read at the start is listed as soon as it can be read`() throws {
        let id = try record(in: store(), seed: 1)
        let later = try store()
        fileSystem.faults.unreadable = [later.layout.folder(of: id)]
        #expect(try later.recover().unreadable.map(\.path) == [later.layout.folder(of: id)])
        #expect(try later.recordings(RecordingQuery()).isEmpty)
        #expect(later.maintain().recovered.isEmpty)
        // It is reported once.
        let complaints = events.withLock { $0.count { if case .unreadable = $0 { true } else { false } } }
        #expect(complaints == 1)
        fileSystem.faults.unreadable = []
        #expect(later.maintain().recovered == [id])
        #expect(try later.recordings(RecordingQuery()).map(\.id) == [id])
        #expect(later.maintain().recovered.isEmpty)
    }

    @Test func `what a start cannot look at stays in the index`() throws {
        let index = MemoryRecordingIndex()
        let id = try record(in: store(index), seed: 4)
        let later = try store(index)
        fileSystem.faults.unreadable = [try #require(RecordingStore.parent(of: later.layout.folder(of: id)))]
        #expect(try later.recover().vanished == 0)
        #expect(try later.recordings(RecordingQuery()).map(\.id) == [id])
        fileSystem.faults.unreadable = []
        #expect(try later.recording(id).end != nil)
    }

    @Test func `a recording whose folder cannot be read is neither deleted nor forgotten`() throws {
        let store = try self.store()
        let id = try record(in: store, seed: 2)
        fileSystem.faults.unreadable = [store.layout.folder(of: id)]
        let uses: [() throws -> Void] = [{ try store.delete(id) }, { _ = try store.recording(id) }]
        for use in uses {
            let fault = #expect(throws: RecordingFault.self) { try use() }
            #expect(fault?.endReason == .storageFailed)
        }
        #expect(try store.recordings(RecordingQuery()).map(\.id) == [id])
        fileSystem.faults.unreadable = []
        #expect(try store.recording(id).end != nil)
        try store.delete(id)
        #expect(try store.recordings(RecordingQuery()).isEmpty)
    }

    @Test(arguments: [false, true])
    func `a deletion that cannot read the folder any more is completed later`(isRestarted: Bool) throws {
        let fileSystem = self.fileSystem
        let folder = Locked("")
        let store = try self.store { event in
            // The tombstone has just been written.
            guard case .deleted = event else { return }
            fileSystem.faults.unreadable = [folder.withLock { $0 }]
        }
        let id = try record(in: store, seed: 3)
        folder.withLock { $0 = store.layout.folder(of: id) }
        #expect(throws: RecordingFault.self) { try store.delete(id) }
        #expect(try store.recordings(RecordingQuery()).isEmpty)
        fileSystem.faults.unreadable = []
        let later = try isRestarted ? self.store() : store
        if isRestarted {
            #expect(try later.recover().deletions == 1)
        } else {
            #expect(later.maintain().lost == [id])
            #expect(later.maintain().lost.isEmpty)
        }
        #expect(try later.recordings(RecordingQuery()).isEmpty)
        #expect(fileSystem.files(below: "/state/recordings").isEmpty)
    }
}
