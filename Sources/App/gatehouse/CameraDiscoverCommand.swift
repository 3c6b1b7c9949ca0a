import ArgumentParser
import Cameras
import Foundation
import ONVIF
import Transport

/// `gatehouse camera discover`: lists the ONVIF cameras on the network.
struct CameraDiscoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover", abstract: "List the ONVIF cameras on the network.",
        discussion: """
            Searches all networks of this machine by WS-Discovery (UDP port 3702, multicast). Cameras with ONVIF \
            switched off, and cameras behind a router, do not answer. --host asks a single camera. The exit code is 1 \
            if no camera answered; with --json, the list is then empty.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: ArgumentHelp("Ask only on this interface, given by name or address.", valueName: "interface"))
    var interface: String?

    @Option(help: ArgumentHelp("Ask only this IPv4 address, without multicast.", valueName: "address"))
    var host: String?

    @Option(help: ArgumentHelp("The UDP port.", valueName: "port"))
    var port: UInt16 = WSDiscovery.port

    @Option(help: ArgumentHelp("How long to wait for answers, 1 to 60.", valueName: "seconds"))
    var seconds = 4

    private struct Found: Encodable {
        var name: String?
        var model: String?
        var location: String?
        var address: String
        var endpoint: String
        var xaddrs: [String]
    }

    func validate() throws {
        guard (1...60).contains(seconds) else { throw ValidationError("--seconds must be from 1 to 60") }
    }

    func run() throws {
        let cameras = try reportingFailures {
            try ONVIFDiscovery.search(
                interface: interface, host: host, port: port, duration: .seconds(seconds))
        }
        let found = cameras.map { camera in
            Found(
                name: camera.match.name, model: camera.match.hardware, location: camera.match.location,
                address: camera.host, endpoint: camera.match.endpoint, xaddrs: camera.match.addresses)
        }.sorted { ($0.address, $0.endpoint) < ($1.address, $1.endpoint) }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(["cameras": found]))
        }
        if found.isEmpty {
            printError(
                "gatehouse: no camera answered within \(seconds) s; is ONVIF switched on in the camera's settings?"
            )
            throw ExitCode.failure
        }
        guard !json else { return }
        for camera in found {
            let model = camera.model.map { " (\($0))" } ?? ""
            print("\(camera.address)  \(camera.name ?? "unnamed")\(model)".onOneLine)
            for address in camera.xaddrs { print("    \(address)".onOneLine) }
        }
        print("In the config: source: onvif://user:password@\(found[0].address)")
    }
}
