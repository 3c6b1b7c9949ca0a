import Foundation
import Glibc
import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("The local store")
struct RecordingStoreTests {
    private static let now: Int64 = 1_763_900_000_000
    private static let root = "/state/recordings"

    /// A store whose events are kept.
    private struct Bench {
        let fileSystem: SimulatedFileSystem
        let store: RecordingStore
        let events = Locked<[StoreEvent]>([])

        init(
            _ fileSystem: SimulatedFileSystem = SimulatedFileSystem(),
            retention: RecordingRetention = RecordingRetention(headroom: 0),
            follower: (any RecordingFollower)? = nil, now: Int64 = RecordingStoreTests.now
        ) throws {
            self.fileSystem = fileSystem
            let events = self.events
            self.store = try RecordingStore(
                root: RecordingStoreTests.root, fileSystem: fileSystem, index: MemoryRecordingIndex(),
                retention: retention, follower: follower, now: { now },
                report: { event in events.withLock { $0.append(event) } })
        }

        @discardableResult
        func record(_ recorder: inout FakeRecorder) throws -> RecordingSession.ID {
            let outputs = recorder.session()
            guard case .began(let session) = outputs.first else { throw RecordingFault.unknownSession }
            for output in outputs { try store.take(output, of: session.id) }
            return session.id
        }
    }

