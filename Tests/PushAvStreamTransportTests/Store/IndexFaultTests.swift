import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

/// An index that cannot be written for a while, because its disk is full or fails.
@Suite struct IndexFaultTests {
    private static let start: Int64 = 1_763_800_000_000
    private let fileSystem = SimulatedFileSystem()

    private func store(
        _ index: FailingIndex, _ events: Locked<[StoreEvent]> = Locked([])
    ) throws -> RecordingStore {
        try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: index, now: { Self.start + 3_600_000 },
            report: { event in events.withLock { $0.append(event) } })
    }

    /// Records a session.
    private func record(in store: RecordingStore, seed: UInt64) throws -> RecordingSession.ID {
        var recorder = FakeRecorder(device: "camera\(seed)", start: Self.start, seed: seed)
        return try record(with: &recorder, in: store)
    }

    private func record(with recorder: inout FakeRecorder, in store: RecordingStore) throws -> RecordingSession.ID {
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { throw RecordingFault.unknownSession }
        for output in outputs { try store.take(output, of: session.id) }
        return session.id
    }

    @Test func `a recording that the index could not store is listed as soon as the index works again`() throws {
        let index = FailingIndex()
        let events = Locked<[StoreEvent]>([])
        let store = try self.store(index, events)
        index.fails.withLock { $0 = true }
        let id = try record(in: store, seed: 1)
        #expect(try store.recordings(RecordingQuery()).isEmpty)
        let isSaid = events.withLock { events in
            events.contains { if case .indexFault = $0 { true } else { false } }
        }
        #expect(isSaid)
        store.maintain()
        #expect(try store.recordings(RecordingQuery()).isEmpty)
        index.fails.withLock { $0 = false }
        store.maintain()
        #expect(try store.recordings(RecordingQuery()).map(\.id) == [id])
        #expect(try store.recording(id).end != nil)
        // Once is enough.
        let adds = index.adds.withLock { $0 }
        store.maintain()
        #expect(index.adds.withLock { $0 } == adds)
    }

    @Test func `a recording that is deleted meanwhile does not come back`() throws {
        let index = FailingIndex()
        let store = try self.store(index)
        index.fails.withLock { $0 = true }
        let id = try record(in: store, seed: 2)
        let kept = try record(in: store, seed: 3)
        try store.delete(id)
        index.fails.withLock { $0 = false }
        store.maintain()
        #expect(try index.ids() == [kept])
        #expect(fileSystem.files(below: "/state/recordings/camera2").isEmpty)
        // And a later deletion finds the other one.
        try store.delete(kept)
        store.maintain()
        #expect(try index.ids().isEmpty)
    }

    @Test func `a recording that is just being added to the index is not said to be gone`() throws {
        let index = FailingIndex()
        let store = try self.store(index)
        index.fails.withLock { $0 = true }
        let id = try record(in: store, seed: 8)
        // As the maintenance does it.
        #expect(store.claimForDeletion(id))
        #expect(throws: RecordingFault.refused(.isBeingIndexed)) { try store.delete(id) }
        store.releaseFromDeletion(id)
        try store.delete(id)
        #expect(throws: RecordingFault.self) { try store.recording(id) }
    }

    /// A folder that cannot be read looks empty, and an empty one belongs to no recording.
    @Test func `one whose folder cannot be read for a while is not forgotten`() throws {
        let index = FailingIndex()
        let store = try self.store(index)
        index.fails.withLock { $0 = true }
        let id = try record(in: store, seed: 7)
        index.fails.withLock { $0 = false }
        fileSystem.faults.unreadable = [store.layout.folder(of: id)]
        store.maintain()
        #expect(try index.ids().isEmpty)
        fileSystem.faults.unreadable = []
        store.maintain()
        #expect(try index.ids() == [id])
    }

    @Test func `a deletion that the index cannot store takes the recording from the lists, and is stored later`() throws
    {
        let index = FailingIndex()
        let store = try self.store(index)
        let id = try record(in: store, seed: 9)
        let kept = try record(in: store, seed: 10)
        index.failsToRemove.withLock { $0 = true }
        try store.delete(id)
        for _ in 0..<2 {
            #expect(try index.ids() == [id, kept])
            #expect(try store.recordings(RecordingQuery()).map(\.id) == [kept])
            #expect(try store.totals().keys.sorted() == [kept.device])
            store.maintain()
        }
        index.failsToRemove.withLock { $0 = false }
        store.maintain()
        #expect(try index.ids() == [kept])
        #expect(try store.recordings(RecordingQuery()).map(\.id) == [kept])
    }

    @Test func `a day has only the recordings that are left while the index cannot store a deletion`() throws {
        let index = FailingIndex()
        let store = try self.store(index)
        func recordings(of device: String) throws -> [Int] {
            try store.days(of: device) { _ in 0 }.map(\.recordings)
        }
        var recorder = FakeRecorder(device: "camera", start: Self.start, seed: 18)
        let ids = [try record(with: &recorder, in: store), try record(with: &recorder, in: store)]
        let other = try record(in: store, seed: 19)
        #expect(try recordings(of: "camera") == [2])
        index.failsToRemove.withLock { $0 = true }
        try store.delete(ids[0])
        #expect(try recordings(of: "camera") == [1])
        try store.delete(ids[1])
        for _ in 0..<2 {
            #expect(try index.spans(of: "camera").count == 2)
            #expect(try recordings(of: "camera").isEmpty)
            #expect(try recordings(of: other.device) == [1])
            store.maintain()
        }
        index.failsToRemove.withLock { $0 = false }
        store.maintain()
        #expect(try index.spans(of: "camera").isEmpty)
        #expect(try recordings(of: "camera").isEmpty)
    }

    @Test func `a recording that is gone and that the index still lists does not stand for room that is needed`() throws
    {
        let index = FailingIndex()
        let store = try self.store(index)
        for seed in 11...16 as ClosedRange<UInt64> { _ = try record(in: store, seed: seed) }
        index.failsToRemove.withLock { $0 = true }
        for _ in 0..<2 {
            let free = try fileSystem.space(at: "/state").free
            store.retention = RecordingRetention(headroom: free + 1)
            #expect(!store.maintain().deleted.isEmpty)
        }
    }

    @Test func `a recording whose folder was removed is in no list, even if the index cannot forget it`() throws {
        let index = FailingIndex()
        let id = try record(in: store(index), seed: 17)
        try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: MemoryRecordingIndex(), now: { Self.start }
        ).delete(id)
        index.failsToRemove.withLock { $0 = true }
        let store = try self.store(index)
        #expect(try store.recover().vanished == 1)
        #expect(try store.recordings(RecordingQuery()).isEmpty)
        #expect(try store.totals().isEmpty)
    }

    @Test func `an index that cannot be written at the start is complete later`() throws {
        let earlier = try self.store(FailingIndex())
        let ids = try (4...6 as ClosedRange<UInt64>).map { try record(in: earlier, seed: $0) }
        let index = FailingIndex()
        index.fails.withLock { $0 = true }
        let store = try self.store(index)
        try store.recover()
        #expect(try index.ids().isEmpty)
        index.fails.withLock { $0 = false }
        store.maintain()
        #expect(try index.ids() == Set(ids))
    }
}

