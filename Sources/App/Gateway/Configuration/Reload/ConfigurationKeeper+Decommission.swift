import HomeHub
import HomeTypes
import Logging

/// The end of a camera's device.
extension ConfigurationKeeper {
    /// Fails unless the device can be decommissioned here.
    /// - Throws: `failedPrecondition` for a camera or a device of the config file, and for one that another backend has.
    func requireRemovable(_ record: DeviceRecord) async throws(HomeError) {
        // Also for one that was removed here: its entry may be used again.
        try requireOutsideConfigFile(record.key)
        if entries.contains(where: { $0.camera.id == record.key }) { return }
        if let mqtt, MQTTDeviceList.isKey(record.key) {
            try await mqtt.requireForgettable(record.key)
        } else if (try? await hub.requireDevice(record.id)) != nil {
            throw HomeError.failedPrecondition(
                "\(record.key) is not a camera: remove it where it is declared, and then here")
        }
    }

    /// Fails if the config file has the camera or the virtual device: it would come back, as another device, when its entry
    /// counts again.
    func requireOutsideConfigFile(_ id: String) throws(HomeError) {
        guard let file else { return }
        let isCamera = current.cameras.contains { $0.id == id }
        guard isCamera || current.devices.contains(where: { $0.key == id }) else { return }
        throw HomeError.failedPrecondition(
            "the \(isCamera ? "camera" : "device") \(id) is defined in the config file \(file); remove it there first, "
                + "which needs no restart")
    }

    /// Ends the life of a device: its camera is removed, and its identifier is never given again. A camera that is added
    /// under the same key later is another device.
    /// - Throws: `notFound`, what ``requireRemovable(_:)`` throws, and `unavailable` when the disk does not take it.
    func decommission(_ id: String) async throws(HomeError) {
        await takeTurn()
        defer { endTurn() }
        guard let record = hub.directory.record(ofDevice: id) else { throw HomeHub.unknownDevice(id) }
        try await requireRemovable(record)
        // The camera comes first: a gateway that is killed in between has a device without a camera, which can be
        // decommissioned again.
        if entries.contains(where: { $0.camera.id == record.key }) {
            var stored = changeable(record.key)
            stored.remove(record.key)
            try await store(stored)
        }
        if MQTTDeviceList.isKey(record.key) { try await mqtt?.forget(record.key) }
        do {
            try webhooks.remove(record.key, in: store.directory)
        } catch {
            throw HomeError.unavailable("the webhook token of \(record.key) cannot be removed: \(error)")
        }
        try await hub.decommission(id)
        logger.notice("device decommissioned", metadata: ["device": "\(record.key)"])
    }
}
