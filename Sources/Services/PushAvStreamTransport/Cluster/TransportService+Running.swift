import DatagramPort
import HomeTypes
import Transport

/// What runs on the queue of the service.
extension TransportService {
    /// Applies a change, keeps it, and does what follows from it.
    @discardableResult
    func apply<Value>(
        _ device: String, _ body: (inout ConnectionTable, CameraCapabilities, Int64) throws -> Value
    ) throws -> Value {
        guard let camera = state.withLock({ $0.cameras[device] }), camera.isPresent else {
            throw TransportFault(.notFound, "device \(device) has no recording connections")
        }
        var table = camera.table
        let value = try body(&table, camera.capabilities, clocks.wall())
        guard table != camera.table else { return value }
        try keep(table, of: device)
        state.withLock { $0.cameras[device]?.table = table }
        synchronize(device)
        tell(.connections(device: device))
        return value
    }

    func keep(_ table: ConnectionTable, of device: String) throws(TransportFault) {
        do throws(RecordingFault) {
            try storage.save(table, of: device)
        } catch {
            tell(.notKept(device: device, error))
            throw TransportFault(.notKept, "the change cannot be kept (\(error)); nothing was changed")
        }
    }

    /// Adds a camera, or adopts what the config wants of it now. One that was removed earlier is as it was then.
    func add(_ device: String, _ wanted: OwnConnection) {
        let isKnown = state.withLock { state in
            let isKnown = state.cameras[device] != nil
            if !isKnown {
                state.cameras[device] = Camera(table: ConnectionTable(wanted), capabilities: CameraCapabilities())
            }
            state.cameras[device]?.capabilities.endpoints = state.endpoints
            state.cameras[device]?.isPresent = true
            return isKnown
        }
        if !isKnown, let table = state.withLock({ $0.cameras[device]?.table }) {
            // A camera that cannot be kept is on as well; the next change tries again.
            try? keep(table, of: device)
        }
        try? apply(device) { table, _, now in
            table.removedAt = nil
            table.configure(wanted)
            _ = table.expire(at: now)
        }
        synchronize(device)
    }

    /// A camera has left the home. Its connections and switches stay, because it may come back: one that was off, or
    /// private, must not be on then.
    func remove(_ device: String) {
        feedAll(.stop(.removed), of: device)
        for connection in state.withLock({ $0.cameras[device]?.machines.keys.sorted() ?? [] }) {
            recorder?.setPreRoll(nil, of: connection, of: device)
        }
        let table = state.withLock { state -> ConnectionTable? in
            state.cameras[device]?.isPresent = false
            state.cameras[device]?.machines = [:]
            state.cameras[device]?.table.removedAt = clocks.wall()
            return state.cameras[device]?.table
        }
        // Should the disk not take it, the camera comes back as it was all the same.
        if let table { try? keep(table, of: device) }
        forgetOldest()
        arm()
    }

    /// Cameras come and go. Those that have been away for the longest are forgotten when there are too many.
    private func forgetOldest() {
        let away = state.withLock { state in
            state.cameras.compactMap { device, camera in camera.table.removedAt.map { (device, $0) } }
        }
        for (device, _) in away.sorted(by: { $0.1 < $1.1 }).dropLast(Self.maximumAway) {
            state.withLock { $0.cameras[device] = nil }
            do throws(RecordingFault) {
                try storage.remove(device)
            } catch {
                tell(.notKept(device: device, error))
            }
        }
    }

    /// A camera that is away has no connections to an endpoint that was deleted: another endpoint may get its number.
    func endConnectionsOfAbsentCameras(exceptTo endpoints: Set<UInt16>) {
        for (device, camera) in state.withLock({ $0.cameras }) where camera.table.removedAt != nil {
            var table = camera.table
            table.connections.removeAll {
                $0.options.tlsEndpointID != 0 && !endpoints.contains($0.options.tlsEndpointID)
            }
            guard table != camera.table else { continue }
            state.withLock { [table] in $0.cameras[device]?.table = table }
            try? keep(table, of: device)
        }
    }

    func tell(_ change: TransportChange) {
        for observer in state.withLock({ $0.observers }) { observer(change) }
    }

    // MARK: Triggers

    /// Makes the triggers match the connections.
    func synchronize(_ device: String) {
        guard recorder != nil, let camera = state.withLock({ $0.cameras[device] }) else { return arm() }
        let table = camera.table
        for gone in camera.machines.keys.sorted() where table.connection(gone) == nil {
            feed(.stop(.removed), to: gone, of: device)
            recorder?.setPreRoll(nil, of: gone, of: device)
            state.withLock { _ = $0.cameras[device]?.machines.removeValue(forKey: gone) }
        }
        for connection in table.connections {
            let settings = TriggerSettings(connection.options.triggerOptions)
            let stopped: RecordingEnd.Reason? =
                table.privacy.refuse(connection.options.streamUsage)
                ? .privacy : connection.status == .inactive ? .inactive : nil
            let known = state.withLock { state -> Machine in
                if let known = state.cameras[device]?.machines[connection.id] { return known }
                let new = Machine(machine: TriggerMachine(settings), settings: settings, stopped: .inactive)
                state.cameras[device]?.machines[connection.id] = new
                return new
            }
            let preRoll = stopped == nil && settings.type != .continuous ? settings.preRoll : nil
            if preRoll != known.preRoll { recorder?.setPreRoll(preRoll, of: connection.id, of: device) }
            state.withLock { state in
                state.cameras[device]?.machines[connection.id]?.settings = settings
                state.cameras[device]?.machines[connection.id]?.stopped = stopped
                state.cameras[device]?.machines[connection.id]?.preRoll = preRoll
            }
            if settings != known.settings { feed(.settings(settings), to: connection.id, of: device) }
            if stopped != known.stopped { feed(.stop(stopped), to: connection.id, of: device) }
            restart(connection, of: device)
        }
        arm()
    }

