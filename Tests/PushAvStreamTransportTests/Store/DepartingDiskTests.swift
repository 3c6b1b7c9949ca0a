import Glibc
import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

/// A disk that can be away. Its mount point is then not there.
private final class DepartingDisk: RecordingFileSystem {
    private struct State {
        var isAway = false
        /// The folder at whose next listing the disk goes.
        var departure: String?
    }

    let disk = SimulatedFileSystem()
    private let state = Locked(State())

    /// The disk goes when this folder is listed.
    func leave(whenListing folder: String) { state.withLock { $0.departure = folder } }

    func comeBack() { state.withLock { $0 = State() } }

    private func require(_ operation: String, _ path: String) throws(FileSystemFault) {
        let isAway = state.withLock { state in
            if operation == "opendir", state.departure == path { state.isAway = true }
            return state.isAway
        }
        if isAway { throw FileSystemFault(path: path, operation: operation, code: ENOENT) }
    }

    func makeFolder(_ path: String) throws(FileSystemFault) {
        try require("mkdir", path)
        try disk.makeFolder(path)
    }

    func synchronizeFolder(_ path: String) throws(FileSystemFault) {
        try require("fsync", path)
        try disk.synchronizeFolder(path)
    }

    func names(in path: String) throws(FileSystemFault) -> [String] {
        try require("opendir", path)
        return try disk.names(in: path)
    }

    func status(of path: String) throws(FileSystemFault) -> FileStatus? {
        guard !state.withLock({ $0.isAway }) else { return nil }
        return try disk.status(of: path)
    }

    func read(_ path: String, from offset: Int64, count: Int) throws(FileSystemFault) -> [UInt8] {
        try require("open", path)
        return try disk.read(path, from: offset, count: count)
    }

    func create(_ path: String) throws(FileSystemFault) -> any RecordingFile {
        try require("open", path)
        return try disk.create(path)
    }

    func open(_ path: String) throws(FileSystemFault) -> any RecordingFile {
        try require("open", path)
        return try disk.open(path)
    }

    func rename(_ path: String, to newPath: String) throws(FileSystemFault) {
        try require("rename", path)
        try disk.rename(path, to: newPath)
    }

    // What is gone already is not a fault.

    func remove(_ path: String) throws(FileSystemFault) {
        if !state.withLock({ $0.isAway }) { try disk.remove(path) }
    }

    func removeFolder(_ path: String) throws(FileSystemFault) {
        if !state.withLock({ $0.isAway }) { try disk.removeFolder(path) }
    }

    func space(at path: String) throws(FileSystemFault) -> FileSystemSpace {
        try require("statvfs", path)
        return try disk.space(at: path)
    }
}

/// A queue of uploads that still needs every recording.
private final class WaitingUploads: RecordingFollower {
    private let gone = Locked<[RecordingSession.ID]>([])

    /// The recordings that it was told to forget.
    var forgotten: [RecordingSession.ID] { gone.withLock { $0 } }

    func wrote(_ output: RecordingOutput, of session: RecordingSession.ID, at place: RecordingPlace?) {}
    func holds(_ session: RecordingSession.ID) -> Bool { true }
    func deleted(_ session: RecordingSession.ID) { gone.withLock { $0.append(session) } }
}

/// A disk that fails or goes while a recording is deleted that is being uploaded.
@Suite struct DepartingDiskTests {
    private static let start: Int64 = 1_763_800_000_000
    private let root = "/state/recordings"
    private let fileSystem = DepartingDisk()
    private let uploads = WaitingUploads()
    private let store: RecordingStore
    private let id: RecordingSession.ID

    /// A store with one recording.
    init() throws {
        let folder = RecordingFolder(path: root, fileSystem: fileSystem)
        try #require(folder.open() == nil)
        store = try RecordingStore(
            root: root, folder: folder, fileSystem: fileSystem, index: MemoryRecordingIndex(), follower: uploads,
            now: { Self.start + 3_600_000 })
        var recorder = FakeRecorder(device: "camera", start: Self.start, seed: 1)
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { throw RecordingFault.unknownSession }
        id = session.id
        for output in outputs { try store.take(output, of: session.id) }
    }

    /// The files of the recording.
    private var files: [String] { fileSystem.disk.files(below: root) }

    /// The owner would believe that it is gone, and its upload would end.
    @Test func `a recording whose disk goes while it is deleted stays, and is not said to be unknown`() throws {
        let before = files
        fileSystem.leave(whenListing: store.layout.folder(of: id))
        let fault = #expect(throws: RecordingFault.self) { try store.delete(id) }
        #expect(fault?.endReason == .storageFailed)
        #expect(uploads.forgotten.isEmpty)
        fileSystem.comeBack()
        #expect(try store.recordings(RecordingQuery()).map(\.id) == [id])
        #expect(files == before)
        try store.delete(id)
        #expect(uploads.forgotten == [id] && files.isEmpty)
        #expect(throws: RecordingFault.unknownSession) { try store.delete(id) }
    }

    /// The calls make the tombstone, write it, and put it and its name on the disk.
    @Test(arguments: 1...4)
    func `a deletion that the disk refuses leaves the recording to its upload`(call: Int) throws {
        fileSystem.disk.faults.failing = [fileSystem.disk.calls + call: EIO]
        let fault = #expect(throws: RecordingFault.self) { try store.delete(id) }
        #expect(fault?.endReason == .storageFailed)
        #expect(uploads.forgotten.isEmpty)
        #expect(try store.recordings(RecordingQuery()).map(\.id) == [id])
        #expect(try store.recording(id).end != nil)
        try store.delete(id)
        #expect(uploads.forgotten == [id] && files.isEmpty)
    }

    /// A full disk has no room for the tombstone, so the session's description becomes it.
    @Test func `a deletion on a full disk that cannot be made durable leaves the recording readable`() throws {
        let before = files
        // Making the file fails, renaming the description works, and the folder cannot be synchronized.
        let calls = fileSystem.disk.calls
        fileSystem.disk.faults.failing = [calls + 1: ENOSPC, calls + 3: EIO]
        #expect(throws: RecordingFault.self) { try store.delete(id) }
        #expect(files == before && uploads.forgotten.isEmpty)
        #expect(try store.verify(id).problems.isEmpty)
    }

    /// The next call removes the first file.
    @Test func `a deletion that stops half-way ends the upload, and is completed although the disk goes again`()
        throws
    {
        fileSystem.disk.faults.failing = [fileSystem.disk.calls + 5: EIO]
        #expect(throws: RecordingFault.self) { try store.delete(id) }
        #expect(uploads.forgotten == [id] && !files.isEmpty)
        #expect(try store.recordings(RecordingQuery()).isEmpty)
        // The maintenance has begun when the disk goes.
        fileSystem.leave(whenListing: store.layout.folder(of: id))
        #expect(store.maintain().lost.isEmpty)
        fileSystem.comeBack()
        #expect(store.isUnavailable(id))
        #expect(store.maintain().lost == [id])
        #expect(uploads.forgotten == [id] && files.isEmpty)
        #expect(store.maintain() == MaintenanceReport())
    }
}
