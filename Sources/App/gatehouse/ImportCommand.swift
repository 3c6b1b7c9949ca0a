import ArgumentParser
import Foundation
import Migration

/// `gatehouse import`: makes a config from another gateway's.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Make a config from that of go2rtc, MediaMTX or Frigate.",
        discussion: """
            The command lists what will differ and what has no counterpart, each with its line. The list is also at the \
            end of the new file. Nothing that the file names is run or opened. Only its owner can read the new file, \
            because it may hold passwords.
            """)

    @Argument(
        help: "The other gateway's config: go2rtc.yaml, mediamtx.yml or Frigate's config.yml; - for standard input.")
    var file: String

    @Option(help: "Whose config it is: go2rtc, mediamtx or frigate. Without it, the config's keys decide.")
    var from: ConfigurationImport.Gateway?

    @Option(name: .shortAndLong, help: ArgumentHelp("The new file; standard output unless given.", valueName: "file"))
    var output: String?

    func run() throws {
        let bytes = try reportingFailures {
            try InputFile.read(file, limit: ConfigurationImport.maximumBytes, what: "config")
        }
        let imported: ImportedConfiguration
        do throws(ImportFailure) {
            imported = try ConfigurationImport.read(bytes, from: from)
        } catch {
            printError("gatehouse: \(file): \(error)")
            throw ExitCode.failure
        }
        let text = imported.yaml(from: file == "-" ? "standard input" : URL(fileURLWithPath: file).lastPathComponent)
        guard let output else {
            print(text, terminator: "")
            return
        }
        try reportingFailures { try OutputFile.create(Array(text.utf8), at: output) }
        for remark in imported.remarks { printError("\(remark)") }
        let count = imported.cameras.count
        print("\(output): \(count) \(count == 1 ? "camera" : "cameras"), \(imported.remarks.count) remarks")
        print("gatehouse serve --config \(output) --check reads it; without --check it serves the cameras.")
    }
}

extension ConfigurationImport.Gateway: ExpressibleByArgument {}
