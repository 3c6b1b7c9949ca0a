import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse recordings play`.
struct RecordingsPlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a time range with mpv or ffplay, or print its address for another player.",
        discussion: """
            The address works for six hours, without the token. Treat it like a secret. The address that --rtsp prints is \
            not secret: its player asks for a user name, which may be anything, and for a password, which is a token.
            """)

    @OptionGroup var which: RecordedDevice
    @OptionGroup var range: RangeOptions

    @Flag(help: "Only print the address.")
    var url = false

    @Flag(help: "Print the address for RTSP players, which can seek to any time in the range.")
    var rtsp = false

    @OptionGroup var gateway: GatewayOptions

    private struct Link: Decodable {
        struct RTSP: Decodable {
            var port: Int
            var path: String
        }
        var playlist: String
        var rtsp: RTSP?
    }

    func validate() throws { try range.require() }

    func run() async throws {
        let connection = try gateway.connect()
        let address = try await reportingHomeErrors {
            let path = try await which.find(connection).path
            let data = try await connection.post(
                "\(path)/links\(range.times().query("?"))", contentType: "application/json", body: Data("{}".utf8))
            let link = try connection.decode(Link.self, data)
            guard rtsp else { return connection.address + link.playlist }
            guard let served = link.rtsp, let host = URLComponents(string: connection.address)?.encodedHost else {
                throw HomeError.failedPrecondition(
                    "this gateway serves nothing by RTSP; add the section rtsp to its config")
            }
            return "rtsp://\(host):\(served.port)\(served.path)"
        }
        // A player would need the token in its arguments, which every user of the machine can read.
        guard !url, !rtsp, let player = Self.player() else { return print(address) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: player.path)
        process.arguments = player.arguments + [address]
        do {
            try process.run()
        } catch {
            printError("gatehouse: \(player.path) cannot be started (\(error)); the address is")
            return print(address)
        }
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw ExitCode(process.terminationStatus) }
    }

    /// The first player that is installed.
    private static func player() -> (path: String, arguments: [String])? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        for (name, arguments) in [("mpv", ["--really-quiet"]), ("ffplay", ["-loglevel", "error", "-autoexit"])] {
            for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
                return ("\(folder)/\(name)", arguments)
            }
        }
        return nil
    }
}
