import HomeHub
import HomeTypes
import Logging

/// The virtual devices of the config.
struct VirtualHome: Sendable {
    let hub: HomeHub
    /// Keeps their state; nil where the state folder cannot be used.
    let store: (any SharedStore)?
    let logger: Logger

    /// Makes the home's virtual devices those of the config.
    func apply(_ settings: [GatewayConfiguration.Device]) async {
        guard !settings.isEmpty else { return }
        guard let store else {
            logger.error("virtual devices do not run, because their state cannot be kept")
            return
        }
        let records: [String: DeviceRecord]
        do throws(HomeError) {
            records = try await hub.identify(settings.map { HomeDirectory.DeviceKey($0.key) })
        } catch {
            logger.error("virtual devices do not run", metadata: ["reason": "\(error.message)"])
            return
        }
        var devices: [VirtualDevice] = []
        var descriptions: [DeviceDescription] = []
        for device in settings {
            guard let id = records[device.key]?.id else { continue }
            do throws(HomeError) {
                let virtual = try VirtualDevice(
                    id: id, name: device.name, types: device.types.compactMap { Vocabulary.deviceType(named: $0) },
                    store: store)
                devices.append(virtual)
                descriptions.append(virtual.description(key: device.key))
            } catch {
                logger.error(
                    "a virtual device does not run",
                    metadata: ["device": "\(device.key)", "reason": "\(error.message)"])
            }
        }
        await hub.setDevices(descriptions, drivers: devices, of: .virtual)
    }
}
