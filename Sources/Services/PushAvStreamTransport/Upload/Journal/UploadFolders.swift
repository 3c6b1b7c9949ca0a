import Foundation
import Glibc

/// What the recordings' folders say about their uploads. The journal is quicker to read; this is what it can be made from
/// again. A recording that is to be uploaded has the file `upload.json` in its folder, the file `discarded` if a privacy
/// switch has discarded some of it, and the file `uploaded` once its receiver has all that it will get.
public struct UploadFolders: Sendable {
    static let planName = "upload.json"
    static let doneName = "uploaded"

    /// The folder of all recordings.
    public let root: String

    /// Why the folder of all recordings cannot be used now; nil when it can.
    private let absence: @Sendable () -> RecordingFolderProblem?

    /// Names the folder of all recordings.
    /// - Parameter absence: why it cannot be used now, for example because its disk is not mounted; nil when it can.
    public init(root: String, absence: @escaping @Sendable () -> RecordingFolderProblem? = { nil }) {
        self.root = root
        self.absence = absence
    }

    /// The path of a file in a recording's folder.
    public func path(_ folder: String, _ name: String) -> String { "\(root)/\(folder)/\(name)" }

    /// Writes down where a recording goes. It is on the disk when this returns.
    public func begin(_ session: UploadSession) throws(UploadStorageFailure) {
        let path = path(session.folder, Self.planName)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json: Data
        do {
            json = try encoder.encode(session)
        } catch {
            throw UploadStorageFailure(path: path, reason: .unencodable("\(error)"))
        }
        try DurableFile.write(Array(json), to: path)
    }

    /// Writes down that the receiver has all of a recording. It is on the disk when this returns.
    public func complete(_ folder: String) throws(UploadStorageFailure) {
        guard try exists(folder) else { return }
        try DurableFile.write([], to: path(folder, Self.doneName))
    }

    /// Whether the receiver has all that it will get of a recording.
    public func isComplete(_ folder: String) -> Bool { has(folder, Self.doneName) }

    /// The recordings that are to be uploaded, and are not completely uploaded, the oldest first. A description that cannot
    /// be read is skipped: its path is among the problems.
    public func pending() -> (sessions: [UploadSession], problems: [String]) {
        var sessions: [UploadSession] = []
        var problems: [String] = []
        for folder in folders() {
            guard !has(folder, Self.doneName), !has(folder, RecordingLayout.tombstone) else { continue }
            do {
                guard let bytes = try DurableFile.read(path(folder, Self.planName), limit: 1 << 20) else { continue }
                var session = try JSONDecoder().decode(UploadSession.self, from: Data(bytes))
                // The folder may have been moved together with the state folder; its own place is what counts.
                session.folder = folder
                guard session.isPlausible else {
                    problems.append("\(path(folder, Self.planName)): is damaged")
                    continue
                }
                sessions.append(session)
            } catch {
                problems.append("\(path(folder, Self.planName)): \(error)")
            }
        }
        return (sessions.sorted { ($0.id.start, $0.id.device) < ($1.id.start, $1.id.device) }, problems)
    }

    /// Whether there is the folder of a recording. One that was deleted meanwhile needs no marks.
    /// - Throws: when the disk of the recordings is away. An empty mount point is empty, while the folder of a camera stays
    ///   when its last recording is deleted.
    func exists(_ folder: String) throws(UploadStorageFailure) -> Bool {
        let path = "\(root)/\(folder)"
        // A mount point may hold recordings of its own, so what is in it does not show that the disk is there.
        if let problem = absence() { throw UploadStorageFailure(path: root, reason: .folder(problem)) }
        guard access(path, F_OK) != 0 else { return true }
        let code = errno
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        guard code == ENOENT, names.contains(where: { !$0.hasPrefix(".") }) else {
            throw UploadStorageFailure(path: path, reason: .system(code))
        }
        return false
    }

    private func has(_ folder: String, _ name: String) -> Bool { access(path(folder, name), F_OK) == 0 }

    /// The folders of recordings: three levels below the root.
    private func folders() -> [String] {
        var found = [""]
        for _ in 0..<3 {
            found = found.flatMap { parent in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(parent)")) ?? []
                return names.sorted().map { parent.isEmpty ? $0 : "\(parent)/\($0)" }
            }
        }
        return found
    }
}
