import Glibc

/// Files that are whole after a power cut.
enum DurableFile {
    /// Reads a file of at most `limit` bytes; nil when there is none.
    static func read(_ path: String, limit: Int) throws(UploadStorageFailure) -> [UInt8]? {
        // A FIFO in its place must not block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw UploadStorageFailure(path: path, reason: .tooLarge(limit: limit))
            }
        }
    }

    /// Writes a file completely or not at all, only for its owner. It is on the disk when this returns.
    static func write(_ bytes: [UInt8], to path: String) throws(UploadStorageFailure) {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(temporary) }
        do throws(UploadStorageFailure) {
            try append(bytes, to: descriptor, path: temporary)
            guard fsync(descriptor) == 0 else { throw failure(temporary) }
        } catch {
            close(descriptor)
            unlink(temporary)
            throw error
        }
        close(descriptor)
        guard rename(temporary, path) == 0 else {
            let failed = failure(path)
            unlink(temporary)
            throw failed
        }
        syncFolder(of: path)
    }

    /// Writes all bytes to an open file.
    static func append(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(UploadStorageFailure) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            written += count
        }
    }

    /// Makes the name of a new file durable. A file system that cannot do that does not need it.
    static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    static func failure(_ path: String) -> UploadStorageFailure {
        UploadStorageFailure(path: path, reason: .system(errno))
    }
}
