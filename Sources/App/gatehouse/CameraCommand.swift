import ArgumentParser
import Cameras
import Foundation
import Gateway

/// `gatehouse camera`: commands for cameras that need no gateway.
struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Find and examine cameras.",
        subcommands: [CameraDiscoverCommand.self, CameraProbeCommand.self])
}

/// `gatehouse camera probe`: connects to a camera and reports what it sends.
struct CameraProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Connect to a camera and report what it sends and what viewers will get.",
        discussion: """
            ${NAME} in the address is replaced by the environment variable NAME, which keeps the password off the \
            command line: gatehouse camera probe 'rtsp://viewer:${CAMERA_PASSWORD}@192.0.2.20/stream1'. The password \
            is never printed. The exit code is 0 if the camera sent media, and 2 if it did not.
            """)

    @Argument(
        help: ArgumentHelp("The camera's address, as in the key source of the config.", valueName: "url"))
    var address: String

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: ArgumentHelp("How many seconds to watch after the first packet, 1 to 600.", valueName: "seconds"))
    var duration: Double = 10

    @Option(help: ArgumentHelp("The transport of the media: auto, tcp, udp or http.", valueName: "transport"))
    var transport = "auto"

    func run() async throws {
        guard (1...600).contains(duration) else {
            throw ValidationError("--duration must be from 1 to 600 seconds")
        }
        guard let transport = CameraTransport(rawValue: self.transport) else {
            throw ValidationError("--transport must be auto, tcp, udp or http")
        }
        let prefixes = GatewayConfiguration.Camera.schemes.map { "\($0)://" } + ["\(VideoDeviceAddress.scheme):"]
        guard prefixes.contains(where: { self.address.lowercased().hasPrefix($0) }) || self.address.contains("${")
        else {
            throw ValidationError(
                "expected v4l2:/dev/video0, or \(GatewayConfiguration.Camera.urlWords); gatehouse camera discover finds "
                    + "ONVIF cameras")
        }
        let address: CameraProbeAddress
        do {
            address = try CameraProbeAddress(self.address)
        } catch {
            throw ValidationError("the address cannot be probed: \(error)")
        }
        var configuration = RTSPSource.Configuration()
        configuration.transport = transport
        let report: CameraProbeReport
        do {
            report = try await address.probe(
                configuration: configuration, duration: .milliseconds(Int(duration * 1_000)))
        } catch {
            throw ValidationError("the address cannot be probed: \(error)")
        }
        let camera = ProbedCamera(report, typed: address.typed, expanded: address.expanded)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(camera))
        } else {
            print(camera.words)
        }
        if !camera.reached { throw ExitCode(2) }
    }
}
