import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse devices`: lists the cameras and their state.
struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "devices", abstract: "List the cameras.")

    @OptionGroup var gateway: GatewayOptions

    @Flag(help: "Print JSON.")
    var json = false

    private struct Answer: Decodable {
        var devices: [DeviceSnapshot]
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let data = try await connection.get("/v1/devices")
            if json { return printJSON(data) }
            let devices = try connection.decode(Answer.self, data).devices
            if devices.isEmpty {
                print("There are no cameras yet. Add one under cameras: in the config, or on the web page.")
                return
            }
            var table = TextTable(header: ["ID", "NAME", "STATE", "TRACKS"])
            for device in devices {
                guard let source = device.source else {
                    table.add([device.key ?? device.id, device.name, device.connectivityState.rawValue, device.type])
                    continue
                }
                let tracks = source.tracks.map { "\($0.kind) \($0.codec)" }.joined(separator: ", ")
                table.add([device.key ?? device.id, device.name, Self.words(source.state), tracks])
                if let reason = source.reason { table.addRemark(reason) }
            }
            print(table.text)
        }
    }

    /// A state as a person reads it; `--json` has the names of the API.
    private static func words(_ state: CameraSourceState) -> String {
        switch state {
        case .flowing: "online"
        case .backingOff: "offline"
        case .givenUp: "given up for now"
        case .settingUp: "setting up"
        default: state.rawValue
        }
    }
}

/// `gatehouse press`: presses the built-in doorbell's button.
struct PressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "press", abstract: "Press the button of the built-in doorbell.")

    @Argument(help: "The device.")
    var device: String

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            do {
                try await connection.send(Google.DoorbellPressTrait.press(), to: device)
            } catch let error as HomeError where error.message.contains("no trait of this name") {
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
                    "\(session.mediaSessionId.prefix(8))…  \(keys[session.deviceID])  \(session.principal)  "
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
