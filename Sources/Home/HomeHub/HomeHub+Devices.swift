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

    /// Makes the home's devices those of the list, in its order, and reports the changes to every watcher. A device
    /// that is the same is not touched.
    /// - Parameters:
    ///   - devices: the devices that the home should have. Of two with one id the first counts.
    ///   - drivers: the cameras behind devices that are new or got another camera; a device that is there already and
    ///     for which no driver is given keeps its own.
    @discardableResult
    public func setDevices(_ devices: [DeviceDescription], drivers: [any CameraDriver]) -> DeviceChanges {
        var changes = DeviceChanges()
        var order: [String] = []
        var wanted: Set<String> = []
        for device in devices where wanted.insert(device.id).inserted { order.append(device.id) }
        // Watchers that come back know the devices of the earlier run.
        for id in recalledDevices.subtracting(self.order).sorted() where !wanted.contains(id) {
            publish(.deviceRemoved(deviceID: id))
        }
        for id in self.order where !wanted.contains(id) {
            unfollow(id)
            states[id] = nil
            changes.removed.append(id)
            observer(id, nil)
            publish(.deviceRemoved(deviceID: id))
        }
        self.order = order
        directory.adopt(devices)
        setConnections(of: devices)
        for device in devices where wanted.remove(device.id) != nil {
            let driver = drivers.first { $0.deviceID == device.id }
            guard let known = states[device.id] else {
                var state = DeviceState(
                    description: device, record: directory.record(ofDevice: device.id), driver: driver)
                if let traits = connectionTraits(of: device.id) { state.update(traits) }
                states[device.id] = state
                changes.added.append(device.id)
                let isRecalled = recalledDevices.contains(device.id)
                publish(isRecalled ? .device(state.snapshot) : .deviceAdded(state.snapshot))
                follow(driver)
                continue
            }
            var state = known
            if driver != nil {
                unfollow(device.id)
                state = DeviceState(description: device, driver: driver)
            }
            state.record = directory.record(ofDevice: device.id)
            state.update(device)
            if let traits = connectionTraits(of: device.id) { state.update(traits) }
            states[device.id] = state
            guard driver != nil || known.description != device else { continue }
            changes.changed.append(device.id)
            if state.snapshot != known.snapshot { publish(.device(state.snapshot)) }
            follow(driver)
        }
        recalledDevices = []
        for id in changes.removed {
            outputs[id] = nil
            permitted[id] = nil
        }
        // A station that is new begins with what it was given when it was made; this makes sure.
        if transports != nil {
            for id in self.order {
                Task { await readConnections(of: id) }
            }
        }
        return changes
    }

    /// Follows the cameras, including later ones, until all of them have ended or the task is cancelled.
    public func run() async {
        isRunning = true
        for id in order where followers[id] == nil { follow(states[id]?.driver) }
        await withTaskCancellationHandler {
            while let follower = self.followers.values.first { await follower.task.value }
        } onCancel: {
            Task { await self.stopFollowing() }
        }
    }

    /// Stops following any camera.
    public func stopFollowing() {
        isRunning = false
        for follower in followers.values { follower.task.cancel() }
    }

    private func follow(_ driver: (any CameraDriver)?) {
        guard isRunning, let driver else { return }
        let number = nextFollower
        nextFollower &+= 1
        let task = Task {
            for await update in driver.updates() {
                // An update that was under way when the camera was replaced is dropped.
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
