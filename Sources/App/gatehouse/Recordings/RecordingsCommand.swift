import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse recordings`: what the gateway has recorded.
struct RecordingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recordings",
        abstract: "List, export, play, delete and check recordings, and manage upload endpoints.",
        discussion: """
            A time is like 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00, or how long ago: 30m, 1h, 2d. verify and \
            rebuild-index read the state folder itself; the other commands ask the gateway.
            """,
        subcommands: [
            RecordingsListCommand.self, RecordingsShowCommand.self, RecordingsExportCommand.self,
            RecordingsPlayCommand.self, RecordingsDeleteCommand.self, RecordingsVerifyCommand.self,
            RecordingsRebuildIndexCommand.self, RecordingsEndpointsCommand.self,
        ])
}

/// A range of time on the command line.
struct RangeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The beginning, or how long ago it was.", valueName: "time"))
    var from: String?

    @Option(help: ArgumentHelp("The end, or how long ago it was.", valueName: "time"))
    var until: String?

    /// A range in the times of the API.
    struct Times {
        var from: String?
        var until: String?

        /// The range as a query, with `?` or `&` in front; empty without a range.
        func query(_ separator: String) -> String {
            let parts = [("from", from), ("until", until)].compactMap { name, value in
                value.map { "\(name)=\(GatewayConnection.segment($0))" }
            }
            return parts.isEmpty ? "" : separator + parts.joined(separator: "&")
        }
    }

    /// The range, with times ago counted from now.
    func times(now: Date = Date()) throws -> Times {
        do {
            return Times(
                from: try from.map { try TimeText.timestamp($0, option: "--from", now: now) },
                until: try until.map { try TimeText.timestamp($0, option: "--until", now: now) })
        } catch let error as HomeError {
            throw ValidationError(error.message)
        }
    }

    func validate() throws { _ = try times() }

    func require() throws {
        guard from != nil, until != nil else { throw ValidationError("--from and --until are needed") }
    }
}

/// Which device's recordings a command is about.
struct RecordedDevice: ParsableArguments {
    @Argument(help: "The device, by its key, id or name.", completion: HomeCompletion.devices)
    var device: String

    /// What paths and messages say for the device, and the path of its recordings. A device that is gone may still have
    /// some, under its id.
    func find(_ connection: GatewayConnection) async throws(HomeError) -> (label: String, path: String) {
        let label = try await connection.deviceLabel(device)
        return (label, "/v1/devices/\(GatewayConnection.segment(label))/recordings")
    }
}

/// The part of a recording that a person wants to see.
struct ListedRecording: Decodable {
    struct Trigger: Decodable {
        var kind: String
        var reason: String
        var at: String
    }

    var id: String
    var start: String
    var end: String
    var durationSeconds: Double
    var trigger: Trigger
    var bytes: Int64
    var segments: Int
    var gaps: Int
    var isRunning: Bool
    var endReason: String?

    /// Why it was recorded, and whether it is still running.
    var words: String {
        let reason = trigger.reason.isEmpty ? trigger.kind : trigger.reason
        return isRunning ? "\(reason) (still recording)" : reason
    }

    var length: String { String(format: "%.1f s", durationSeconds) }

    var size: String { Self.size(bytes) }

    /// Bytes for a person.
    static func size(_ bytes: Int64) -> String {
        bytes < 1_000_000
            ? String(format: "%.1f kB", Double(bytes) / 1e3)
            : bytes < 1_000_000_000
                ? String(format: "%.1f MB", Double(bytes) / 1e6) : String(format: "%.2f GB", Double(bytes) / 1e9)
    }
}

/// `gatehouse recordings list`.
struct RecordingsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the recordings of a camera, the latest first.")

    @OptionGroup var which: RecordedDevice
    @OptionGroup var range: RangeOptions

    @Option(help: ArgumentHelp("How many, 1 to 1000.", valueName: "number"))
    var limit = 50

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    private struct Answer: Decodable {
        var recordings: [ListedRecording]
        var next: String?
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let (label, path) = try await which.find(connection)
            let data = try await connection.get("\(path)?limit=\(limit)\(range.times().query("&"))")
            if json { return printJSON(data) }
            let answer = try connection.decode(Answer.self, data)
            if answer.recordings.isEmpty { return print("There are no recordings of \(label) in this time range.") }
            var table = TerminalTable(
                header: ["RECORDING", "START", "LENGTH", "SIZE", "REASON"],
                whole: ["RECORDING", "START", "LENGTH", "SIZE"])
            for one in answer.recordings { table.add([one.id, one.start, one.length, one.size, one.words]) }
            print(table.text)
            if answer.next != nil { printError("There are more: give a time with --until, or a larger --limit.") }
        }
    }
}

/// `gatehouse recordings show`.
struct RecordingsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one recording with its tracks and gaps.")

    @OptionGroup var which: RecordedDevice

    @Argument(help: "The recording, as list shows it.")
    var recording: String

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    private struct Answer: Decodable {
        struct Track: Decodable {
            var name: String
            var kind: String
            var codec: String
            var width: Int?
            var height: Int?
        }
        struct Gap: Decodable {
            var from: String
            var until: String
            var reason: String
        }
        var recording: ListedRecording
        var tracks: [Track]
        var gaps: [Gap]
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let path = try await which.find(connection).path
            let data = try await connection.get("\(path)/\(GatewayConnection.segment(recording))")
            if json { return printJSON(data) }
            let answer = try connection.decode(Answer.self, data)
            let one = answer.recording
            print("\(one.id)  \(one.words)")
            print("  from \(one.start) until \(one.end), \(one.length), triggered at \(one.trigger.at)")
            print("  \(one.size) in \(one.segments) segments")
            if let reason = one.endReason { print("  ended: \(reason)") }
            for track in answer.tracks {
                let size = track.width.flatMap { width in track.height.map { ", \(width) × \($0)" } } ?? ""
                print("  track \(track.name): \(track.kind), \(track.codec)\(size)")
            }
            for gap in answer.gaps { print("  nothing from \(gap.from) until \(gap.until): \(gap.reason)") }
        }
    }
}
