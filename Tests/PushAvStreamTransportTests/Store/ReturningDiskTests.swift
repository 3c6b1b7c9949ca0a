import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

/// A disk that is taken away while a session is being recorded, and comes back.
@Suite struct ReturningDiskTests {
    private static let start: Int64 = 1_763_800_000_000
    private let fileSystem = SimulatedFileSystem()
    private let follower = Follower()
    private let events = Locked<[StoreEvent]>([])

    private func store() throws -> RecordingStore {
        let events = self.events
        return try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: MemoryRecordingIndex(), follower: follower,
            now: { Self.start + 3_600_000 }, report: { event in events.withLock { $0.append(event) } })
    }

    /// Records a session whose disk is taken away before its end.
    private func interrupt(_ store: RecordingStore, seed: UInt64) throws -> (RecordingSession, RecordingEnd) {
        var recorder = FakeRecorder(device: "camera", start: Self.start, seed: seed)
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { throw RecordingFault.unknownSession }
        for output in outputs.dropLast() { try store.take(output, of: session.id) }
        fileSystem.remount()
        let end = RecordingEnd(at: Self.start * 1_000 + 1, reason: .storageFailed)
        #expect(throws: RecordingFault.self) { try store.take(.ended(end), of: session.id) }
        return (session, end)
    }

    /// How often a path was reported as unreadable.
    private func complaints(about path: String) -> Int {
        events.withLock { events in
            events.count { event in
                guard case .unreadable(let recording) = event else { return false }
                return recording.path == path
            }
        }
    }

    /// Remembers the ends that it is told of.
    private final class Follower: RecordingFollower {
        let ends = Locked<[RecordingSession.ID: RecordingEnd]>([:])

        func wrote(_ output: RecordingOutput, of session: RecordingSession.ID, at place: RecordingPlace?) {
            if case .ended(let end) = output { ends.withLock { $0[session] = end } }
        }
        func holds(_ session: RecordingSession.ID) -> Bool { false }
        func deleted(_ session: RecordingSession.ID) {}
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a recording whose disk was taken away ends when the disk is back`(seed: UInt64) throws {
        let store = try self.store()
        let (session, end) = try interrupt(store, seed: seed)
        #expect(throws: RecordingFault.inProgress) { try store.delete(session.id) }
        #expect(follower.ends.withLock { $0.isEmpty })
        store.maintain()
        #expect(try store.recording(session.id).end == end)
        #expect(try store.recordings(RecordingQuery()).map(\.end) == [end])
        #expect(try store.verify(session.id).problems.isEmpty)
        #expect(follower.ends.withLock { $0 } == [session.id: end])
        // The recording is as good as others.
        let later = try self.store()
        try later.recover()
        #expect(try later.recording(session.id) == store.recording(session.id))
        try store.delete(session.id)
        #expect(fileSystem.files(below: "/state/recordings").isEmpty)
    }

    @Test func `a recording that somebody removed while its disk was away is over`() throws {
        let store = try self.store()
        let (session, end) = try interrupt(store, seed: 21)
        let folder = store.layout.folder(of: session.id)
        for path in fileSystem.files(below: folder) { try fileSystem.remove(path) }
        try fileSystem.removeFolder(folder)
        store.maintain()
        #expect(try store.recordings(RecordingQuery()).isEmpty)
        #expect(follower.ends.withLock { $0 } == [session.id: end])
    }

    @Test func `a recording that was damaged while its disk was away is over, and is reported once`() throws {
        let store = try self.store()
        let (session, end) = try interrupt(store, seed: 22)
        let description = "\(store.layout.folder(of: session.id))/\(RecordingLayout.sessionFile)"
        try fileSystem.remove(description)
        for _ in 0..<2 { store.maintain() }
        #expect(complaints(about: description) == 1)
        #expect(follower.ends.withLock { $0 } == [session.id: end])
        // Nobody records it any more.
        try store.delete(session.id)
        #expect(fileSystem.files(below: "/state/recordings").isEmpty)
    }

    @Test func `what is damaged of a recording is reported once, however often the disk refuses its end`() throws {
        let store = try self.store()
        let (session, end) = try interrupt(store, seed: 23)
        let track = try #require(session.tracks.first)
        let header = store.layout.initializationSegment(of: track.name, in: session.id)
        try fileSystem.remove(header)
        fileSystem.faults.capacity = 0
        for _ in 0..<2 { store.maintain() }
        #expect(follower.ends.withLock { $0.isEmpty })
        fileSystem.faults.capacity = 1 << 40
        store.maintain()
        #expect(follower.ends.withLock { $0 } == [session.id: end])
        #expect(complaints(about: header) == 1)
    }
}
