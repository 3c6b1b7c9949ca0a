import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import Glibc
import HomeTypes

/// `gatehouse recordings export`.
struct RecordingsExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Save a time range as one MP4 file.",
        discussion: "The file begins and ends exactly at these times. Nothing is encoded again.")

    @OptionGroup var which: RecordedDevice
    @OptionGroup var range: RangeOptions

    @Option(help: "For times without footage: keep (they keep their length) or cut (they are left out).")
    var gaps = "keep"

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
    var output: String

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    /// What was saved, for a script.
    private struct Saved: Encodable {
        var file: String
        var bytes: Int64
        /// What of the range the file shows; nil where the gateway does not say.
        var start: String?
        var end: String?
    }

    func validate() throws {
        try range.require()
        guard ["keep", "cut"].contains(gaps) else { throw ValidationError("--gaps must be keep or cut") }
    }

    func run() async throws {
        let connection = try gateway.connect()
        if !force, FileManager.default.fileExists(atPath: output) {
            printError("gatehouse: \(output) exists; choose another name, or replace it with --force")
            throw ExitCode.failure
        }
        let query = try range.times().query("&")
        let recordings = try await reportingHomeErrors { try await which.find(connection).path }
        // Under another name until it is whole.
        let partial = output + ".part"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            printError("gatehouse: \(partial) cannot be written: \(String(cString: strerror(errno)))")
            throw ExitCode.failure
        }
        defer {
            close(descriptor)
            unlink(partial)
        }
        try await reportingHomeErrors {
            let path = "\(recordings)/export.mp4?gaps=\(gaps)\(query)"
            var size: Int64 = 0
            let headers = try await connection.download(path) { (data) throws(HomeError) in
                size += Int64(data.count)
                try Self.write(data, to: descriptor, partial)
            }
            guard rename(partial, output) == 0 else {
                throw HomeError.internal("\(output) cannot be written: \(String(cString: strerror(errno)))")
            }
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                let (start, end) = (headers["recording-start"], headers["recording-end"])
                return printJSON(try encoder.encode(Saved(file: output, bytes: size, start: start, end: end)))
            }
            let shown = [headers["recording-start"], headers["recording-end"]].compactMap { $0 }
            print("\(output): \(ListedRecording.size(size)), \(shown.joined(separator: " to "))")
        }
    }

    private static func write(_ data: Data, to descriptor: Int32, _ path: String) throws(HomeError) {
        var done = 0
        while done < data.count {
            let count = data.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), data.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw .internal("\(path) cannot be written: \(String(cString: strerror(errno)))")
            }
            done += count
        }
    }
}

/// `gatehouse recordings delete`.
struct RecordingsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a recording, or all within a time range.",
        discussion: "A deleted recording cannot be restored. Recordings in progress are kept.")

    @OptionGroup var which: RecordedDevice

    @Argument(help: "The recording, as list shows it.")
    var recording: String?

    @OptionGroup var range: RangeOptions

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON. Needs --yes.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    /// What the gateway answers to the deletion of a range.
    private struct Answer: Codable {
        var deleted: Int
        var kept: Int
    }

    func validate() throws {
        if json, !yes { throw ValidationError("--json cannot ask; add --yes") }
        if recording == nil {
            try range.require()
        } else if range.from != nil || range.until != nil {
            throw ValidationError("name a recording, or a time range with --from and --until")
        }
    }

    func run() async throws {
        let connection = try gateway.connect()
        // What somebody agrees to is what is deleted, however long they think about it.
        let times = try range.times()
        let (label, path) = try await reportingHomeErrors { try await which.find(connection) }
        let what =
            self.recording.map { "the recording \($0)" }
            ?? "all recordings from \(times.from ?? "") until \(times.until ?? "")"
        if !yes {
            let answer = try Confirmation.answer(to: "Delete \(what) of \(label)? [y/N] ")
            guard answer.lowercased().hasPrefix("y") else { return print("Nothing was deleted.") }
        }
        try await reportingHomeErrors {
            guard let recording else {
                let data = try await connection.deleting(path + times.query("?"))
                if json { return printJSON(data) }
                let answer = try connection.decode(Answer.self, data)
                let kept = answer.kept > 0 ? "; \(answer.kept) kept: they reach beyond this time or still run" : ""
                return print("\(answer.deleted) deleted\(kept)")
            }
            try await connection.delete("\(path)/\(GatewayConnection.segment(recording))")
            if json { return printJSON(try JSONEncoder().encode(Answer(deleted: 1, kept: 0))) }
            print("deleted")
        }
    }
}
