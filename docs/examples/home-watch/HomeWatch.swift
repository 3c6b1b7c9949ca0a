import GoogleHomeSDK
import GoogleHomeTypes

/// Lists the devices of a home, switches a light, and reports the light's changes.
///
///     swift run home-watch "Bedroom Lamp"
///
/// `GATEHOUSE_URL` and `GATEHOUSE_TOKEN` name a gateway on another machine.
@main struct HomeWatch {
    static func main() async {
        do {
            try await run(name: CommandLine.arguments.dropFirst().first)
        } catch let error as HomeError {
            print("\(error.code): \(error.message)")
        } catch {
            print("\(error)")
        }
    }

    static func run(name: String?) async throws {
        let home = try await Home.connect()
        let devices = try await home.devices().list()
        for device in devices.sorted(by: { $0.name < $1.name }) {
            print("\(device.name): \(device.sourceConnectivity.connectivityState)")
        }

        guard let light = devices.first(where: { $0.name == name }) else { return }
        guard let type = await light.types.get(OnOffLightDeviceType.self) else {
            print("\(light.name) is not a light")
            return
        }
        try await type.matterTraits.onOffTrait?.toggle()

        let changes = light.types.subscribe(OnOffLightDeviceType.self)
            .compactMap { $0.matterTraits.onOffTrait }
            .removeDuplicates()
        for try await trait in changes.values {
            print("\(light.name) is \(trait.onOff == true ? "on" : "off")")
        }
    }
}
