import Foundation
import Glibc
import HomeTypes
import Testing

@testable import HomeSDK

@Suite(.timeLimit(.minutes(10))) struct ClipTests {
    @Test func `a clip that cannot be fetched leaves the file that it would replace`() async throws {
        let script = ScriptedHome()
        var record = HistoryRecord(id: "h1", kind: .press, deviceID: "d1", timestamp: Date(timeIntervalSince1970: 0))
        record.clip = "/v1/recordings/r1/export.mp4"
        let item = HistoryItem(script.model, record, device: nil)
        let folder = FileManager.default.temporaryDirectory.appending(path: "clips-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "door.mp4")
        try Data("kept".utf8).write(to: file)
        let error = await #expect(throws: HomeError.self) { try await item.saveClip(to: file) }
        #expect(error?.code == .unavailable)
        #expect(try Data(contentsOf: file) == Data("kept".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["door.mp4"])
    }

    /// A folder with a pipe, whose reader has opened it.
    private struct Piped {
        let folder: URL
        let pipe: URL
        let reader: Int32

        init() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "clips-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let pipe = folder.appending(path: "pipe")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            // It does not wait for a writer.
            let reader = open(pipe.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            try #require(reader >= 0)
            // As the connection to a gateway does.
            signal(SIGPIPE, SIG_IGN)
            self.folder = folder
            self.pipe = pipe
            self.reader = reader
        }

        /// What the pipe has.
        func text() -> String {
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = read(reader, &bytes, bytes.count)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }

        func remove() {
            close(reader)
            try? FileManager.default.removeItem(at: folder)
        }
    }

    @Test func `a clip is written into a pipe as it comes, and the pipe stays`() throws {
        let piped = try Piped()
        defer { piped.remove() }
        let file = try ClipFile(piped.pipe)
        try file.write(Data("one".utf8))
        #expect(piped.text() == "one")
        try file.write(Data("two".utf8))
        try file.finish()
        file.close()
        #expect(piped.text() == "two")
        #expect(try FileManager.default.contentsOfDirectory(atPath: piped.folder.path) == ["pipe"])
    }

    @Test func `a clip is written into a pipe that a link of the system names`() throws {
        let pipe = Pipe()
        // /dev/stdout leads to such a link.
        let link = "/proc/self/fd/\(pipe.fileHandleForWriting.fileDescriptor)"
        let file = try ClipFile(URL(fileURLWithPath: link))
        defer { file.close() }
        try file.write(Data("one".utf8))
        try file.finish()
        #expect(pipe.fileHandleForReading.availableData == Data("one".utf8))
    }

    @Test func `a pipe without a reader is refused, and does not wait for one`() throws {
        let piped = try Piped()
        defer { try? FileManager.default.removeItem(at: piped.folder) }
        close(piped.reader)
        let error = #expect(throws: HomeError.self) { try ClipFile(piped.pipe) }
        #expect(error?.code == .failedPrecondition && error?.message.contains("nobody reads from") == true)
    }

    @Test func `a reader of a pipe that leaves ends the clip with the reason`() throws {
        let piped = try Piped()
        defer { try? FileManager.default.removeItem(at: piped.folder) }
        let file = try ClipFile(piped.pipe)
        defer { file.close() }
        close(piped.reader)
        let error = #expect(throws: HomeError.self) { try file.write(Data("one".utf8)) }
        #expect(error?.code == .failedPrecondition && error?.message.contains(piped.pipe.path) == true)
    }

    @Test func `a clip for a reader that does not read ends with its task`() async throws {
        let piped = try Piped()
        defer { piped.remove() }
        let saving = Task { [pipe = piped.pipe] in
            let file = try ClipFile(pipe)
            defer { file.close() }
            // More than the pipe holds.
            try file.write(Data(count: 1 << 22))
        }
        saving.cancel()
        let error = await #expect(throws: HomeError.self) { try await saving.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a clip that replaces a file keeps its permissions, and a link to it stays`() throws {
        let piped = try Piped()
        defer { piped.remove() }
        let old = piped.folder.appending(path: "door.mp4")
        let link = piped.folder.appending(path: "newest.mp4")
        try Data("old".utf8).write(to: old)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: old.path)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: old)
        let file = try ClipFile(link)
        try file.write(Data("new".utf8))
        #expect(try Data(contentsOf: old) == Data("old".utf8))
        try file.finish()
        file.close()
        #expect(try Data(contentsOf: old) == Data("new".utf8))
        var status = stat()
        let found = stat(old.path, &status)
        #expect(found == 0 && status.st_mode & 0o777 == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == old.path)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: piped.folder.path).sorted()
                == ["door.mp4", "newest.mp4", "pipe"])
    }

    /// The administrator of the machine may write into any file.
    @Test(.enabled(if: geteuid() != 0))
    func `a file that permits no writing stays, and nothing is left beside it`() throws {
        let piped = try Piped()
        defer { piped.remove() }
        let old = piped.folder.appending(path: "door.mp4")
        try Data("old".utf8).write(to: old)
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: old.path)
        let error = #expect(throws: HomeError.self) { try ClipFile(old) }
        #expect(error?.code == .failedPrecondition)
        #expect(try Data(contentsOf: old) == Data("old".utf8))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: piped.folder.path).sorted() == ["door.mp4", "pipe"])
    }

    /// The administrator of the machine could replace the device by a file, if the code were wrong.
    @Test(.enabled(if: geteuid() != 0)) func `a clip that is written into a device leaves no file`() throws {
        let file = try ClipFile(URL(fileURLWithPath: "/dev/null"))
        try file.write(Data("one".utf8))
        try file.finish()
        file.close()
        var status = stat()
        let found = stat("/dev/null", &status)
        #expect(found == 0 && status.st_mode & S_IFMT == S_IFCHR)
    }
}
