import CFileStatus
import Foundation
import Glibc

/// The folder for what the gateway makes at its first start: the token, certificates and keys.
public struct StateDirectory: Sendable, Equatable {
    /// Why something in the folder cannot be used.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The file or folder.
        public var path: String
        /// What is wrong and what to do.
        public var reason: String
        /// Whether a file would be larger than the limit.
        public var isTooLarge = false

        public var description: String { "\(path): \(reason)" }
    }

    /// The largest private file that is read, and therefore the largest that is written.
    static let maximumFileSize = 1 << 20

    /// The folder.
    public var path: String

    /// Names a folder. It is made when it is first used.
    public init(path: String) {
        self.path = path
    }

    /// The folder for a user without a config: the one from the service manager, then the XDG base directory, then
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
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes the folder, only for its owner.
    public func create() throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(
                path: path, reason: "the state folder cannot be made; set stateDirectory to a folder you may write"
            )
        }
    }

    /// Reads a private file; nil when there is none.
    /// - Throws: when it cannot be read, when it is not a regular file, when it belongs to somebody else, or when
    ///   anyone except its owner may read or write it.
    func readPrivate(_ name: String) throws(Failure) -> String? {
        let path = file(name)
        // A FIFO or a device in its place must not block the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(path: path, reason: Self.openFailure(errno))
        }
        defer { close(descriptor) }
        try checkPrivate(descriptor, path)
        do throws(RegularFile.Failure) {
            return String(
                decoding: try RegularFile.read(descriptor, limit: Self.maximumFileSize), as: UTF8.self)
        } catch {
            throw Failure(path: path, reason: error.words)
        }
    }

    /// Fails unless an open file is regular and belongs only to its owner. This looks at the open file and not at the
    /// path again, so the file cannot be exchanged in between.
    func checkPrivate(_ descriptor: Int32, _ path: String) throws(Failure) {
        var status = file_status()
        guard file_status_of_descriptor(descriptor, &status), status.is_regular else {
            throw Failure(path: path, reason: "is not a regular file; move it away")
        }
        guard isTrusted(owner: status.owner) else {
            throw Failure(
                path: path,
                reason:
                    "belongs to the user with the id \(status.owner), who could change it at any time; if it is "
                    + "the gateway's, run chown \(geteuid()) on it")
        }
        guard status.permissions & 0o077 == 0 else {
            throw Failure(path: path, reason: "others may read or change this secret; run chmod 600 on it")
        }
    }

    /// Whether a file has an allowed owner: the user of this process, or root. Root itself, for example with `gatehouse
    /// token`, reads the files of the user who owns the folder.
    private func isTrusted(owner: uid_t) -> Bool {
        if owner == geteuid() || owner == 0 { return true }
        var folder = file_status()
        return geteuid() == 0 && file_status_of_path(path, true, &folder) && folder.owner == owner
    }

    private static func openFailure(_ code: Int32) -> String {
        code == ELOOP
            ? "is a symbolic link; put the file itself in its place"
            : "cannot be read: \(String(cString: strerror(code)))"
    }

    /// Writes a private file completely or not at all, only for its owner.
    /// - Throws: also when it is larger than the next start would read.
    func writePrivate(_ name: String, _ text: String) throws(Failure) {
        let path = file(name)
        guard text.utf8.count <= Self.maximumFileSize else {
            throw Failure(path: path, reason: "would be larger than 1 MiB, so it was not changed", isTooLarge: true)
        }
        try create()
        var present = file_status()
        // A file would replace whatever is there. If that is not a file, a gateway did not put it there.
        if file_status_of_path(path, false, &present), !present.is_regular {
            throw Failure(path: path, reason: "is not a regular file; move it away")
        }
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
        unlink(file(name))
    }
}
