import Foundation
import Glibc

/// The folder where the gateway keeps what it makes at its first start: the token, certificates and keys.
public struct StateDirectory: Sendable, Equatable {
    /// Why something in the folder cannot be used.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The file or folder.
        public var path: String
        /// What is wrong and what to do.
        public var reason: String
        /// Whether a file would be larger than it may be.
        public var isTooLarge = false

        public var description: String { "\(self.path): \(self.reason)" }
    }

    /// The largest private file that is read, and so the largest that is written.
    static let maximumFileSize = 1 << 20

    /// The folder.
    public var path: String

    /// Names a folder; it is made when it is first used.
    public init(path: String) {
        self.path = path
    }

    /// The folder of a user without a config: what the service manager gives, then the XDG base directory, then
    /// `/var/lib/gatehouse` for root and `~/.local/state/gatehouse` for everybody else.
    public static func standard(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> StateDirectory {
        // systemd gives a colon-separated list; the first folder is ours.
        if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
            return StateDirectory(path: String(given))
        }
        if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") {
            return StateDirectory(path: base + "/gatehouse")
        }
        if geteuid() == 0 { return StateDirectory(path: "/var/lib/gatehouse") }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return StateDirectory(path: home + "/.local/state/gatehouse")
    }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { "\(self.path)/\(name)" }

    /// Makes the folder, for its owner alone.
    public func create() throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(
                path: self.path, reason: "the state folder cannot be made; set stateDirectory to a folder you may write"
            )
        }
    }

    /// Reads a private file; nil when there is none.
    /// - Throws: when it cannot be read, or when others than its owner may read it.
    func readPrivate(_ name: String) throws(Failure) -> String? {
        let path = self.file(name)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(path: path, reason: "cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let attributes = (try? FileManager.default.attributesOfItem(atPath: path)) ?? [:]
        guard attributes[.type] as? FileAttributeType == .typeRegular,
            let permissions = attributes[.posixPermissions] as? Int, let size = attributes[.size] as? Int
        else { throw Failure(path: path, reason: "is no regular file") }
        guard permissions & 0o077 == 0 else {
            throw Failure(path: path, reason: "others may read this secret; run chmod 600 on it")
        }
        guard size <= Self.maximumFileSize else { throw Failure(path: path, reason: "is larger than 1 MiB") }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else {
            throw Failure(path: path, reason: "cannot be read: \(String(cString: strerror(errno)))")
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Writes a private file whole or not at all, for its owner alone.
    /// - Throws: also when it is larger than the next start would read.
    func writePrivate(_ name: String, _ text: String) throws(Failure) {
        let path = self.file(name)
        guard text.utf8.count <= Self.maximumFileSize else {
            throw Failure(path: path, reason: "would be larger than 1 MiB and is left as it is", isTooLarge: true)
        }
        try self.create()
        let temporary = "\(path).\(getpid()).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw Failure(path: temporary, reason: "cannot be written: \(String(cString: strerror(errno)))")
        }
        let bytes = Array(text.utf8)
        let isWritten =
            bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count
            && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(temporary)
            throw Failure(path: path, reason: "cannot be written: \(reason)")
        }
    }

    /// Removes a file if it is there.
    func remove(_ name: String) {
        unlink(self.file(name))
    }
}
