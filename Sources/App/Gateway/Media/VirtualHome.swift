import HomeHub
import HomeTypes
import Logging

/// The virtual devices of the config.
actor VirtualHome {
    private let hub: HomeHub
    /// Keeps their state; nil where the state folder cannot be used.
    private let store: (any SharedStore)?
    private let logger: Logger
    /// The devices that run, by their identifiers, as the config describes them.
    private var running: [String: GatewayConfiguration.Device] = [:]

    /// Makes a home without virtual devices.
    init(hub: HomeHub, store: (any SharedStore)?, logger: Logger) {
        self.hub = hub
        self.store = store
        self.logger = logger
    }

    /// Makes the home's virtual devices those of the config. A device that is the same is not touched.
    func apply(_ settings: [GatewayConfiguration.Device]) async {
        guard let store else {
            if !settings.isEmpty {
                logger.error("virtual devices do not run, because their state cannot be kept")
            }
            return
        }
        let records: [String: DeviceRecord]
        do throws(HomeError) {
            records = try await hub.identify(
                settings.map { HomeDirectory.DeviceKey($0.key, room: $0.room) })
        } catch {
            logger.error("virtual devices do not change", metadata: ["reason": "\(error.message)"])
            return
        }
        var drivers: [VirtualDevice] = []
        var descriptions: [DeviceDescription] = []
        var next: [String: GatewayConfiguration.Device] = [:]
        for device in settings {
            guard let id = records[device.key]?.id else { continue }
            next[id] = device
            if let present = running[id], present.name == device.name, present.types == device.types,
                present.information == device.information
            {
                descriptions.append(DeviceDescription(id: id, key: device.key, name: device.name))
                continue
            }
            do throws(HomeError) {
                let virtual = try VirtualDevice(
                    id: id, name: device.name, types: device.types.compactMap { Vocabulary.deviceType(named: $0) },
                    information: device.information, store: store)
                drivers.append(virtual)
                descriptions.append(virtual.description(key: device.key))
            } catch {
                next[id] = nil
                logger.error(
                    "a virtual device does not run",
                    metadata: ["device": "\(device.key)", "reason": "\(error.message)"])
            }
        }
        running = next
        await hub.setDevices(descriptions, drivers: drivers, of: .virtual)
    }
}
