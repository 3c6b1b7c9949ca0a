import CFileStatus
import Glibc

/// The file system of the machine.
///
/// Files are made for their owner only, and symbolic links are never followed at the end of a path: footage is private,
/// and a link that somebody placed in the state folder must not lead a write elsewhere.
public struct SystemFileSystem: RecordingFileSystem {
    /// Uses the system's calls.
    public init() {}

    public func makeFolder(_ path: String) throws(FileSystemFault) {
        if mkdir(path, 0o700) == 0 { return }
        let code = errno
        if code == EEXIST, try status(of: path)?.kind == .folder { return }
        throw FileSystemFault(path: path, operation: "mkdir", code: code)
    }

    public func synchronizeFolder(_ path: String) throws(FileSystemFault) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw FileSystemFault(path: path, operation: "open", code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileSystemFault(path: path, operation: "fsync", code: errno) }
    }

    public func names(in path: String) throws(FileSystemFault) -> [String] {
        guard let folder = opendir(path) else { throw FileSystemFault(path: path, operation: "opendir", code: errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                guard errno == 0 else { throw FileSystemFault(path: path, operation: "readdir", code: errno) }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                // The kernel ends each name with a zero byte, within the 256 bytes of the member.
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    public func status(of path: String) throws(FileSystemFault) -> FileStatus? {
        var found = file_status()
        guard file_status_of_path(path, false, &found) else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return nil }
            throw FileSystemFault(path: path, operation: "stat", code: code)
        }
        return FileStatus(kind: found.is_regular ? .file : found.is_folder ? .folder : .other, size: found.size)
    }

    public func read(_ path: String, from offset: Int64, count: Int) throws(FileSystemFault) -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileSystemFault(path: path, operation: "open", code: errno) }
        defer { close(descriptor) }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
            while initialized < count {
                let got = pread(
                    descriptor, buffer.baseAddress.map { $0 + initialized }, count - initialized,
                    off_t(offset) + off_t(initialized))
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                guard got > 0 else { return }
                initialized += got
            }
        }
        guard failure == 0 else { throw FileSystemFault(path: path, operation: "read", code: failure) }
        return bytes
    }

    public func create(_ path: String) throws(FileSystemFault) -> any RecordingFile {
        try SystemFile(path, O_RDWR | O_CREAT | O_EXCL)
    }

    public func open(_ path: String) throws(FileSystemFault) -> any RecordingFile {
        try SystemFile(path, O_RDWR)
    }

    public func rename(_ path: String, to newPath: String) throws(FileSystemFault) {
        guard Glibc.rename(path, newPath) == 0 else {
            throw FileSystemFault(path: path, operation: "rename", code: errno)
        }
    }

    public func remove(_ path: String) throws(FileSystemFault) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw FileSystemFault(path: path, operation: "unlink", code: errno)
        }
    }

    public func removeFolder(_ path: String) throws(FileSystemFault) {
        guard rmdir(path) == 0 || errno == ENOENT else {
            throw FileSystemFault(path: path, operation: "rmdir", code: errno)
        }
    }

    public func space(at path: String) throws(FileSystemFault) -> FileSystemSpace {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            throw FileSystemFault(path: path, operation: "statvfs", code: errno)
        }
        let unit = Int64(clamping: UInt64(status.f_frsize))
        func bytes(_ blocks: UInt64) -> Int64 {
            let (product, overflow) = Int64(clamping: blocks).multipliedReportingOverflow(by: unit)
            return overflow ? .max : product
        }
        return FileSystemSpace(free: bytes(UInt64(status.f_bavail)), total: bytes(UInt64(status.f_blocks)))
    }
}

/// A file of the machine.
private final class SystemFile: RecordingFile {
    private let descriptor: Int32
    private let path: String

    init(_ path: String, _ flags: Int32) throws(FileSystemFault) {
        self.path = path
        self.descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard self.descriptor >= 0 else { throw FileSystemFault(path: path, operation: "open", code: errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemFault) -> Int {
        while true {
            let written = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            if written >= 0 { return written }
            guard errno == EINTR else { throw FileSystemFault(path: path, operation: "write", code: errno) }
        }
    }

    func synchronize() throws(FileSystemFault) {
        guard fdatasync(descriptor) == 0 else {
            throw FileSystemFault(path: path, operation: "fdatasync", code: errno)
        }
    }

    func truncate(to length: Int64) throws(FileSystemFault) {
        guard ftruncate(descriptor, off_t(length)) == 0 else {
            throw FileSystemFault(path: path, operation: "ftruncate", code: errno)
        }
    }
}