/// An index in memory that fails on demand.
private final class FailingIndex: RecordingIndexing {
    let fails = Locked(false)
    let failsToRemove = Locked(false)
    let adds = Locked(0)
    private let memory = MemoryRecordingIndex()

    func add(_ recordings: [IndexedRecording]) throws(RecordingIndexFault) {
        if fails.withLock({ $0 }) { throw RecordingIndexFault(path: "recordings.sqlite", reason: "the disk is full") }
        adds.withLock { $0 += 1 }
        try memory.add(recordings)
    }

    func remove(_ ids: [RecordingSession.ID]) throws(RecordingIndexFault) {
        if failsToRemove.withLock({ $0 }) {
            throw RecordingIndexFault(path: "recordings.sqlite", reason: "the disk is full")
        }
        try memory.remove(ids)
    }
    func ids() throws(RecordingIndexFault) -> Set<RecordingSession.ID> { try memory.ids() }
    func recordings(_ query: RecordingQuery) throws(RecordingIndexFault) -> [RecordingSummary] {
        try memory.recordings(query)
    }
    func recording(_ id: RecordingSession.ID) throws(RecordingIndexFault) -> IndexedRecording? {
        try memory.recording(id)
    }
    func spans(of device: String) throws(RecordingIndexFault) -> [Range<Int64>] { try memory.spans(of: device) }
    func totals() throws(RecordingIndexFault) -> [String: RecordingTotals] { try memory.totals() }
}
