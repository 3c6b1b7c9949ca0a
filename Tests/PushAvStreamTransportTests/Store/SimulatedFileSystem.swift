import Glibc
import PushAvStreamTransport
import Transport

/// A file system in memory that loses what was not synchronized when the power goes.
///
/// After a power cut, each change of a name since the last synchronization is there or not, independently of the others, and
/// only changes of the same name stay in order. What was written to a file is there up to some byte, or as zeros. So file
/// systems do that put bytes before the length of their file, like ext4, XFS, Btrfs and F2FS.
final class SimulatedFileSystem: RecordingFileSystem {
    /// When something is to go wrong. Calls that change something are counted from 1.
    struct Faults: Sendable {
        /// From this call on, every call fails: the process was killed, or the power is gone.
        var stopsAt = Int.max
        /// These calls fail with this reason.
        var failing: [Int: Int32] = [:]
        /// Writes take at most this many bytes.
        var shortWrites = Int.max
        /// Folders that cannot be listed, and in which nothing can be looked at.
        var unreadable: Set<String> = []
        /// Files that are removed keep their room, as if somebody still read them.
        var keepsRemoved = false
        /// The size of the disk.
        var capacity: Int64 = 1 << 40
    }

    final class File: Sendable {
        struct Content: Sendable {
            var bytes: [UInt8] = []
            /// What is on the disk, and the writes and cuts since then.
            var durable: [UInt8] = []
            var pending: [(offset: Int, bytes: [UInt8]?)] = []
        }

        let content = Locked(Content())
    }

    private enum Change: Sendable { case set(String, File), remove(String), replace(old: String, new: String, File) }

    private struct Folder: Sendable {
        var entries: [String: File] = [:]
        var folders: Set<String> = []
        var durableEntries: [String: File] = [:]
        var durableFolders: Set<String> = []
        /// Changes of names of files since the folder was synchronized.
        var pending: [Change] = []
    }

    private struct State: Sendable {
        var folders: [String: Folder] = ["/state": Folder()]
        var faults = Faults()
        var calls = 0
        var synchronizations = 0
        var isStopped = false
        /// The bytes of the files that were removed.
        var removedBytes: Int64 = 0
        /// How often the disk was taken away and mounted again.
        var mounts = 0
    }

    private let state = Locked(State())

    init(_ faults: Faults = Faults()) {
        self.state.withLock { $0.faults = faults }
    }

