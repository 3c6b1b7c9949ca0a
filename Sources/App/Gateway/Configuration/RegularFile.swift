import CFileStatus
import Glibc

/// Reads files that the config or the command line names: regular ones, up to a limit. A FIFO or a device would block the
/// start or never end.
enum RegularFile {
    /// Why a file is not read.
    enum Failure: Error, Equatable {
        case missing
        case folder
        /// It is a pipe, a device or a socket.
        case notRegular
        /// It has more bytes than the limit.
        case tooLarge(limit: Int)
        /// The system refuses it, with an error number.
        case refused(errorNumber: Int32)

        /// The failure as the end of a sentence about the file.
        var words: String {
            switch self {
            case .missing: "the file does not exist"
            case .folder: "is a folder; name a file in it"
            case .notRegular: "is not a regular file; copy its content into one"
            case .tooLarge(let limit): "is larger than \(limit >> 20) MiB"
            case .refused(let number): "cannot be read: \(String(cString: strerror(number)))"
            }
        }
    }

    /// The content of a file. A link to it is followed.
    static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw errno == ENOENT ? .missing : .refused(errorNumber: errno) }
        defer { close(descriptor) }
        var status = file_status()
        guard file_status_of_descriptor(descriptor, &status) else { throw .refused(errorNumber: errno) }
        if status.is_folder { throw .folder }
        guard status.is_regular else { throw .notRegular }
        guard status.size <= limit else { throw .tooLarge(limit: limit) }
        return try read(descriptor, limit: limit)
    }

    /// What is left of an open file. It may have grown since its size was looked at.
    static func read(_ descriptor: Int32, limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, min(buffer.count, limit + 1 - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .refused(errorNumber: errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
        }
    }
}
