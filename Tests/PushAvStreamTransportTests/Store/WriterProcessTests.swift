import Foundation
import Glibc
import PushAvStreamTransport
import RecordingFakes
import Testing
import Transport

/// A process that records, on a disk of the machine.
@Suite("A process that records", .serialized)
struct WriterProcessTests {
    private static let now: Int64 = 1_763_900_000_000

    /// How many processes are killed: more with `GATEHOUSE_KILLS`.
    private static let kills = ProcessInfo.processInfo.environment["GATEHOUSE_KILLS"].flatMap(Int.init) ?? 30

    @Test("It is killed at seeded moments, and nothing that it acknowledged is lost")
    func killed() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kill-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var interrupted = 0
        var acknowledged = 0
        for number in 0..<Self.kills {
            let seed = UInt64(number)
            // A few processes share a folder, so that a recovery is followed by recordings.
            let root = "\(folder)/\(number / 5)"
            var random = RandomSource.seeded(seed)
            let script = WriterScript(seed: seed)
            let stop = Int.random(in: 0..<script.steps.count * 2, using: &random)
            let promised = try run(script, root: root, seed: seed, killedAfter: stop, &random)
            let store = try RecordingStore(root: root, index: MemoryRecordingIndex(), now: { Self.now })
            let report = try store.recover()
            interrupted += report.interrupted
            acknowledged += promised.sessions.count
            #expect(report.unreadable.isEmpty, "seed \(seed)")
            let problems = promised.broken(in: store) { FileManager.default.contents(atPath: $0).map { [UInt8]($0) } }
            #expect(problems.isEmpty, "seed \(seed), killed after line \(stop)")
        }
        // The kills did meet recordings.
        #expect(interrupted > Self.kills / 4)
        #expect(acknowledged > Self.kills)
    }

    /// Runs the writer, kills it after a number of its lines and a moment, and returns what it had acknowledged.
    private func run(
        _ script: WriterScript, root: String, seed: UInt64, killedAfter stop: Int, _ random: inout RandomSource
    ) throws -> Acknowledged {
        let output = Pipe()
        let process = try start(["record", root, String(seed)], output)
        var lines = 0
        var text: [UInt8] = []
        let descriptor = output.fileHandleForReading.fileDescriptor
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var isKilled = false
        while true {
            if !isKilled, lines >= stop {
                // The process is within one of its next calls.
                var moment = UInt64.random(in: 0..<40_000, using: &random)
                while moment > 0 { moment -= 1 }
                kill(process.processIdentifier, SIGKILL)
                isKilled = true
            }
            let count = read(descriptor, &buffer, isKilled ? buffer.count : 1)
            guard count > 0 else { break }
            for byte in buffer[..<count] where byte == 0x0A { lines += 1 }
            text += buffer[..<count]
        }
        process.waitUntilExit()
        var promised = Acknowledged()
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]), script.steps.indices.contains(number) else {
                #expect(line == "end")
                continue
            }
            switch (words[0], script.steps[number]) {
            case ("begin", .take(let output, let id)): promised.willTake(output, of: id)
            case ("done", .take(let output, let id)): promised.didTake(output, of: id)
            case ("begin", .delete(let id)): promised.willDelete(id)
            case ("done", .delete(let id)): promised.didDelete(id)
            default: Issue.record("\(line)")
            }
        }
        return promised
    }

    private func start(_ arguments: [String], _ output: Pipe, prefix: [String] = []) throws -> Process {
        let process = Process()
        let words = prefix + [Self.writer] + arguments
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardOutput = output
        try process.run()
        return process
    }

    /// The program, which is built into the same folder as the tests.
    private static var writer: String {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        for folder in [bundle, program].map({ $0.deletingLastPathComponent() }) {
            let path = folder.appendingPathComponent("recording-writer").path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        return "recording-writer"
    }

    @Test(
        "It fills a small disk three times: an alarm, no damage, and it goes on when there is room",
        .enabled(if: geteuid() == 0, "mounting needs root"),
        arguments: ["tmpfs", "ext4"])
    func full(fileSystem: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("full-\(UUID())").path
        try FileManager.default.createDirectory(atPath: "\(folder)/disk", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The mount is in a namespace of its own, and goes with the process.
        let mount =
            fileSystem == "tmpfs"
            ? "mount -t tmpfs -o size=8m none \"$0/disk\""
            : "truncate -s 16M \"$0/image\" && mkfs.ext4 -q -F \"$0/image\" && mount -o loop \"$0/image\" \"$0/disk\""
        let output = Pipe()
        let process = try start(
            ["fill", "\(folder)/disk/recordings"], output,
            prefix: [
                "/usr/bin/unshare", "-m", "--propagation", "private", "/bin/sh", "-c", "\(mount) && exec \"$@\"",
                folder,
            ])
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text.hasSuffix("ok\n"), "\(text)")
        #expect(!text.contains("broken"), "\(text)")
    }
}
