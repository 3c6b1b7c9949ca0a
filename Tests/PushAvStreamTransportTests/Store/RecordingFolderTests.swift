import Foundation
import Glibc
import Testing
import Transport

@testable import PushAvStreamTransport

/// A folder of recordings on a disk that is not there.
@Suite struct RecordingFolderTests {
    private let disk: String
    private var path: String { "\(disk)/recordings" }
    private var memory: String { "\(disk)-memory" }
    private var folder: RecordingFolder { RecordingFolder(path: path, rememberedIn: memory) }
    private let session = RecordingSession(
        id: .init(device: "door", start: 1_763_900_000_000, epoch: 1, sequence: 1), connection: 1, number: 1,
        trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_763_900_000_000,
        tracks: [
            .init(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, initializationSegment: Data())
        ])

    init() throws { disk = try UploadFixtures.temporaryFolder() }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func clean() {
        for one in [disk, memory] { try? FileManager.default.removeItem(atPath: one) }
    }

    @Test func `a folder that was used is not made again while its disk is away`() throws {
        defer { clean() }
        #expect(folder.open() == nil && folder.problem() == nil)
        #expect(exists("\(path)/.gatehouse-recordings"))
        try FileManager.default.removeItem(atPath: path)
        let away = folder
        #expect(away.problem() == .away && away.open() == .away)
        #expect(!exists(path))
        // The mount point itself may be the folder.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(away.open() == .away && away.problem() == .away)
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.isEmpty)
        // The disk is mounted, or the owner says that this is the folder.
        try Data().write(to: URL(fileURLWithPath: "\(path)/.gatehouse-recordings"))
        #expect(away.problem() == nil && away.open() == nil)
    }

    @Test func `a folder with recordings of an earlier version is adopted, and another one beside it`() throws {
        defer { clean() }
        try FileManager.default.createDirectory(atPath: "\(path)/door", withIntermediateDirectories: true)
        #expect(folder.open() == nil)
        #expect(exists("\(path)/door") && exists("\(path)/.gatehouse-recordings"))
        let other = RecordingFolder(path: "\(disk)/other", rememberedIn: memory)
        #expect(other.open() == nil)
        try FileManager.default.removeItem(atPath: path)
        #expect(folder.open() == .away)
    }

    @Test func `what is in the place of the folder is said, and the folder is used as soon as it can be`() throws {
        defer { clean() }
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        let folder = self.folder
        for problem in [folder.open(), folder.problem()] {
            guard case .unusable(let fault) = problem else {
                Issue.record("\(String(describing: problem))")
                continue
            }
            #expect(fault.path.hasPrefix(path))
        }
        let kept = try String(contentsOfFile: path, encoding: .utf8)
        #expect(kept == "precious")
        try FileManager.default.removeItem(atPath: path)
        #expect(folder.open() == nil && folder.problem() == nil)
    }

    /// The call that fails makes the folder, makes the file by which it is recognized, or syncs them to the disk.
    @Test(arguments: 1...5)
    func `a folder whose disk fails at first and then works is not mistaken for a missing disk after a power cut`(
        call: Int
    ) {
        defer { clean() }
        for seed in 0..<20 as Range<UInt64> {
            let fileSystem = SimulatedFileSystem(.init(failing: [call: EIO]))
            let memory = "\(disk)/memory-\(seed)"
            func folder() -> RecordingFolder {
                RecordingFolder(path: "/state/recordings", rememberedIn: memory, fileSystem: fileSystem)
            }
            let first = folder()
            guard case .unusable(let fault) = first.open() else {
                Issue.record("the disk does not fail at call \(call)")
                continue
            }
            #expect(fault.path.hasPrefix("/state") && fault.code == EIO)
            #expect(first.open() == nil && first.problem() == nil)
            fileSystem.cutPower(seed: seed)
            let later = folder()
            #expect(later.open() == nil && later.problem() == nil, "seed \(seed)")
        }
    }

    @Test func `a folder of the state folder is made again`() throws {
        defer { clean() }
        let folder = RecordingFolder(path: path)
        #expect(folder.problem() != nil)
        #expect(folder.open() == nil && folder.problem() == nil)
        #expect(!exists("\(path)/.gatehouse-recordings"))
        try FileManager.default.removeItem(atPath: path)
        #expect(folder.problem() != nil)
        #expect(folder.open() == nil)
    }

    @Test func `while the folder is away nothing is recorded, listed or forgotten, and afterwards all is as it was`()
        throws
    {
        defer { clean() }
        let folder = self.folder
        folder.open()
        let events = Locked<[StoreEvent]>([])
        let store = try RecordingStore(
            root: path, folder: folder, index: MemoryRecordingIndex(), now: { 1_763_900_060_000 },
            report: { event in events.withLock { $0.append(event) } })
        try store.take(.began(session), of: session.id)
        try store.take(
            .ended(RecordingEnd(at: session.id.start * 1_000 + 1, reason: .lengthReached)), of: session.id)
        #expect(store.condition == .ready)

        // The disk is away, and its mount point is empty.
        try FileManager.default.moveItem(atPath: path, toPath: "\(disk)/mounted")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        var second = session
        second.id.sequence = 2
        let next = second
        #expect(throws: RecordingFault.self) { try store.take(.began(next), of: next.id) }
        let away = RecordingFault.storage(path: path, .folder(.away))
        #expect(throws: away) { try store.recordings(RecordingQuery()) }
        #expect(throws: away) { try store.recording(session.id) }
        #expect(throws: away) { try store.totals() }
        #expect(throws: away) { try store.delete(session.id) }
        #expect(throws: away) { try store.recover() }
        #expect(store.maintain() == MaintenanceReport())
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.isEmpty)
        #expect(store.condition == .failing(path: path, .folder(.away)))

        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: "\(disk)/mounted", toPath: path)
        store.maintain()
        #expect(store.condition == .ready)
        #expect(events.withLock { $0 }.filter { $0 == .condition(.ready) }.count == 1)
        let listed = try store.recordings(RecordingQuery()).map(\.id)
        #expect(listed == [session.id])
        try store.take(.began(next), of: next.id)
    }

    @Test func `the index forgets nothing if the disk goes while both are compared`() throws {
        defer { clean() }
        let folder = self.folder
        folder.open()
        let index = WatchedIndex()
        let store = try RecordingStore(root: path, folder: folder, index: index, now: { 1_763_900_060_000 })
        try store.take(.began(session), of: session.id)
        try store.take(
            .ended(RecordingEnd(at: session.id.start * 1_000 + 1, reason: .lengthReached)), of: session.id)
        let (path, mounted) = (self.path, "\(disk)/mounted")
        index.willList.withLock {
            $0 = {
                try? FileManager.default.moveItem(atPath: path, toPath: mounted)
                try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        }
        #expect(throws: RecordingFault.self) { try store.recover() }
        index.willList.withLock { $0 = nil }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: mounted, toPath: path)
        let listed = try store.recordings(RecordingQuery()).map(\.id)
        #expect(listed == [session.id])
    }

    @Test func `a mark waits where the mount point of the missing disk has recordings of its own`() throws {
        defer { clean() }
        let isAway = Locked(true)
        let folders = UploadFolders(root: path) { isAway.withLock { $0 } ? .away : nil }
        try FileManager.default.createDirectory(
            atPath: "\(path)/yard/2025-11-22/1", withIntermediateDirectories: true)
        let away = UploadStorageFailure(path: path, reason: .folder(.away))
        #expect(throws: away) { try folders.complete("door/2025-11-23/1") }
        #expect(throws: away) {
            try folders.discard([DiscardedSegment(track: 0, number: 1)], in: "door/2025-11-23/1")
        }
        isAway.withLock { $0 = false }
        // The recording was deleted, then.
        try folders.complete("door/2025-11-23/1")
    }

    @Test func `a mark for an upload waits for a disk that is away`() throws {
        defer { clean() }
        let folders = UploadFolders(root: path)
        let recording = "door/2025-11-23/1"
        try FileManager.default.createDirectory(atPath: "\(path)/\(recording)", withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: path, toPath: "\(disk)/mounted")
        for isMountPoint in [false, true] {
            if isMountPoint {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            let failure = UploadStorageFailure(path: "\(path)/\(recording)", reason: .system(ENOENT))
            #expect(throws: failure) { try folders.complete(recording) }
            #expect(throws: failure) {
                try folders.discard([DiscardedSegment(track: 0, number: 1)], in: recording)
            }
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: "\(disk)/mounted", toPath: path)
        try folders.discard([DiscardedSegment(track: 0, number: 1)], in: recording)
        try folders.discard([DiscardedSegment(track: 1, number: 7)], in: recording)
        let discarded = try folders.discarded(in: recording)
        #expect(discarded == [DiscardedSegment(track: 0, number: 1), DiscardedSegment(track: 1, number: 7)])
        // One that was deleted needs no mark.
        try FileManager.default.removeItem(atPath: "\(path)/\(recording)")
        try folders.complete(recording)
        try folders.discard([DiscardedSegment(track: 0, number: 1)], in: recording)
    }
}

/// An index in memory that says when it is asked for all recordings.
private final class WatchedIndex: RecordingIndexing {
    let willList = Locked<(@Sendable () -> Void)?>(nil)
    private let memory = MemoryRecordingIndex()

    func ids() throws(RecordingIndexFault) -> Set<RecordingSession.ID> {
        willList.withLock { $0 }?()
        return try memory.ids()
    }

    func add(_ recordings: [IndexedRecording]) throws(RecordingIndexFault) { try memory.add(recordings) }
    func remove(_ ids: [RecordingSession.ID]) throws(RecordingIndexFault) { try memory.remove(ids) }
    func recordings(_ query: RecordingQuery) throws(RecordingIndexFault) -> [RecordingSummary] {
        try memory.recordings(query)
    }
    func recording(_ id: RecordingSession.ID) throws(RecordingIndexFault) -> IndexedRecording? {
        try memory.recording(id)
    }
    func spans(of device: String) throws(RecordingIndexFault) -> [Range<Int64>] { try memory.spans(of: device) }
    func totals() throws(RecordingIndexFault) -> [String: RecordingTotals] { try memory.totals() }
}
