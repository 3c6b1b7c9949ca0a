import CFileStatus
import Foundation
import Glibc

/// The right to use a state folder. One process holds it at a time, from its start to its end. However the process
/// ends, the kernel releases the lock.
///
/// Two gateways on one folder would overwrite each other's cameras, tokens and events.
public final class StateDirectoryLock: Sendable {
    /// The file in the state folder. It stays. Only the lock on it counts, not its existence.
    static let fileName = "gateway.lock"

    private let descriptor: Int32

    /// Locks a folder, which is made if it is missing.
    /// - Throws: when others than its owner may write the folder, or when another process holds the lock.
    public init(_ directory: StateDirectory) throws(StateDirectory.Failure) {
        try directory.create()
        try Self.check(directory)
        let path = directory.file(Self.fileName)
        // Children do not inherit it, because they would keep the lock beyond the gateway's end.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw .init(path: path, reason: "cannot be opened: \(String(cString: strerror(errno)))")
        }
        do throws(StateDirectory.Failure) {
            try directory.checkPrivate(descriptor, path)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw .init(path: directory.path, reason: Self.refusal(errno, descriptor))
            }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        // For people and for the message above; nothing else reads it.
        let note = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = note.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        // A forked child that has not called exec yet shares the lock. Closing alone would leave it locked.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether a process, which may be this one, holds the lock of a folder. Nothing is made.
    static func isHeld(_ directory: StateDirectory) -> Bool {
        let descriptor = open(directory.file(fileName), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        // It ends with the descriptor.
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private static func refusal(_ code: Int32, _ descriptor: Int32) -> String {
        guard code == EWOULDBLOCK else { return "cannot be locked: \(String(cString: strerror(code)))" }
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        let digits = bytes.prefix(max(count, 0)).prefix { (0x30...0x39).contains($0) }
        // For a moment after locking, the file holds no process number yet.
        let process =
            digits.isEmpty ? "another gateway" : "another gateway, process \(String(decoding: digits, as: UTF8.self)),"
        return "\(process) is using this state folder; stop it, or set stateDirectory to another folder"
    }

    /// A user who may write to the folder may replace the gateway's files.
    private static func check(_ directory: StateDirectory) throws(StateDirectory.Failure) {
        var status = file_status()
        guard file_status_of_path(directory.path, true, &status) else {
            throw .init(path: directory.path, reason: "cannot be examined: \(String(cString: strerror(errno)))")
        }
        guard status.owner == geteuid() else {
            throw .init(
                path: directory.path,
                reason: "belongs to the user with the id \(status.owner), who could change the gateway's secrets; "
                    + "run chown \(geteuid()) on it, or start the gateway as that user")
        }
        guard status.permissions & 0o022 == 0 else {
            throw .init(
                path: directory.path,
                reason: "other users may write to this folder and could change secrets; run chmod go-w on it")
        }
    }
}