    /// A recording that lasts would never adopt other options. It is cut, and the next one has them. Other recordings end
    /// by themselves soon, and the next one has the new options.
    private func restart(_ connection: TransportConnection, of device: String) {
        guard connection.options.triggerOptions.triggerType == .continuous,
            let machine = state.withLock({ $0.cameras[device]?.machines[connection.id] }), machine.machine.isRecording,
            let begun = machine.options, !begun.recordsLike(connection.options)
        else { return }
        feed(.stop(.cut), to: connection.id, of: device)
        feed(.stop(nil), to: connection.id, of: device)
    }

    func feedAll(_ input: TriggerMachine.Input, of device: String) {
        for connection in state.withLock({ $0.cameras[device]?.machines.keys.sorted() ?? [] }) {
            feed(input, to: connection, of: device)
        }
    }

    /// Gives a connection an input, and does what it decides.
    func feed(_ input: TriggerMachine.Input, to connection: UInt16, of device: String) {
        let now = clocks.now()
        let outputs = state.withLock { state in
            state.cameras[device]?.machines[connection]?.machine.take(input, at: now) ?? []
        }
        for output in outputs { perform(output, of: connection, of: device, at: now) }
        arm()
    }

    private func perform(
        _ output: TriggerMachine.Output, of connection: UInt16, of device: String, at now: Instant
    ) {
        switch output {
        case .begin(let begin): self.begin(begin, on: connection, of: device, at: now)
        case .extend(_, let trigger), .belongs(let trigger):
            recorder?.add(trigger.recorded, to: connection, of: device)
        case .end(let reason):
            recorder?.end(connection, of: device, reason: reason)
            let number = state.withLock { $0.cameras[device]?.machines[connection]?.number ?? 0 }
            tell(.ended(device: device, connection: connection, number: number, reason))
        }
    }

    private func begin(
        _ begin: TriggerMachine.Begin, on connection: UInt16, of device: String, at now: Instant
    ) {
        guard let camera = state.withLock({ $0.cameras[device] }), let found = camera.table.connection(connection)
        else { return }
        var table = camera.table
        let number = table.beginSession(on: connection, beside: camera.recording.subtracting([connection]))
        // Without its number on the disk, a recording is still better than none: the store's names stay unique.
        if table != camera.table { try? keep(table, of: device) }
        state.withLock { state in
            state.cameras[device]?.table = table
            state.cameras[device]?.machines[connection]?.number = number
            state.cameras[device]?.machines[connection]?.options = found.options
        }
        let age = max(0, (now - begin.triggeredAt).components.seconds * 1_000)
        recorder?.begin(
            RecordingOrder(
                device: device, connection: found, number: number, trigger: begin.trigger.recorded,
                triggeredAt: begin.triggeredAt, triggeredAtWall: clocks.wall() - age, preRoll: begin.preRoll))
        tell(.began(device: device, connection: connection, begin.trigger, number: number))
    }

    // MARK: Time

    /// What is due by now: recordings that end, and connections whose time is over.
    func tick() {
        let devices = state.withLock { $0.cameras.filter(\.value.isPresent).keys.sorted() }
        for device in devices {
            let now = clocks.now(), wall = clocks.wall()
            let (expired, due) = state.withLock { state in
                let camera = state.cameras[device]
                return (
                    camera?.table.nextExpiry.map { $0 <= wall } ?? false,
                    (camera?.machines ?? [:]).filter { $0.value.machine.deadline.map { $0 <= now } ?? false }
                        .keys.sorted()
                )
            }
            for connection in due { feed(.tick, to: connection, of: device) }
            if expired { try? apply(device) { table, _, now in _ = table.expire(at: now) } }
        }
        arm()
    }

    /// Sets the timer for what comes next. A jump of the wall clock is noticed within a minute.
    private func arm() {
        let now = clocks.now(), wall = clocks.wall()
        let next = state.withLock { state -> (Duration, UInt64)? in
            let cameras = state.cameras.values.filter(\.isPresent)
            let triggers = cameras.flatMap { $0.machines.values.compactMap(\.machine.deadline) }.min().map { $0 - now }
            let expiry = cameras.compactMap(\.table.nextExpiry).min().map {
                min(Duration.milliseconds($0 - wall), .seconds(60))
            }
            guard let wait = [triggers, expiry].compactMap({ $0 }).min() else { return nil }
            state.timer &+= 1
            return (max(wait, .milliseconds(1)), state.timer)
        }
        guard let (wait, number) = next else { return }
        clocks.after(queue, wait) { [weak self] in
            guard let self, self.state.withLock({ $0.timer == number }) else { return }
            self.tick()
        }
    }
}
