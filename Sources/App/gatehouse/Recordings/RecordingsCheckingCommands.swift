import ArgumentParser
import CFileStatus
import Foundation
import Gateway
import Glibc
import PushAvStreamTransport
import Transport

/// Where recordings are on this machine.
struct RecordingsFolderOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The gateway's config file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The state folder, if no gateway on this machine uses it.", valueName: "folder"))
    var state: String?

    /// The state folder, and the folder of the recordings, which the config may have elsewhere.
    func folders() throws -> (state: StateDirectory, recordings: String) {
        if let state, config == nil {
            let directory = StateDirectory(path: state)
            return (directory, directory.file("recordings"))
        }
        let configuration = try namedOrUsualConfiguration(config)
        let directory = StateDirectory(path: state ?? LocalGateway.stateDirectory(configuration: configuration))
        return (directory, configuration?.recording?.folder ?? directory.file("recordings"))
    }

    /// The same, where both have to exist: a folder that was mistyped is not an empty one.
    func existingFolders() throws -> (state: StateDirectory, recordings: String) {
        let (state, recordings) = try folders()
        try Self.require(state.path, or: "name the gateway's state folder with --state")
        try Self.require(recordings, or: "nothing was recorded there")
        return (state, recordings)
    }

    private static func require(_ folder: String, or words: String) throws {
        var status = file_status()
        guard file_status_of_path(folder, true, &status) else {
            let reason = errno == ENOENT ? "does not exist" : "cannot be read: \(String(cString: strerror(errno)))"
            throw CommandFailure(description: "\(folder) \(reason); \(words)")
        }
        guard status.is_folder else { throw CommandFailure(description: "\(folder) is not a folder; \(words)") }
    }

    /// The devices of the state folder. Their names are also in the config, which is the usual one unless given.
    func devices() throws -> StoredDevices {
        let configuration = try config == nil && state != nil ? nil : namedOrUsualConfiguration(config)
        return try StoredDevices(in: try folders().state, configuration: configuration)
    }

    /// The recordings, for reading. Nothing is changed.
    func store() throws -> RecordingStore {
        let root = try folders().recordings
        try Self.require(root, or: "nothing was recorded there")
        return try RecordingStore(
            root: root, index: MemoryRecordingIndex(), now: { Int64(Date().timeIntervalSince1970 * 1_000) })
    }
}

/// `gatehouse recordings verify`.
struct RecordingsVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check the files of all recordings without changing them.",
        discussion: """
            Every box of every segment is compared with the journal. The gateway may be running. The exit \
            code is 2 if something is wrong.
            """)

    @Argument(help: "Only this device, by its key, id or name.")
    var device: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var folder: RecordingsFolderOptions

    private struct Problem: Encodable {
        var recording: String
        var path: String
        var reason: String
    }

    private struct Answer: Encodable {
        var recordings = 0
        var running = 0
        var segments = 0
        var chunks = 0
        var bytes: Int64 = 0
        var problems: [Problem] = []
    }

    func run() async throws {
        let answer = try reportingFailures { try verify() }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(answer))
        } else {
            for problem in answer.problems { print("\(problem.path): \(problem.reason)") }
            let running = answer.running > 0 ? ", \(answer.running) without an end yet" : ""
            print(
                "\(Self.counted(answer.recordings, "recording"))\(running), \(Self.counted(answer.segments, "segment")), "
                    + "\(Self.counted(answer.chunks, "chunk")), \(ListedRecording.size(answer.bytes)): "
                    + Self.counted(answer.problems.count, "problem"))
        }
        if !answer.problems.isEmpty { throw ExitCode(2) }
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private func verify() throws -> Answer {
        let store = try folder.store()
        let ids: [RecordingSession.ID]
        do throws(RecordingFault) {
            ids = try store.idsOfFolders()
        } catch {
            throw CommandFailure(description: error.description)
        }
        var wanted: Set<String>?
        if let device { wanted = try folder.devices().ids(named: device, known: Set(ids.map(\.device))) }
        var answer = Answer()
        do throws(RecordingFault) {
            for id in ids where wanted?.contains(id.device) ?? true {
                answer.recordings += 1
                let found: RecordingVerification
                do throws(RecordingFault) {
                    found = try store.verify(id)
                } catch .storage(let path, let fault) {
                    // The others are still worth a look.
                    answer.problems.append(Problem(recording: id.name, path: path, reason: fault.description))
                    continue
                }
                answer.segments += found.segments
                answer.chunks += found.chunks
                answer.bytes += found.byteCount
                for problem in found.problems {
                    // The gateway is recording it, or was stopped meanwhile; its next start completes it.
                    if problem.reason.isUnfinished {
                        answer.running += 1
                    } else {
                        answer.problems.append(
                            Problem(recording: id.name, path: problem.path, reason: problem.reason.description))
                    }
                }
            }
        } catch {
            throw CommandFailure(description: error.description)
        }
        return answer
    }
}

/// `gatehouse recordings rebuild-index`.
struct RecordingsRebuildIndexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild-index", abstract: "Read all recordings and rebuild their index.",
        discussion: "The gateway must not be running. The files of recordings are not changed, except that those "
            + "that were interrupted get their end.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var folder: RecordingsFolderOptions

    private struct Answer: Encodable {
        struct Unreadable: Encodable {
            var path: String
            var reason: String
        }

        var recordings: Int
        var unreadable: [Unreadable]
    }

    func run() async throws {
        try reportingFailures {
            let (directory, recordings) = try folder.existingFolders()
            let lock = try StateDirectoryLock(directory)
            defer { withExtendedLifetime(lock) {} }
            let report = try RecordingIndexFile.rebuild(in: directory, of: recordings)
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                let unreadable = report.unreadable.map { Answer.Unreadable(path: $0.path, reason: "\($0.reason)") }
                printJSON(try encoder.encode(Answer(recordings: report.added, unreadable: unreadable)))
                if !unreadable.isEmpty { throw ExitCode(2) }
                return
            }
            print("\(report.added) recordings can be read; the next start of the gateway writes their index")
            for one in report.unreadable { print("\(one.path): \(one.reason)") }
            if !report.unreadable.isEmpty { throw ExitCode(2) }
        }
    }
}