    var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// How many calls changed something.
    var calls: Int { state.withLock { $0.calls } }
    /// How many of them synchronized a file or a folder.
    var synchronizations: Int { state.withLock { $0.synchronizations } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    // MARK: The end of a process

    /// The next process begins with everything that was written.
    func restart() {
        state.withLock { state in
            state.faults = Faults()
            state.isStopped = false
        }
    }

    /// The power goes, and comes again.
    func cutPower(seed: UInt64) {
        var random = RandomSource.seeded(seed)
        state.withLock { state in
            state.faults = Faults()
            state.isStopped = false
            var kept: [String: Folder] = [:]
            var reachable = ["/state"]
            while let path = reachable.popLast() {
                guard var folder = state.folders[path] else { continue }
                // A folder that was made is found again or not; one that was removed may be back, empty.
                var folders = folder.durableFolders
                for name in folder.folders.symmetricDifference(folder.durableFolders).sorted()
                where Bool.random(using: &random) {
                    if folder.folders.contains(name) { folders.insert(name) } else { folders.remove(name) }
                }
                var entries = folder.durableEntries
                var lost: Set<String> = []
                for change in folder.pending {
                    let isKept = Bool.random(using: &random)
                    let names: Set<String>
                    switch change {
                    case .set(let name, _), .remove(let name): names = [name]
                    case .replace(let old, let new, _): names = [old, new]
                    }
                    guard isKept, lost.isDisjoint(with: names) else {
                        lost.formUnion(names)
                        continue
                    }
                    Self.apply(change, to: &entries)
                }
                for file in entries.values { file.content.withLock { $0.loseUnsynchronized(&random) } }
                folder = Folder(
                    entries: entries, folders: folders, durableEntries: entries, durableFolders: folders)
                kept[path] = folder
                reachable += folders.sorted().map { "\(path)/\($0)" }
            }
            for path in kept.keys {
                for name in kept[path]?.folders ?? [] where kept["\(path)/\(name)"] == nil {
                    kept["\(path)/\(name)"] = Folder()
                }
            }
            state.folders = kept
        }
    }

    /// The disk is taken away and mounted again. Files that were open before cannot be used any more.
    func remount() { state.withLock { $0.mounts += 1 } }

    // MARK: Looking and damaging

    /// All files below a folder.
    func files(below path: String = "/state") -> [String] {
        state.withLock { state in
            state.folders.filter { $0.key.hasPrefix(path) }.flatMap { folder, content in
                content.entries.keys.map { "\(folder)/\($0)" }
            }.sorted()
        }
    }

    func bytes(of path: String) -> [UInt8]? { file(path)?.content.withLock { $0.bytes } }

    /// Replaces a file behind the store's back.
    func damage(_ path: String, _ bytes: [UInt8]) {
        file(path)?.content.withLock { content in
            content.bytes = bytes
            content.durable = bytes
            content.pending = []
        }
    }

    // MARK: RecordingFileSystem

    func makeFolder(_ path: String) throws(FileSystemFault) {
        try change("mkdir", path) { state throws(FileSystemFault) in
            let (parent, name) = Self.split(path)
            guard state.folders[parent] != nil else {
                throw FileSystemFault(path: path, operation: "mkdir", code: ENOENT)
            }
            if state.folders[path] != nil { return }
            state.folders[parent]?.folders.insert(name)
            state.folders[path] = Folder()
        }
    }

    func synchronizeFolder(_ path: String) throws(FileSystemFault) {
        try change("fsync", path) { state throws(FileSystemFault) in
            guard var folder = state.folders[path] else {
                throw FileSystemFault(path: path, operation: "fsync", code: ENOENT)
            }
            folder.durableEntries = folder.entries
            folder.durableFolders = folder.folders
            folder.pending = []
            state.folders[path] = folder
            state.synchronizations += 1
        }
    }

    func names(in path: String) throws(FileSystemFault) -> [String] {
        try look("opendir", path) { state throws(FileSystemFault) in
            guard let folder = state.folders[path] else {
                throw FileSystemFault(path: path, operation: "opendir", code: ENOENT)
            }
            if state.faults.unreadable.contains(path) {
                throw FileSystemFault(path: path, operation: "opendir", code: EIO)
            }
            return Array(folder.entries.keys) + folder.folders
        }
    }

    func status(of path: String) throws(FileSystemFault) -> FileStatus? {
        try look("stat", path) { state throws(FileSystemFault) in
            let (parent, name) = Self.split(path)
            if state.faults.unreadable.contains(parent) {
                throw FileSystemFault(path: path, operation: "stat", code: EIO)
            }
            if state.folders[path] != nil { return FileStatus(kind: .folder, size: 0) }
            guard let file = state.folders[parent]?.entries[name] else { return nil }
            return FileStatus(kind: .file, size: Int64(file.content.withLock { $0.bytes.count }))
        }
    }

    func read(_ path: String, from offset: Int64, count: Int) throws(FileSystemFault) -> [UInt8] {
        try look("read", path) { state throws(FileSystemFault) in
            let (parent, name) = Self.split(path)
            guard let file = state.folders[parent]?.entries[name] else {
                throw FileSystemFault(path: path, operation: "read", code: ENOENT)
            }
            return file.content.withLock { Array($0.bytes.dropFirst(Int(offset)).prefix(count)) }
        }
    }

    func create(_ path: String) throws(FileSystemFault) -> any RecordingFile {
        let file = File()
        try change("open", path) { state throws(FileSystemFault) in
            let (parent, name) = Self.split(path)
            guard let folder = state.folders[parent] else {
                throw FileSystemFault(path: path, operation: "open", code: ENOENT)
            }
            guard folder.entries[name] == nil else {
                throw FileSystemFault(path: path, operation: "open", code: EEXIST)
            }
            state.folders[parent]?.entries[name] = file
            state.folders[parent]?.pending.append(.set(name, file))
        }
        return Handle(fileSystem: self, file: file, path: path, mount: state.withLock { $0.mounts })
    }

    func open(_ path: String) throws(FileSystemFault) -> any RecordingFile {
        guard let file = self.file(path) else {
            throw FileSystemFault(path: path, operation: "open", code: ENOENT)
        }
        return Handle(fileSystem: self, file: file, path: path, mount: state.withLock { $0.mounts })
    }

    func rename(_ path: String, to newPath: String) throws(FileSystemFault) {
        try self.change("rename", path) { state throws(FileSystemFault) in
            let (parent, name) = Self.split(path)
            let (newParent, newName) = Self.split(newPath)
            guard parent == newParent, let file = state.folders[parent]?.entries[name] else {
                throw FileSystemFault(path: path, operation: "rename", code: ENOENT)
            }
            let change = Change.replace(old: name, new: newName, file)
            if var folder = state.folders[parent] {
                Self.apply(change, to: &folder.entries)
                folder.pending.append(change)
                state.folders[parent] = folder
            }
        }
    }

    func remove(_ path: String) throws(FileSystemFault) {
        try change("unlink", path) { state throws(FileSystemFault) in
            let (parent, name) = Self.split(path)
            guard let file = state.folders[parent]?.entries[name] else { return }
            state.removedBytes += Int64(file.content.withLock { $0.bytes.count })
            state.folders[parent]?.entries[name] = nil
            state.folders[parent]?.pending.append(.remove(name))
        }
    }

    func removeFolder(_ path: String) throws(FileSystemFault) {
        try change("rmdir", path) { state throws(FileSystemFault) in
            guard let folder = state.folders[path] else { return }
            guard folder.entries.isEmpty, folder.folders.isEmpty else {
                throw FileSystemFault(path: path, operation: "rmdir", code: ENOTEMPTY)
            }
            let (parent, name) = Self.split(path)
            state.folders[parent]?.folders.remove(name)
            state.folders[path] = nil
        }
    }

    func space(at path: String) throws(FileSystemFault) -> FileSystemSpace {
        try look("statvfs", path) { state throws(FileSystemFault) in
            FileSystemSpace(free: state.faults.capacity - Self.used(state), total: state.faults.capacity)
        }
    }

    // MARK: Calls

    /// Counts a change that something else makes, for example an index: it may be the one at which everything stops.
    func step() throws(FileSystemFault) {
        try change("step", "") { _ in }
    }

    private func change<Value: Sendable>(
        _ operation: String, _ path: String, _ body: (inout State) throws(FileSystemFault) -> Value
    ) throws(FileSystemFault) -> Value {
        try state.withLock { state throws(FileSystemFault) in
            state.calls += 1
            if state.calls >= state.faults.stopsAt { state.isStopped = true }
            guard !state.isStopped else { throw FileSystemFault(path: path, operation: operation, code: ESHUTDOWN) }
            if let code = state.faults.failing[state.calls] {
                throw FileSystemFault(path: path, operation: operation, code: code)
            }
            return try body(&state)
        }
    }

    private func look<Value: Sendable>(
        _ operation: String, _ path: String, _ body: (State) throws(FileSystemFault) -> Value
    ) throws(FileSystemFault) -> Value {
        try state.withLock { state throws(FileSystemFault) in
            guard !state.isStopped else { throw FileSystemFault(path: path, operation: operation, code: ESHUTDOWN) }
            return try body(state)
        }
    }

    private func file(_ path: String) -> File? {
        state.withLock { state in
            let (parent, name) = Self.split(path)
            return state.folders[parent]?.entries[name]
        }
    }

    private static func used(_ state: State) -> Int64 {
        state.folders.values.reduce(state.faults.keepsRemoved ? state.removedBytes : 0) { sum, folder in
            folder.entries.values.reduce(sum) { $0 + Int64($1.content.withLock { $0.bytes.count }) }
        }
    }

    private static func apply(_ change: Change, to entries: inout [String: File]) {
        switch change {
        case .set(let name, let file): entries[name] = file
        case .remove(let name): entries[name] = nil
        case .replace(let old, let new, let file):
            entries[old] = nil
            entries[new] = file
        }
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private final class Handle: RecordingFile {
        let fileSystem: SimulatedFileSystem
        let file: File
        let path: String
        let mount: Int

        init(fileSystem: SimulatedFileSystem, file: File, path: String, mount: Int) {
            self.fileSystem = fileSystem
            self.file = file
            self.path = path
            self.mount = mount
        }

        private func check(_ operation: String, _ state: State) throws(FileSystemFault) {
            guard state.mounts == mount else { throw FileSystemFault(path: path, operation: operation, code: EIO) }
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemFault) -> Int {
            let wanted = Array(bytes)
            return try fileSystem.change("write", path) { state throws(FileSystemFault) in
                try self.check("write", state)
                let free = max(0, state.faults.capacity - SimulatedFileSystem.used(state))
                let count = min(wanted.count, state.faults.shortWrites, Int(free))
                guard count > 0 || wanted.isEmpty else {
                    throw FileSystemFault(path: self.path, operation: "write", code: ENOSPC)
                }
                // A process that is killed within a write has written a part of it.
                self.file.content.withLock { $0.write(Array(wanted.prefix(count)), at: Int(offset)) }
                return count
            }
        }

        func synchronize() throws(FileSystemFault) {
            try fileSystem.change("fdatasync", path) { state throws(FileSystemFault) in
                try self.check("fdatasync", state)
                self.file.content.withLock { content in
                    content.durable = content.bytes
                    content.pending = []
                }
                state.synchronizations += 1
            }
        }

        func truncate(to length: Int64) throws(FileSystemFault) {
            try fileSystem.change("ftruncate", path) { state throws(FileSystemFault) in
                try self.check("ftruncate", state)
                self.file.content.withLock { content in
                    content.pending.append((Int(length), nil))
                    content.bytes = Array(content.bytes.prefix(Int(length)))
                }
            }
        }
    }
}

extension SimulatedFileSystem.File.Content {
    fileprivate mutating func write(_ new: [UInt8], at offset: Int) {
        pending.append((offset, new))
        Self.put(new, at: offset, into: &bytes)
    }

    private static func put(_ new: [UInt8], at offset: Int, into bytes: inout [UInt8]) {
        if bytes.count < offset + new.count {
            bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
        }
        bytes.replaceSubrange(offset..<offset + new.count, with: new)
    }

    /// Of the writes since the last synchronization some are there, from the first on, and one more in part; or their room
    /// is there, but holds zeros.
    fileprivate mutating func loseUnsynchronized(_ random: inout RandomSource) {
        var bytes = durable
        let isZero = UInt8.random(in: 0..<4, using: &random) == 0
        let kept = Int.random(in: 0...self.pending.count, using: &random)
        for (number, (offset, written)) in pending.prefix(kept + 1).enumerated() {
            guard let written else {
                if number < kept { bytes = Array(bytes.prefix(offset)) }
                continue
            }
            let count = number < kept ? written.count : Int.random(in: 0...written.count, using: &random)
            Self.put(
                isZero ? [UInt8](repeating: 0, count: count) : Array(written.prefix(count)), at: offset, into: &bytes)
        }
        self.bytes = bytes
        durable = bytes
        pending = []
    }
}
