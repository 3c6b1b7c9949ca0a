import ArgumentParser
import Foundation
import GatewayClient
import HomeTypes

/// `gatehouse talk`: plays a sound through a camera's speaker.
struct TalkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "talk", abstract: "Play a WAV file or a chime through a camera's speaker.",
        discussion: """
            Waits until the sound has been played, and reports what reached the camera. The exit code is 0 only if \
            all of it did.
            """)

    @Argument(help: "The device, by its key, id or name.", completion: HomeCompletion.devices)
    var device: String

    @Argument(help: "A WAV file of up to 30 seconds.")
    var file: String?

    @Flag(help: "Play the sound of a doorbell instead of a file.")
    var chime = false

    @OptionGroup var gateway: GatewayOptions

    @Flag(help: "Print JSON.")
    var json = false

    private struct Clip: Codable {
        var id: String
        var durationSeconds: Double
        var talkback: TalkReport
    }

    private struct Speaker: Decodable {
        var clip: Clip?
    }

    func validate() throws {
        guard (file == nil) == chime else { throw ValidationError("name a WAV file, or give --chime") }
    }

    func run() async throws {
        let connection = try gateway.connect()
        let clip = try await reportingHomeErrors { try await play(connection) }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(clip))
        } else {
            print(clip.talkback.lines.joined(separator: "\n"))
        }
        if clip.talkback.millisecondsDropped > 100 || clip.talkback.packetsDropped > 0
            || clip.talkback.millisecondsSent < clip.durationSeconds * 900
        {
            printError("gatehouse: not all of the sound was delivered")
            throw ExitCode.failure
        }
    }

    private func play(_ connection: GatewayConnection) async throws -> Clip {
        let label = try await connection.deviceLabel(device)
        let path = "/v1/devices/\(GatewayConnection.segment(label))/speaker"
        let answer: Data
        if let file {
            let bytes: [UInt8]
            do throws(FileFault) {
                bytes = try InputFile.read(file, limit: TalkFile.maximumSize, what: "WAV file")
            } catch {
                throw HomeError.invalidArgument(error.description)
            }
            answer = try await connection.post(path + "/clips", contentType: "audio/wav", body: Data(bytes))
        } else {
            answer = try await connection.post(
                path + "/clips", contentType: "application/json", body: Data(#"{"name":"chime"}"#.utf8))
        }
        var clip = try connection.decode(Clip.self, answer)
        // An answer comes when the sound has ended. One wait may be shorter than the sound, and a slow machine takes longer.
        for _ in 0..<Int(clip.durationSeconds / Self.wait + 2) where clip.talkback.state == "talking" {
            let now = try connection.decode(
                Speaker.self, try await connection.get(path + "?wait=\(Int(Self.wait))"))
            guard let current = now.clip, current.id == clip.id else { break }
            clip = current
        }
        return clip
    }

    /// How many seconds the gateway waits at most for the end of a sound before it answers.
    private static let wait = 20.0
}
