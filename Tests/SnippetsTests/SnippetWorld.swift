import Foundation
import FoundationNetworking
import GatewayProcess
import GoogleHomeSDK
import GoogleHomeTypes
import Testing

/// A running gateway with a home for the snippets, which all tests share.
@MainActor final class SnippetWorld {
    private static let names = [
        "bedroom": "Bedroom Lamp", "ceiling": "Ceiling", "hall": "Hall", "stage": "Stage", "radio": "Radio",
        "fan": "Fan",
        "bath-humidity": "Bath", "renamed": "Renamed", "front-door": "Front door", "blinds": "Blinds",
    ]

    private static let cameras =
        #""cameras": [{"id": "front-door", "name": "Front door", "type": "doorbell", "source": "builtin:doorbell"}]"#

    /// A dimmable light, an on/off light, a light of every kind, a loudspeaker that is also a dimmable light, and others.
    private static let devices = """
        ,"devices": {
          "bedroom": {"name": "Bedroom Lamp", "type": "DimmableLightDeviceType"},
          "ceiling": {"name": "Ceiling", "type": "OnOffLightDeviceType"},
          "hall": {"name": "Hall", "type": "OnOffLightDeviceType"},
          "stage": {"name": "Stage", "type": "ExtendedColorLightDeviceType"},
          "radio": {"name": "Radio", "types": ["SpeakerDeviceType", "DimmableLightDeviceType"]},
          "fan": {"name": "Fan", "type": "FanDeviceType"},
          "bath-humidity": {"name": "Bath", "type": "HumiditySensorDeviceType"},
          "blinds": {"name": "Blinds", "type": "WindowCoveringDeviceType"},
          "renamed": {"name": "Renamed", "type": "OnOffPluginUnitDeviceType"}
        }
        """

    private static var running: SnippetWorld?

    let home: Home
    private let gateway: GatewayProcess

    private init(home: Home, gateway: GatewayProcess) {
        self.home = home
        self.gateway = gateway
    }

    /// The home of the gateway, which is started for the first test and ends with the process.
    static func make() async throws -> SnippetWorld {
        if let running { return running }
        let gateway = try GatewayProcess(sections: cameras + devices)
        gateway.stopAtExit()
        Home.configure {
            $0.address = gateway.address
            $0.token = gateway.token
        }
        let world = SnippetWorld(home: try await Home.connect(), gateway: gateway)
        running = world
        return world
    }

    /// A device by its key in the config.
    func device(_ key: String) async throws -> HomeDevice {
        let devices = try await home.devices().list()
        let name = Self.names[key]
        return try #require(devices.first { $0.name == name }, "no \(key) among \(devices.map(\.name))")
    }

    /// Reports that somebody has come home or left.
    func report(_ person: String, isHome: Bool, in structure: Structure) async throws {
        let url = try #require(URL(string: "\(gateway.address)/v1/structures/\(structure.id)/presence"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("Bearer \(gateway.token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"person":"\#(person)","isHome":\#(isHome)}"#.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    /// An app that shows a device.
    func app(_ key: String) async throws -> SnippetApp { SnippetApp(home: home, device: try await device(key)) }
}
