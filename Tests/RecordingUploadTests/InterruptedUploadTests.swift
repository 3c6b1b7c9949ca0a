import Foundation
import Glibc
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// What a recording has of a segment is uploaded, also if the disk failed before the segment was complete.
@Suite("The upload of recordings that end early") struct InterruptedUploadTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("early-\(UUID())").path
    private let session = RecordingSession(
        id: .init(device: "door", start: 1_763_900_000_000, epoch: 1, sequence: 1), connection: 1, number: 1,
        trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_763_900_000_000,
        tracks: [
            .init(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, initializationSegment: Data())
        ])

    private func makeUploader() throws -> RecordingUploader {
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        return RecordingUploader(
            layout: RecordingLayout(root: "\(root)/recordings"), storage: UploadJournal(path: "\(root)/uploads.jsonl"),
            endpoint: { _ in nil },
            destination: { _ in
                UploadDestination(endpoint: 1, url: "https://ingest.example/", interface: .interface1)
            }, report: { _ in })
    }

    private func makeStore(
        _ uploader: RecordingUploader, _ fileSystem: any RecordingFileSystem = SystemFileSystem()
    ) throws -> RecordingStore {
        try RecordingStore(
            root: "\(root)/recordings", fileSystem: fileSystem, index: MemoryRecordingIndex(), follower: uploader,
            now: { session.id.start + 60_000 })
    }

    /// A second of the first segment.
    private func chunk(_ number: Int, captured: Instant? = nil, wallTime: Int64? = nil) -> RecordingOutput {
        .chunk(
            RecordedChunk(
                track: 0, segment: 1, beginsSegment: number == 0, decodeTime: Int64(number) * 90_000,
                duration: 90_000, wallTime: wallTime ?? session.id.start * 1_000 + Int64(number) * 1_000_000,
                captured: captured, beginsWithKeyFrame: number == 0, bytes: [UInt8](repeating: 1, count: 100)))
    }

    @Test func `what the disk took of the running segment is uploaded when it takes no more`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let uploader = try makeUploader()
        let store = try makeStore(uploader)
        try store.take(.began(session), of: session.id)
        for number in 0..<3 { try store.take(chunk(number), of: session.id) }
        store.retention = RecordingRetention(headroom: .max / 2)
        #expect(throws: RecordingFault.self) { try store.take(chunk(3), of: session.id) }
        try store.take(.ended(RecordingEnd(at: session.id.start * 1_000, reason: .storageFull)), of: session.id)
        let stored = try store.recording(session.id).segments
        #expect(stored.map(\.byteCount) == [300])
        let segment = try #require(stored.first)
        #expect(uploader.status.segments == 1)
        let records = uploader.state.withLock { $0.queue.snapshot }
        #expect(records.contains(.segment(session.id, UploadSegment(segment))))
    }

    @Test func `a recording that a full disk kept from being completed at the start is uploaded later`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = try makeStore(makeUploader())
        try first.take(.began(session), of: session.id)
        for number in 0..<2 { try first.take(chunk(number), of: session.id) }
        try first.take(
            .segmentEnded(RecordedSegment(track: 0, segment: 1, decodeTime: 0, duration: 180_000)), of: session.id)
        // The process is killed, and the disk is full.
        let disk = FullDisk()
        let uploader = try makeUploader()
        let store = try makeStore(uploader, disk)
        #expect(try store.recover().unreadable.count == 1)
        uploader.resume(from: store)
        #expect(uploader.status.segments == 0)
        disk.isFull.withLock { $0 = false }
        #expect(store.maintain().recovered == [session.id])
        uploader.resume(from: store)
        #expect(uploader.status.segments == 1)
        #expect(uploader.state.withLock { $0.begun == nil })
    }

    @Test func `a recording whose folder cannot be read at the start is uploaded completely later`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let earlier = try makeUploader()
        let first = try makeStore(earlier)
        try first.take(.began(session), of: session.id)
        try first.take(chunk(0), of: session.id)
        try UploadJournal(path: "\(root)/uploads.jsonl").replace(
            with: earlier.state.withLock { $0.queue.snapshot })
        try first.take(
            .segmentEnded(RecordedSegment(track: 0, segment: 1, decodeTime: 0, duration: 90_000)), of: session.id)
        // The process is killed before the queue knows of the segment.
        let disk = FullDisk()
        disk.isFull.withLock { $0 = false }
        disk.unreadable.withLock { $0 = first.layout.folder(of: session.id) }
        let uploader = try makeUploader()
        let store = try makeStore(uploader, disk)
        #expect(try store.recover().unreadable.count == 1)
        uploader.resume(from: store)
        #expect(uploader.holds(session.id))
        disk.unreadable.withLock { $0 = nil }
        #expect(store.maintain().recovered == [session.id])
        uploader.resume(from: store)
        #expect(uploader.status.segments == 1)
        #expect(uploader.state.withLock { $0.begun == nil })
    }

    @Test func `the queue does not wait for a recording that turns out to be damaged once it can be read`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let earlier = try makeUploader()
        let first = try makeStore(earlier)
        try first.take(.began(session), of: session.id)
        try first.take(chunk(0), of: session.id)
        try UploadJournal(path: "\(root)/uploads.jsonl").replace(
            with: earlier.state.withLock { $0.queue.snapshot })
        // The process is killed.
        let folder = first.layout.folder(of: session.id)
        let disk = FullDisk()
        disk.isFull.withLock { $0 = false }
        disk.unreadable.withLock { $0 = folder }
        let uploader = try makeUploader()
        let store = try makeStore(uploader, disk)
        try store.recover()
        uploader.resume(from: store)
        #expect(uploader.state.withLock { $0.begun != nil })
        try FileManager.default.removeItem(atPath: "\(folder)/session.json")
        disk.unreadable.withLock { $0 = nil }
        let report = store.maintain()
        #expect(report.recovered.isEmpty)
        #expect(report.lost == [session.id])
        uploader.resume(from: store)
        #expect(uploader.state.withLock { $0.begun == nil })
        #expect(store.maintain().lost.isEmpty)
    }

    @Test func `the wall clock does not decide what a privacy switch discards`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let uploader = try makeUploader()
        uploader.wrote(.began(session), of: session.id, at: nil)
        // The clock was an hour fast.
        let wallTime = session.id.start * 1_000 + 3_600_000_000
        uploader.wrote(chunk(0, captured: Instant.zero + .seconds(10), wallTime: wallTime), of: session.id, at: nil)
        uploader.discard(device: "door", capturedFrom: .zero + .seconds(11))
        #expect(uploader.status.segments == 1)
        uploader.discard(device: "door", capturedFrom: .zero + .seconds(10))
        #expect(uploader.status.segments == 0)
    }
}

