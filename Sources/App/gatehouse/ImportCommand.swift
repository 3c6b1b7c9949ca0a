import ArgumentParser
import Foundation
import Gateway
import Glibc
import Migration

/// `gatehouse import`: makes a config from another gateway's.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Convert the config of go2rtc, MediaMTX or Frigate.",
        discussion: """
            The command lists what will differ and what has no counterpart, each with its line. The list is also at the \
            end of the new file. Nothing that the file refers to is run or opened. Only its owner can read the new \
            file, because it may hold passwords; in /etc/gatehouse the service can read it too.
            """)

    @Argument(
        help: "The other gateway's config: go2rtc.yaml, mediamtx.yml or Frigate's config.yml; - for standard input.")
    var file: String

    @Option(help: "Which gateway the config is for: go2rtc, mediamtx or frigate. By default, the config's keys decide.")
    var from: ConfigurationImport.Gateway?

    @Option(name: .shortAndLong, help: ArgumentHelp("The new file. Defaults to standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Let other devices open the page over HTTPS.")
    var open = false

    func run() throws {
        let bytes = try reportingFailures {
            try InputFile.read(file, limit: ConfigurationImport.maximumBytes, what: "config")
        }
        let imported: ImportedConfiguration
        do throws(ImportFailure) {
            imported = try ConfigurationImport.read(bytes, from: from, isOpen: open)
        } catch {
            printError("gatehouse: \(file): \(error)")
            throw ExitCode.failure
        }
        let text = imported.yaml(from: file == "-" ? "standard input" : URL(fileURLWithPath: file).lastPathComponent)
        guard let output else {
            print(text, terminator: "")
            return
        }
        try reportingFailures { try Self.write(Array(text.utf8), to: output) }
        for remark in imported.remarks { printError("\(remark)") }
        let count = imported.cameras.count
        let remarks = imported.remarks.count
        print(
            "\(output): \(count) \(count == 1 ? "camera" : "cameras"), \(remarks) \(remarks == 1 ? "remark" : "remarks")"
        )
        sayWhatToDo(output, imported)
    }

    /// Writes a new file completely or not at all, which the packaged service can read in its own folder. An existing file
    /// is left as it is.
    private static func write(_ bytes: [UInt8], to path: String) throws(FileFault) {
        // The empty file keeps the name for this command.
        try OutputFile.create([], at: path)
        do throws(FileFault) {
            try OutputFile.replace(bytes, at: path)
        } catch {
            unlink(path)
            throw error
        }
    }

    private func sayWhatToDo(_ path: String, _ imported: ImportedConfiguration) {
        // systemd's own sign that it runs, sd_booted(3).
        let isOfService =
            URL(fileURLWithPath: path).standardizedFileURL.path == "/etc/gatehouse/gatehouse.yaml"
            && FileManager.default.fileExists(atPath: "/run/systemd/system")
            && FileManager.default.fileExists(atPath: "/usr/lib/systemd/system/gatehouse.service")
        if isOfService {
            print("sudo systemctl restart gatehouse starts the packaged service with it.")
        } else {
            print("gatehouse serve --config \(path) --check reads it; without --check it serves the cameras.")
        }
        guard imported.isOpen else { return }
        let standard = GatewayConfiguration()
        let ports = [standard.http.https?.port].compactMap(\.self)
        print(Greeting.ports(ports, media: imported.mediaPort ?? standard.media.port))
    }
}

extension ConfigurationImport.Gateway: ExpressibleByArgument {}
