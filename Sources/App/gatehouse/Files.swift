import CFileStatus
import Foundation
import Glibc

/// Why a file cannot be used, for a person to read.
struct FileFault: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }

    /// The last error of the C library for a file.
    init(_ path: String, _ cannot: String, error: Int32) {
        description = "\(path) cannot be \(cannot): \(String(cString: strerror(error)))"
    }
}

/// Reads files that a command line names.
enum InputFile {
    /// Reads the file `path`, or standard input for `-`: a plain file, a pipe or a device.
    ///
    /// A file that is longer than `limit` is refused before anything is read. From a pipe it reads only as much as is
    /// needed to see that it is longer.
    /// - Parameter what: the kind of content, for the message.
    static func read(_ path: String, limit: Int, what: String) throws(FileFault) -> [UInt8] {
        guard path != "-" else { return try read(STDIN_FILENO, "standard input", limit: limit, what: what) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(path, "read", error: errno) }
        defer { close(descriptor) }
        return try read(descriptor, path, limit: limit, what: what)
    }

    private static func read(
        _ descriptor: Int32, _ path: String, limit: Int, what: String
    ) throws(FileFault) -> [UInt8] {
        var status = file_status()
        guard file_status_of_descriptor(descriptor, &status) else { throw FileFault(path, "read", error: errno) }
        let tooLong = FileFault("\(path) is too large for a \(what): the limit is \(limit) bytes")
        if status.is_folder { throw FileFault("\(path) is a folder; name a file in it") }
        if status.is_regular, status.size > limit { throw tooLong }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            let wanted = min(buffer.count, limit + 1 - bytes.count)
            let count = Glibc.read(descriptor, &buffer, wanted)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFault(path, "read", error: errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
        throw tooLong
    }
}

/// Checks before the work begins whether its result can be written.
enum OutputFile {
    /// Fails unless `path` is a file that can be written, or can be made in a folder that can be written.
    static func check(_ path: String) throws(FileFault) {
        var status = file_status()
        if file_status_of_path(path, true, &status) {
            guard !status.is_folder else { throw FileFault("\(path) is a folder; name a file in it") }
            guard access(path, W_OK) == 0 else { throw FileFault(path, "written", error: errno) }
            return
        }
        guard errno == ENOENT else { throw FileFault(path, "written", error: errno) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard file_status_of_path(folder, true, &status), status.is_folder else {
            throw FileFault("\(path) cannot be written: the folder \(folder) does not exist")
        }
        guard access(folder, W_OK | X_OK) == 0 else {
            throw FileFault("\(path) cannot be written: you may not create files in the folder \(folder)")
        }
    }

    /// Writes a file, and replaces an existing one.
    static func write(_ bytes: [UInt8], to path: String) throws(FileFault) {
        try write(bytes, to: path, open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644))
    }

    /// Writes a new file that only its owner can read. An existing one is left as it is.
    static func create(_ bytes: [UInt8], at path: String) throws(FileFault) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == EEXIST { throw FileFault("\(path) already exists; choose another name") }
        try write(bytes, to: path, descriptor)
    }

    /// Writes a private file completely or not at all: only its owner can read it, and in a folder that root shares with
    /// a group (set-group-ID), that group too. An existing file is replaced.
    static func replace(_ bytes: [UInt8], at path: String) throws(FileFault) {
        let temporary = "\(path).\(getpid()).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        var status = stat()
        if descriptor >= 0, geteuid() == 0, fstat(descriptor, &status) == 0, status.st_gid != 0 {
            // The service runs as a user of that group.
            fchmod(descriptor, 0o640)
        }
        do throws(FileFault) {
            try write(bytes, to: temporary, descriptor)
            guard rename(temporary, path) == 0 else { throw FileFault(path, "written", error: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to path: String, _ descriptor: Int32) throws(FileFault) {
        guard descriptor >= 0 else { throw FileFault(path, "written", error: errno) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileFault(path, "written", error: errno) }
            rest = rest.dropFirst(count)
        }
    }
}
