import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes
import Signalling

/// `gatehouse devices`: lists the devices and their state.
struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the devices.",
        discussion: """
            Examples:
              gatehouse devices
              gatehouse devices --room Hall
              gatehouse devices --type Light --json
            """)

    @Option(help: ArgumentHelp("Only devices in this room.", valueName: "room"), completion: HomeCompletion.rooms)
    var room: String?

    @Option(help: ArgumentHelp("Only devices whose type contains this.", valueName: "type"))
    var type: String?

    @OptionGroup var gateway: GatewayOptions

    @Flag(help: "Print JSON.")
    var json = false

    private struct Answer: Encodable {
        var devices: [DeviceSnapshot]
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            if json, room == nil, type == nil { return printJSON(try await connection.get("/v1/devices")) }
            let home = try await HomeOverview(connection)
            let place = try room.map { try home.room(named: $0).id }
            let devices = home.devices.filter { device in
                (place == nil || device.roomID == place)
                    && (type.map { device.type.localizedCaseInsensitiveContains($0) } ?? true)
            }
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                return printJSON(try encoder.encode(Answer(devices: devices)))
            }
            if home.devices.isEmpty {
                print("There are no devices yet. Add a camera under cameras: in the config, or on the web page.")
                return
            }
            var table = TerminalTable(header: ["ID", "NAME", "ROOM", "TYPE", "STATE", "TRACKS"], whole: ["ID"])
            let ids = ShownIdentifiers(home.devices.map(\.id))
            for device in devices {
                let tracks = device.source?.tracks.map { "\($0.kind) \($0.codec)" }.joined(separator: ", ") ?? ""
                table.add([
                    device.key ?? ids[device.id], device.name, home.room(of: device), device.typeWords,
                    device.stateWords, tracks,
                ])
                if let reason = device.source?.reason { table.addRemark(reason) }
            }
            print(table.text)
        }
    }
}

/// `gatehouse press`: presses the built-in doorbell's button.
struct PressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "press", abstract: "Press the button of the built-in doorbell.")

    @Argument(help: "The device, by its key, id or name.", completion: HomeCompletion.devices)
    var device: String

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let known = try await connection.device(named: device)
            do throws(HomeError) {
                try await connection.send(Google.DoorbellPressTrait.press(), to: known?.label(for: device) ?? device)
            } catch {
                // The device is there, so its trait is what was not found.
                guard error.code == .notFound, known != nil else { throw error }
                throw HomeError.failedPrecondition("\(device) has no button that can be pressed from here")
            }
            print("ding dong")
        }
    }
}

/// `gatehouse sessions`: lists the live views that are running.
struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "sessions", abstract: "List this token's live views.")

    @OptionGroup var gateway: GatewayOptions

    @Flag(help: "Print JSON.")
    var json = false

    /// The part of a session that a person wants to see.
    private struct Session: Decodable {
        struct Step: Decodable {
            var name: String
            var milliseconds: Double
        }
        struct Statistics: Decodable {
            var packetsSent: UInt64
            var fractionLost: Double
        }
        var mediaSessionId: String
        var deviceID: String
        var principal: String
        var state: String
        var expiresInSeconds: Double
        var isTalking: Bool
        var codecs: [String]
        var steps: [Step]
        var statistics: Statistics
    }

    private struct Answer: Decodable {
        var sessions: [Session]
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let data = try await connection.get("/v1/sessions")
            if json { return printJSON(data) }
            let sessions = try connection.decode(Answer.self, data).sessions
            if sessions.isEmpty { return print("This token has no live views.") }
            let keys = try await DeviceKeys(connection)
            for session in sessions {
                let talk = session.isTalking ? ", talking" : ""
                print(
                    "\(SessionIdentifier.brief(session.mediaSessionId))…  \(keys[session.deviceID])  \(session.principal)  "
                        + "\(session.state)\(talk)  \(session.codecs.joined(separator: " + "))  "
                        + "\(session.statistics.packetsSent) packets, "
                        + "\(percent(session.statistics.fractionLost)) lost, "
                        + "\(Int(session.expiresInSeconds)) s left")
                print(
                    "  " + session.steps.map { "\($0.name) \(milliseconds($0.milliseconds))" }.joined(separator: "  "))
            }
        }
    }
}

/// A share from 0 to 1 as a person reads it.
func percent(_ share: Double) -> String {
    String(format: "%.1f %%", share * 100)
}

/// Milliseconds as a person reads them.
func milliseconds(_ value: Double) -> String {
    String(format: value < 10 ? "%.1f ms" : "%.0f ms", value)
}
