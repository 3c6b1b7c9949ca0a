import HomeTypes

/// Devices are added and removed while the home runs.
extension HomeHub {
    /// The task that reads one driver's updates.
    struct Follower {
        let number: UInt64
        let task: Task<Void, Never>
    }

    /// What happened to the home's devices, by their identifiers.
    public struct DeviceChanges: Sendable, Equatable {
        /// New in the home.
        public var added: [String] = []
        /// Described differently than before, or with another driver.
        public var changed: [String] = []
        /// Gone.
        public var removed: [String] = []

        /// Nothing has changed.
        public init() {}
    }

    /// Replaces the devices of one origin by those of the list, in its order, and reports the changes to every watcher.
    /// A device that has not changed is left alone.
    /// - Parameters:
    ///   - devices: the devices that the home should have from there. Of two devices with the same id, the first
    ///     counts.
    ///   - drivers: the backends of new devices and of those whose backend changes; an existing device without one here
    ///     keeps its own.
    ///   - origin: where the devices come from. Those of other origins stay.
    @discardableResult
    public func setDevices(
        _ devices: [DeviceDescription], drivers: [any DeviceBackend], of origin: DeviceOrigin = .cameras
    ) -> DeviceChanges {
        var changes = DeviceChanges()
        var order: [String] = []
        var wanted: Set<String> = []
        let others = Set(orders.filter { $0.key != origin }.flatMap(\.value))
        let devices = devices.filter { !others.contains($0.id) }
        for device in devices where wanted.insert(device.id).inserted { order.append(device.id) }
        // Watchers that return know the devices of the earlier run. Those of other origins may still be found again.
        let recalled = recalledDevices
        for id in recalled.keys.sorted() where recalled[id] == origin && !wanted.contains(id) && !others.contains(id) {
            recalledDevices[id] = nil
            if states[id] == nil { publish(.deviceRemoved(deviceID: id)) }
        }
        for id in orders[origin] ?? [] where !wanted.contains(id) {
            unfollow(id)
            states[id] = nil
            changes.removed.append(id)
            observer(id, nil)
            publish(.deviceRemoved(deviceID: id))
        }
        orders[origin] = order
        directory.adopt(devices)
        if origin == .cameras { setConnections(of: devices) }
        let drivers = Dictionary(drivers.map { ($0.deviceID, $0) }, uniquingKeysWith: { first, _ in first })
        for device in devices where wanted.remove(device.id) != nil {
            let driver = drivers[device.id]
            guard let known = states[device.id] else {
                var state = DeviceState(
                    description: device, record: directory.record(ofDevice: device.id), backend: driver)
                if let traits = connectionTraits(of: device.id) { state.update(traits) }
                states[device.id] = state
                changes.added.append(device.id)
                let isRecalled = recalled[device.id] != nil
                recalledDevices[device.id] = nil
                publish(isRecalled ? .device(state.snapshot) : .deviceAdded(state.snapshot))
                follow(driver)
                continue
            }
            var state = known
            if driver != nil {
                unfollow(device.id)
                state = DeviceState(description: device, backend: driver)
            }
            // A change of its name or place that is in progress is reported below, and must not be lost here.
            state.record = known.record
            state.update(device)
            if let traits = connectionTraits(of: device.id) { state.update(traits) }
            states[device.id] = state
            guard driver != nil || known.description != state.description else { continue }
            changes.changed.append(device.id)
            if state.snapshot != known.snapshot { publish(.device(state.snapshot)) }
            follow(driver)
        }
        readDirectory()
        for id in changes.removed {
            outputs[id] = nil
            recordings[id] = nil
            permitted[id] = nil
        }
        // A new station already begins with these outputs; this makes sure.
        if transports != nil, origin == .cameras {
            for id in order {
                Task { await readConnections(of: id) }
            }
        }
        return changes
    }

    /// Follows the devices, including later ones, until all of them have ended or the task is cancelled.
    public func run() async {
        isRunning = true
        for id in order where followers[id] == nil { follow(states[id]?.backend) }
        await withTaskCancellationHandler {
            while let follower = followers.values.first { await follower.task.value }
        } onCancel: {
            Task { await self.stopFollowing() }
        }
    }

    /// Stops following any device.
    public func stopFollowing() {
        isRunning = false
        for follower in followers.values { follower.task.cancel() }
    }

    /// Returns when the hub has applied what the cameras of these devices have reported so far. Call it before other drivers
    /// take their places: what is not read by then is lost.
    public func applyReports(of deviceIDs: [String]) async {
        for id in deviceIDs { await states[id]?.driver?.reportsApplied() }
    }

    private func follow(_ driver: (any DeviceBackend)?) {
        guard isRunning, let driver else { return }
        let number = nextFollower
        nextFollower &+= 1
        // From here on nothing that the driver reports is lost.
        let updates = driver.updates()
        let task = Task {
            for await update in updates {
                // An update that was in progress when the camera was replaced is dropped.
                guard followers[driver.deviceID]?.number == number else { break }
                apply(update, deviceID: driver.deviceID)
            }
            if followers[driver.deviceID]?.number == number { followers[driver.deviceID] = nil }
        }
        followers[driver.deviceID] = Follower(number: number, task: task)
    }

    private func unfollow(_ deviceID: String) {
        followers.removeValue(forKey: deviceID)?.task.cancel()
    }
}
