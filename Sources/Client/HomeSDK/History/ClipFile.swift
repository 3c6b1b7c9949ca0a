import Foundation
import Glibc
import HomeTypes

/// Where a clip is saved. A regular file is replaced once the clip is whole; a device or a pipe is written to as the clip comes.
struct ClipFile {
    private enum Target {
        /// A file beside the target, which then takes its name.
        case replacing(target: String, partial: String)
        case stream
    }

    private let name: String
    private let target: Target
    private let handle: FileHandle

    /// Opens the file.
    /// - Throws: `failedPrecondition` if it cannot be written, or if nobody reads from the pipe.
    init(_ file: URL) throws(HomeError) {
        name = file.path
        // The attributes of a link are not those of what it leads to. `/dev/stdout` is a link that only the system can follow.
        var status = stat()
        let exists = stat(file.path, &status) == 0
        let kind = status.st_mode & S_IFMT
        guard !exists || kind == S_IFREG else {
            target = .stream
            handle = try Self.openStream(file.path, isPipe: kind == S_IFIFO)
            return
        }
        // A link stays a link.
        let path = file.resolvingSymlinksInPath().path
        let partial = "\(path).\(UUID().uuidString).part"
        let permissions = exists ? [FileAttributeKey.posixPermissions: Int(status.st_mode & 0o7777)] : nil
        target = .replacing(target: path, partial: partial)
        guard FileManager.default.createFile(atPath: partial, contents: nil, attributes: permissions),
            let handle = FileHandle(forWritingAtPath: partial)
        else {
            // A file that permits no writing passes that on to the one beside it, which exists then.
            try? FileManager.default.removeItem(atPath: partial)
            throw .failedPrecondition("\(name) cannot be written; check that its folder exists and permits it")
        }
        self.handle = handle
    }

    private static func openStream(_ path: String, isPipe: Bool) throws(HomeError) -> FileHandle {
        // Without a reader, opening a pipe waits for one. Nothing could end this wait, and it would hold a thread that other
        // tasks need.
        let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = errno
            throw .failedPrecondition(
                reason == ENXIO && isPipe
                    ? "nobody reads from \(path); open it for reading, and save the clip again"
                    : "\(path) cannot be written: \(String(cString: strerror(reason)))")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes the next part. A reader that is slower than the gateway is waited for, unless the task is cancelled.
    func write(_ block: Data) throws(HomeError) {
        switch target {
        case .replacing:
            do { try handle.write(contentsOf: block) } catch { throw failure(error.localizedDescription) }
        case .stream: try writeStream(block)
        }
    }

    private func writeStream(_ block: Data) throws(HomeError) {
        let descriptor = handle.fileDescriptor
        var rest = block
        while !rest.isEmpty {
            let (count, reason) = rest.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> (Int, Int32) in
                let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                return (count, errno)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if reason == EAGAIN {
                try waitForReader(descriptor)
            } else if reason != EINTR {
                throw failure(String(cString: strerror(reason)))
            }
        }
    }

    private func waitForReader(_ descriptor: Int32) throws(HomeError) {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // After each wait the task may have been cancelled.
        _ = poll(&waiting, 1, 100)
        if Task.isCancelled { throw .cancelled("saving a clip to \(name) was cancelled; a part of it was written") }
    }

    /// Gives the whole clip its name.
    func finish() throws(HomeError) {
        guard case .replacing(let target, let partial) = target else { return }
        guard rename(partial, target) == 0 else { throw failure(String(cString: strerror(errno))) }
    }

    /// Closes the file, and removes what is not a whole clip.
    func close() {
        // A file that cannot be closed was written as far as it could be.
        try? handle.close()
        // A whole clip no longer has this name.
        if case .replacing(_, let partial) = target { try? FileManager.default.removeItem(atPath: partial) }
    }

    private func failure(_ reason: String) -> HomeError { .failedPrecondition("\(name) cannot be written: \(reason)") }
}
