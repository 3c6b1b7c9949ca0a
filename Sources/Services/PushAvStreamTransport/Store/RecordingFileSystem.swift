import Glibc

/// What the store needs of a file system. Paths are absolute.
///
/// The store is built on this protocol instead of the system's calls, so that tests can lose what was not synchronized,
/// fill the disk, and fail any call.
public protocol RecordingFileSystem: Sendable {
    /// Makes a folder whose parent exists. A folder that exists already is left as it is.
    func makeFolder(_ path: String) throws(FileSystemFault)
    /// Returns when the entries of a folder (names that were added, replaced or removed) are on the disk.
    func synchronizeFolder(_ path: String) throws(FileSystemFault)
    /// The names in a folder, in any order.
    func names(in path: String) throws(FileSystemFault) -> [String]
    /// What is at a path; nil when nothing is. A symbolic link is not followed.
    func status(of path: String) throws(FileSystemFault) -> FileStatus?
    /// Up to `count` bytes from `offset` on; fewer at the end of the file.
    func read(_ path: String, from offset: Int64, count: Int) throws(FileSystemFault) -> [UInt8]
    /// Makes a file for writing. It must not exist yet.
    func create(_ path: String) throws(FileSystemFault) -> any RecordingFile
    /// Opens a file that exists, for writing.
    func open(_ path: String) throws(FileSystemFault) -> any RecordingFile
    /// Gives a file another name, and replaces what has that name.
    func rename(_ path: String, to newPath: String) throws(FileSystemFault)
    /// Removes a file. A file that is gone already is not a fault.
    func remove(_ path: String) throws(FileSystemFault)
    /// Removes an empty folder. A folder that is gone already is not a fault.
    func removeFolder(_ path: String) throws(FileSystemFault)
    /// How much room the file system of a path has.
    func space(at path: String) throws(FileSystemFault) -> FileSystemSpace
}

/// A file that is open for writing. One thread at a time uses it. It closes itself when it is released.
public protocol RecordingFile: Sendable {
    /// Writes bytes at an offset, and returns how many were written, which may be fewer.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemFault) -> Int
    /// Returns when the file's bytes and its length are on the disk (`fdatasync`).
    func synchronize() throws(FileSystemFault)
    /// Cuts the file.
    func truncate(to length: Int64) throws(FileSystemFault)
}

extension RecordingFile {
    /// Writes all of the bytes, in as many steps as the file system needs.
    func writeAll(_ bytes: [UInt8], at offset: Int64, path: String) throws(FileSystemFault) {
        var done = 0
        while done < bytes.count {
            let written: Result<Int, FileSystemFault> = bytes.withUnsafeBytes { all in
                do throws(FileSystemFault) {
                    return .success(
                        try write(UnsafeRawBufferPointer(rebasing: all[done...]), at: offset + Int64(done)))
                } catch {
                    return .failure(error)
                }
            }
            let count = try written.get()
            // A file system that takes nothing and reports no reason has no room.
            guard count > 0 else { throw FileSystemFault(path: path, operation: "write", code: ENOSPC) }
            done += count
        }
    }
}

extension RecordingFileSystem {
    /// The whole of a file, at most `limit` bytes.
    func readAll(_ path: String, limit: Int) throws(FileSystemFault) -> [UInt8] {
        guard let status = try self.status(of: path) else {
            throw FileSystemFault(path: path, operation: "read", code: ENOENT)
        }
        guard status.kind == .file, status.size <= Int64(limit) else {
            throw FileSystemFault(path: path, operation: "read", code: EFBIG)
        }
        return try read(path, from: 0, count: Int(status.size))
    }

    /// Makes a file with these bytes, which are on the disk when this returns. Its name is so only after the folder was
    /// synchronized.
    func writeNew(_ path: String, _ bytes: [UInt8]) throws(FileSystemFault) {
        let file = try create(path)
        try file.writeAll(bytes, at: 0, path: path)
        try file.synchronize()
    }
}

/// What is at a path.
public struct FileStatus: Equatable, Sendable {
    /// Kinds of entries.
    public enum Kind: Sendable { case file, folder, other }

    /// What it is.
    public var kind: Kind
    /// The length of a file, in bytes.
    public var size: Int64

    /// Describes an entry.
    public init(kind: Kind, size: Int64) {
        self.kind = kind
        self.size = size
    }
}

/// The room of a file system, in bytes.
public struct FileSystemSpace: Equatable, Sendable {
    /// What this process may still write.
    public var free: Int64
    /// The size of the file system.
    public var total: Int64

    /// Describes the room.
    public init(free: Int64, total: Int64) {
        self.free = free
        self.total = total
    }
}

/// The file system refused.
public struct FileSystemFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file or folder.
    public var path: String
    /// What was tried, as the name of the system's call.
    public var operation: String
    /// The system's number for the reason (`errno`).
    public var code: Int32

    /// Describes a fault.
    public init(path: String, operation: String, code: Int32) {
        self.path = path
        self.operation = operation
        self.code = code
    }

    /// Whether there was no room, or the quota of the user is used up.
    public var isFull: Bool { code == ENOSPC || code == EDQUOT }

    /// The system's words for the reason.
    public var reason: String { String(cString: strerror(code)) }

    public var description: String { "\(path): \(operation): \(reason)" }
}

extension RecordingFault {
    /// The fault of a recording for one of the file system.
    init(_ fault: FileSystemFault) {
        self =
            fault.isFull
            ? .storageFull(path: fault.path, .system(fault.code))
            : .storage(path: fault.path, .call(fault.operation, fault.code))
    }
}