    @Test("A session is in the layout that is documented, and reads back as it was recorded")
    func layout() throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "d1", epoch: 4, start: 1_763_831_031_123, seed: 1)
        let id = try bench.record(&recorder)
        let folder = "/state/recordings/d1/2025-11-22/\(RecordingLayout.time(id.start))-4-1"
        #expect(RecordingLayout.time(1_763_831_031_123) == "20251122T170351.123Z")
        let files = bench.fileSystem.files(below: folder)
        #expect(files.contains("\(folder)/session.json"))
        #expect(files.contains("\(folder)/journal.jsonl"))
        #expect(files.contains("\(folder)/video.init"))
        #expect(!files.contains { $0.hasSuffix(".new") })
        let recording = try bench.store.recording(id)
        let summary = try #require(try bench.store.recordings(RecordingQuery(device: "d1")).first)
        #expect(recording.summary == summary)
        #expect(summary.segmentCount == recording.segments.count)
        #expect(try bench.store.totals()["d1"]?.byteCount == summary.byteCount)
        #expect(
            RecordingLayout.id(device: "d1", day: "2025-11-22", name: String(folder.split(separator: "/")[4])) == id)
    }

    @Test("Names and times come back from their names, on every day of some centuries")
    func names() {
        for day in stride(from: Int64(0), through: 200_000, by: 7) {
            let start = day * 86_400_000 + (day * 7_919_131) % 86_400_000
            let id = RecordingSession.ID(device: "a.b_c-1", start: start, epoch: .max, sequence: .max)
            #expect(
                RecordingLayout.id(device: id.device, day: RecordingLayout.day(start), name: RecordingLayout.name(id))
                    == id)
        }
        #expect(RecordingLayout.day(951_782_400_000) == "2000-02-29")
        #expect(RecordingLayout.time(253_402_300_799_999) == "99991231T235959.999Z")
        for name in ["20251122T170351.123Z-4", "20250230T000000.000Z-1-1", "20251122T170351.123Z-04-1", "x-1-1", ""] {
            #expect(RecordingLayout.id(device: "d", day: "2025-11-22", name: name) == nil)
        }
    }

    @Test(
        "An id or a name that would lead elsewhere is refused, and nothing is written",
        arguments: ["..", "a/b", "", ".hidden", "a\0b", "ä", String(repeating: "a", count: 65), "a b", "/etc"])
    func hostileNames(name: String) throws {
        let bench = try Bench()
        let files = bench.fileSystem.files()
        for isDevice in [true, false] {
            let id = RecordingSession.ID(device: isDevice ? name : "d", start: 1, epoch: 1, sequence: 1)
            let session = RecordingSession(
                id: id, connection: 1, number: 1, trigger: .init(kind: .command, reason: ""), triggeredAt: 1,
                tracks: [
                    .init(
                        name: isDevice ? "video" : name, isVideo: true, codec: "", timescale: 1,
                        initializationSegment: Data())
                ])
            let refusal = RecordingRefusal.unusableSession(isDevice ? .deviceName : .trackName(0))
            #expect(throws: RecordingFault.refused(refusal)) { try bench.store.take(.began(session), of: id) }
            #expect(throws: RecordingFault.self) { try bench.store.recording(id) }
            #expect(throws: RecordingFault.self) { try bench.store.delete(id) }
        }
        #expect(bench.fileSystem.files() == files)
    }

    @Test("A running recording can be read, and cannot be deleted")
    func running() throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "d1", start: Self.now, seed: 2)
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { return }
        for output in outputs.dropLast() { try bench.store.take(output, of: session.id) }
        let recording = try bench.store.recording(session.id)
        #expect(recording.end == nil)
        #expect(try bench.store.recordings(RecordingQuery()).map(\.id) == [session.id])
        #expect(try bench.store.verify(session.id).problems.isEmpty)
        #expect(throws: RecordingFault.inProgress) { try bench.store.delete(session.id) }
        let refusal = RecordingRefusal.hasBegun(folder: bench.store.layout.folder(of: session.id))
        #expect(throws: RecordingFault.refused(refusal)) { try bench.store.take(.began(session), of: session.id) }
    }

    @Test("Each chunk costs one synchronization, and each segment one more for its name")
    func synchronizations() throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "d1", start: Self.now, seed: 5)
        let id = try bench.record(&recorder)
        let counters = bench.store.counters
        let recording = try bench.store.recording(id)
        let lines = recording.gaps.count + recording.triggers.count + 1
        #expect(counters.chunks > 4)
        #expect(
            counters.fileSynchronizations == counters.chunks + recording.session.tracks.count + 1 + lines)
        // Device, day, session, three times within the session at its beginning, and each segment.
        #expect(counters.folderSynchronizations == 6 + recording.segments.count)
    }

    /// A beginning makes folders and files, and syncs them, in fewer calls than this.
    @Test(arguments: 1...30)
    func `a session that cannot begin leaves nothing`(call: Int) throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "d1", start: Self.now, seed: 5)
        guard case .began(let session) = recorder.session().first else { return }
        bench.fileSystem.faults.failing = [bench.fileSystem.calls + call: EIO]
        guard (try? bench.store.take(.began(session), of: session.id)) == nil else { return }
        #expect(bench.fileSystem.files(below: Self.root).isEmpty)
        #expect(bench.store.isGone(bench.store.layout.folder(of: session.id)))
        // The same session can begin later.
        try bench.store.take(.began(session), of: session.id)
    }

    // MARK: Retention

    @Test("Age deletes the oldest, with an event for each; bytes of a device and of all do the same")
    func retention() throws {
        let bench = try Bench()
        var first = FakeRecorder(device: "a", start: Self.now - 10_000_000, seed: 3)
        var second = FakeRecorder(device: "b", start: Self.now - 10_000_000, seed: 4)
        let old = try (0..<4).map { _ in try bench.record(&first) }
        for _ in 0..<4 { try bench.record(&second) }
        bench.store.retention = RecordingRetention(devices: ["a": .init(maximumAge: 5_000_000)], headroom: 0)
        #expect(bench.store.maintain().deleted == old)
        #expect(bench.events.withLock { $0.count } == 4)
        #expect(try bench.store.totals()["a"] == nil)
        let left = try #require(try bench.store.totals()["b"])
        bench.store.retention = RecordingRetention(
            devices: ["b": .init(maximumBytes: left.byteCount / 2)], headroom: 0)
        bench.store.maintain()
        let half = try bench.store.totals()["b"] ?? RecordingTotals()
        #expect(half.byteCount <= left.byteCount / 2)
        #expect(half.recordings > 0)
        bench.store.retention = RecordingRetention(maximumBytes: 0, headroom: 0)
        bench.store.maintain()
        #expect(try bench.store.totals().isEmpty)
        #expect(bench.fileSystem.files().isEmpty)
        #expect(bench.store.counters.deletedRecordings == 8)
    }

    @Test("Recordings are as old as the caller's time makes them")
    func ages() throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "a", start: Self.now - 10_000_000, seed: 3)
        let id = try bench.record(&recorder)
        bench.store.retention = RecordingRetention(standard: .init(maximumAge: 5_000_000), headroom: 0)
        #expect(bench.store.maintain(at: Self.now - 6_000_000).deleted.isEmpty)
        #expect(bench.store.maintain(at: Self.now).deleted == [id])
    }

    @Test("What still has to be uploaded stays, and what is behind it goes")
    func held() throws {
        let holder = Holder()
        let bench = try Bench(follower: holder)
        var recorder = FakeRecorder(device: "a", start: Self.now - 10_000_000, seed: 3)
        let ids = try (0..<3).map { _ in try bench.record(&recorder) }
        holder.held.withLock { $0 = [ids[0]] }
        bench.store.retention = RecordingRetention(standard: .init(maximumAge: 1), headroom: 0)
        let report = bench.store.maintain()
        #expect(report.deleted == Array(ids.dropFirst()))
        #expect(report.heldBytes > 0)
        holder.held.withLock { $0 = [] }
        #expect(bench.store.maintain().deleted == [ids[0]])
    }

    @Test("However many still have to be uploaded, what is behind them goes")
    func manyHeld() throws {
        let holder = Holder()
        let bench = try Bench(follower: holder)
        var recorder = FakeRecorder(device: "a", start: Self.now - 100_000_000, seed: 3)
        // The oldest are looked at 64 at a time.
        let ids = try (0..<70).map { _ in try bench.record(&recorder) }
        holder.held.withLock { $0 = Set(ids.prefix(66)) }
        bench.store.retention = RecordingRetention(standard: .init(maximumAge: 1), headroom: 0)
        #expect(bench.store.maintain().deleted == Array(ids.suffix(4)))
    }

    @Test func `the oldest leave until the headroom is free, even if the file system frees their room later`() throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "a", start: Self.now - 10_000_000, seed: 7)
        let ids = try (0..<20).map { _ in try bench.record(&recorder) }
        let sizes = try ids.map { try bench.store.recording($0).summary.byteCount }
        // A little more is missing than the three oldest have.
        let missing = sizes.prefix(3).reduce(1, +)
        let last = try #require(sizes.indices.first { sizes[...$0].reduce(0, +) >= missing })
        bench.fileSystem.faults.keepsRemoved = true
        let free = try bench.fileSystem.space(at: Self.root).free
        bench.store.retention = RecordingRetention(headroom: free + missing)
        #expect(bench.store.maintain().deleted == Array(ids[...last]))
        bench.fileSystem.faults.keepsRemoved = false
        #expect(bench.store.maintain().deleted.isEmpty)
    }

    private final class Holder: RecordingFollower {
        let held = Locked<Set<RecordingSession.ID>>([])
        func wrote(_ output: RecordingOutput, of session: RecordingSession.ID, at place: RecordingPlace?) {}
        func holds(_ session: RecordingSession.ID) -> Bool { held.withLock { $0.contains(session) } }
        func deleted(_ session: RecordingSession.ID) {}
    }

    // MARK: A full disk

    @Test("Below a quarter of the headroom recording stops with an alarm, and resumes at half of it")
    func headroom() throws {
        let bench = try Bench(retention: RecordingRetention(headroom: 400_000))
        bench.fileSystem.faults.capacity = 1 << 30
        var recorder = FakeRecorder(device: "a", start: Self.now, seed: 6)
        let first = try bench.record(&recorder)
        let used = (1 << 30) - (try bench.fileSystem.space(at: "/state").free)
        bench.fileSystem.faults.capacity = used + 90_000
        #expect(throws: RecordingFault.self) { try bench.record(&recorder) }
        guard case .full = bench.store.condition else {
            Issue.record("\(bench.store.condition)")
            return
        }
        // A little more room is not enough.
        bench.fileSystem.faults.capacity = used + 150_000
        #expect(throws: RecordingFault.self) { try bench.record(&recorder) }
        bench.fileSystem.faults.capacity = used + 1_000_000
        bench.store.maintain()
        #expect(bench.store.condition == .ready)
        try bench.record(&recorder)
        #expect(try bench.store.verify(first).problems.isEmpty)
        let conditions = bench.events.withLock { events in
            events.filter { if case .condition = $0 { true } else { false } }.count
        }
        #expect(conditions == 2)
    }

    @Test("A disk that runs full at any byte corrupts nothing, and takes the end when there is room", arguments: 0..<60)
    func full(seed: UInt64) throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "a", start: Self.now, seed: seed)
        try bench.record(&recorder)
        var random = RandomSource.seeded(seed)
        let used = try Int64(1 << 40) - bench.fileSystem.space(at: "/state").free
        bench.fileSystem.faults.capacity = used + Int64.random(in: 0...6_000, using: &random)
        var acknowledged = Acknowledged()
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { return }
        for output in outputs {
            acknowledged.willTake(output, of: session.id)
            guard (try? bench.store.take(output, of: session.id)) != nil else { break }
            acknowledged.didTake(output, of: session.id)
        }
        if acknowledged.sessions[session.id]?.description != nil, acknowledged.sessions[session.id]?.end == nil {
            let end = RecordingOutput.ended(RecordingEnd(at: Self.now * 1_000, reason: .storageFull))
            acknowledged.willTake(end, of: session.id)
            if (try? bench.store.take(end, of: session.id)) == nil { #expect(bench.store.condition != .ready) }
            bench.fileSystem.faults.capacity = 1 << 30
            bench.store.maintain()
            acknowledged.didTake(end, of: session.id)
        }
        #expect(acknowledged.broken(in: bench.store, read: bench.fileSystem.bytes).isEmpty)
        bench.fileSystem.faults.capacity = 1 << 30
        try bench.record(&recorder)
        #expect(bench.store.condition == .ready)
    }

    // MARK: Queries

    @Test("Segments and days of a range are those that overlap it")
    func ranges() throws {
        let bench = try Bench()
        var recorder = FakeRecorder(device: "a", start: 1_763_855_990_000, seed: 9)
        for _ in 0..<30 { try bench.record(&recorder) }
        let all = try bench.store.segments(of: "a", from: .min, until: .max)
        #expect(
            try all.map(\.segments.count).reduce(0, +)
                == bench.store.recordings(.init()).map(\.segmentCount).reduce(0, +))
        let middle: Int64 = 1_763_856_000_000_000
        let some = try bench.store.segments(of: "a", from: middle, until: middle + 1_000_000)
        for part in all {
            let recording = try bench.store.recording(part.id)
            let expected = recording.segments.filter {
                $0.wallTime < middle + 1_000_000
                    && $0.end(timescale: recording.session.tracks[$0.track].timescale) > middle
            }
            #expect(some.first { $0.id == part.id }?.segments ?? [] == expected)
        }
        // Midnight in UTC is in between, and eleven in the evening before, an hour to the west.
        #expect(try bench.store.days(of: "a") { _ in 0 }.map(\.day) == [20_414, 20_415])
        #expect(try bench.store.days(of: "a") { _ in -3_600 }.map(\.day) == [20_414])
    }
}