/// The file system of the machine, on which files that exist cannot be written while it is full, and a folder cannot be
/// read for a while.
private final class FullDisk: RecordingFileSystem {
    let isFull = Locked(true)
    let unreadable = Locked<String?>(nil)
    private let system = SystemFileSystem()

    func open(_ path: String) throws(FileSystemFault) -> any RecordingFile {
        if isFull.withLock({ $0 }) { throw FileSystemFault(path: path, operation: "write", code: ENOSPC) }
        return try system.open(path)
    }

    func makeFolder(_ path: String) throws(FileSystemFault) { try system.makeFolder(path) }
    func synchronizeFolder(_ path: String) throws(FileSystemFault) { try system.synchronizeFolder(path) }
    func names(in path: String) throws(FileSystemFault) -> [String] {
        if path == unreadable.withLock({ $0 }) { throw FileSystemFault(path: path, operation: "opendir", code: EIO) }
        return try system.names(in: path)
    }
    func status(of path: String) throws(FileSystemFault) -> FileStatus? { try system.status(of: path) }
    func read(_ path: String, from offset: Int64, count: Int) throws(FileSystemFault) -> [UInt8] {
        try system.read(path, from: offset, count: count)
    }
    func create(_ path: String) throws(FileSystemFault) -> any RecordingFile { try system.create(path) }
    func rename(_ path: String, to newPath: String) throws(FileSystemFault) { try system.rename(path, to: newPath) }
    func remove(_ path: String) throws(FileSystemFault) { try system.remove(path) }
    func removeFolder(_ path: String) throws(FileSystemFault) { try system.removeFolder(path) }
    func space(at path: String) throws(FileSystemFault) -> FileSystemSpace { try system.space(at: path) }
}
