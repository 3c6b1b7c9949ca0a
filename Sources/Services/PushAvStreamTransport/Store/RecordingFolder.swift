import Transport

/// The folder of all recordings. It may lie on a disk that is not there, and nothing may be made in its place then: the
/// recordings would fill another disk, and be hidden as soon as their own is mounted.
///
/// The gateway puts a file into the folder when it uses it for the first time, and remembers that. From then on a folder
/// without this file is not used: it is the empty mount point of a disk that is not mounted.
public final class RecordingFolder: Sendable {
    /// The file by which the folder is recognized. It is empty.
    public static let markerName = ".gatehouse-recordings"

    /// The folder.
    public let path: String
    private let memory: String?
    private let fileSystem: any RecordingFileSystem
    /// Why the folder could not be prepared the last time.
    private let failure = Locked<RecordingFolderProblem?>(nil)

    /// Names a folder. ``open()`` has to follow.
    /// - Parameter memory: the file that remembers which folders were used; nil for a folder that cannot be on a disk of its
    ///   own, which is made whenever it is missing.
    public init(
        path: String, rememberedIn memory: String? = nil, fileSystem: any RecordingFileSystem = SystemFileSystem()
    ) {
        self.path = path
        self.memory = memory
        self.fileSystem = fileSystem
    }

    private var marker: String { "\(path)/\(Self.markerName)" }

    /// Prepares the folder for recordings, if that is possible. It waits for the disk.
    /// - Returns: why it cannot be used; nil when it can.
    @discardableResult
    public func open() -> RecordingFolderProblem? {
        failure.withLock { failure -> RecordingFolderProblem? in
            do throws(FileSystemFault) {
                failure = try prepare()
            } catch {
                failure = .unusable(error)
            }
            return failure
        }
    }

    /// Why the folder cannot be used now; nil when it can. It is one look at the disk.
    public func problem() -> RecordingFolderProblem? {
        do throws(FileSystemFault) {
            if memory == nil {
                if try fileSystem.status(of: path)?.kind == .folder { return nil }
            } else if try fileSystem.status(of: marker)?.kind == .file {
                return nil
            }
        } catch {
            return .unusable(error)
        }
        return failure.withLock { $0 } ?? .away
    }

    private func prepare() throws(FileSystemFault) -> RecordingFolderProblem? {
        guard let memory else {
            try make()
            return nil
        }
        if try fileSystem.status(of: marker)?.kind == .file {
            if !isRemembered(in: memory) {
                // The disk may have failed after the file was made. Unless its name is on the disk, a power cut removes
                // the file, and the folder is then treated as the mount point of a disk that is away.
                try fileSystem.synchronizeFolder(path)
                remember(in: memory)
            }
            return nil
        }
        guard !isRemembered(in: memory) else { return .away }
        try make()
        try fileSystem.writeNew(marker, [])
        try fileSystem.synchronizeFolder(path)
        remember(in: memory)
        return nil
    }

    private func make() throws(FileSystemFault) {
        try fileSystem.makeFolder(path)
        if let parent = RecordingStore.parent(of: path) { try fileSystem.synchronizeFolder(parent) }
    }

    // MARK: Memory

    /// A file that cannot be read may name the folder.
    private func isRemembered(in memory: String) -> Bool {
        do throws(UploadStorageFailure) {
            return try Self.remembered(in: memory).contains(path)
        } catch {
            return true
        }
    }

    private func remember(in memory: String) {
        // Without the memory the folder is used anyway, and the next start tries to remember it again.
        guard let known = try? Self.remembered(in: memory), !known.contains(path) else { return }
        try? DurableFile.write(Array((known + [path]).map { $0 + "\n" }.joined().utf8), to: memory)
    }

    /// One path in a line.
    private static func remembered(in memory: String) throws(UploadStorageFailure) -> [String] {
        let bytes = try DurableFile.read(memory, limit: 1 << 20) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
