import DatagramPort
import HomeTypes
import Transport

/// What runs on the queue of the service.
extension TransportService {
    /// Applies a change, keeps it, and does what follows from it.
    @discardableResult
    func apply<Value>(
        _ device: String,
        _ body: (inout ConnectionTable, CameraCapabilities, Int64) throws(TransportFault) -> Value
    ) throws(TransportFault) -> Value {
        guard let camera = state.withLock({ $0.cameras[device] }), camera.isPresent else {
            throw TransportFault.unknownDevice(device)
        }
        var table = camera.table
        let value = try body(&table, camera.capabilities, clocks.wall())
        guard table != camera.table else { return value }
        try keep(table, of: device)
        state.withLock { $0.cameras[device]?.table = table }
        synchronize(device)
        report(.connections(device: device))
        return value
    }

    /// Applies what has happened. It is in force whether the disk takes it or not.
    func record(_ device: String, _ body: (inout ConnectionTable) -> Void) {
        guard let camera = state.withLock({ $0.cameras[device] }), camera.isPresent else { return }
        var table = camera.table
        body(&table)
        guard table != camera.table else { return }
        adopt(table, of: device)
        synchronize(device)
        report(.connections(device: device))
    }

    /// Adds a camera, or adopts what the config wants of it now. One that was removed earlier is as it was then.
    func add(_ device: String, _ wanted: OwnConnection) {
        let now = clocks.wall()
        let next = storage.nextNumber(of: device)
        let new = state.withLock { state -> ConnectionTable? in
            let isKnown = state.cameras[device] != nil
            if !isKnown {
                var table = ConnectionTable(wanted)
                // Its earlier connections were forgotten or lost. Their recordings may still be there.
                if let next { table.follow(next, at: now) }
                state.cameras[device] = Camera(
                    table: state.startsOff ? table.switchedOff : table, capabilities: CameraCapabilities())
            }
            let offered = state.offered
            state.cameras[device]?.capabilities.endpoints = offered
            state.cameras[device]?.isPresent = true
            return isKnown ? nil : state.cameras[device]?.table
        }
        if let new { adopt(new, of: device) }
        record(device) { table in
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
        state.withLock { state in
            state.cameras[device]?.isPresent = false
            state.cameras[device]?.machines = [:]
        }
        recordAbsence(of: device)
        arm()
    }

    /// The home no longer has a camera: it left, or was taken out of the config while the gateway was stopped.
    func recordAbsence(of device: String) {
        guard var table = state.withLock({ $0.cameras[device]?.table }) else { return }
        table.removedAt = clocks.wall()
        adopt(table, of: device)
        forgetOldest()
    }

    /// Cameras come and go. Those that have been away for the longest are forgotten when there are too many.
    private func forgetOldest() {
        let away = state.withLock { state in
            state.cameras.compactMap { device, camera in camera.table.removedAt.map { (device, $0) } }
        }
        for (device, _) in away.sorted(by: { $0.1 < $1.1 }).dropLast(Self.maximumAway) {
            // One that the disk does not forget is forgotten when the next camera leaves.
            guard (try? storage.remove(device)) != nil else { continue }
            state.withLock { $0.cameras[device] = nil }
        }
    }

    func report(_ change: TransportChange) {
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
            state.cameras[device]?.machines[connection]?.machine.handle(input, at: now) ?? []
        }
        perform(outputs, of: connection, of: device)
    }

    /// Does what a connection decides because its time has come.
    private func feedDeadline(to connection: UInt16, of device: String) {
        let now = clocks.now()
        let outputs = state.withLock { state in
            state.cameras[device]?.machines[connection]?.machine.handleDeadline(at: now) ?? []
        }
        perform(outputs, of: connection, of: device)
    }

    private func perform(_ outputs: [TriggerMachine.Output], of connection: UInt16, of device: String) {
        for output in outputs { perform(output, of: connection, of: device) }
        arm()
    }

    private func perform(_ output: TriggerMachine.Output, of connection: UInt16, of device: String) {
        switch output {
        case .begin(let begin): self.begin(begin, on: connection, of: device)
        case .extend(_, let trigger), .belongs(let trigger):
            recorder?.add(trigger.recorded, to: connection, of: device)
        case .end(let reason):
            recorder?.end(connection, of: device, reason: reason)
            let ended = state.withLock { state -> Machine? in
                guard let machine = state.cameras[device]?.machines[connection] else { return nil }
                // Its first session may still be on the way.
                let end = machine.isAnnounced ? nil : (machine.order, machine.number, reason)
                state.cameras[device]?.machines[connection]?.unannounced = end
                state.cameras[device]?.machines[connection]?.isAnnounced = false
                return machine
            }
            guard let ended, ended.isAnnounced else { return }
            report(.ended(device: device, connection: connection, number: ended.number, reason))
        }
    }

    private func begin(_ begin: TriggerMachine.Begin, on connection: UInt16, of device: String) {
        guard let found = state.withLock({ $0.cameras[device]?.table.connection(connection) }) else { return }
        let number = sessionNumber(of: found, in: device, mayBeShared: true)
        state.withLock { state in
            state.cameras[device]?.machines[connection]?.order = number
            state.cameras[device]?.machines[connection]?.isAnnounced = false
            state.cameras[device]?.machines[connection]?.options = found.options
        }
        let trigger = begin.trigger
        recorder?.begin(
            RecordingOrder(
                device: device, connection: found, number: number, trigger: trigger.recorded,
                triggeredAt: begin.triggeredAt, preRoll: begin.preRoll, notBefore: begin.notBefore)
        ) { [weak self] in
            self?.onQueue { $0.announce(trigger, number: number, on: connection, of: device) }
        }
    }

    /// There is a recording: its first session has begun. A recording that comes to nothing, because the camera is away or
    /// its privacy mode is on, is not announced, and neither is its end.
    private func announce(_ trigger: RecordingTrigger, number: UInt64, on connection: UInt16, of device: String) {
        let (isNews, end) = state.withLock { state -> (Bool, RecordingEnd.Reason?) in
            guard let machine = state.cameras[device]?.machines[connection] else { return (false, nil) }
            if let (order, _, reason) = machine.unannounced, order == number {
                state.cameras[device]?.machines[connection]?.unannounced = nil
                return (true, reason)
            }
            guard machine.machine.isRecording, machine.order == number, !machine.isAnnounced else {
                return (false, nil)
            }
            state.cameras[device]?.machines[connection]?.isAnnounced = true
            return (true, nil)
        }
        guard isNews else { return }
        report(.began(device: device, connection: connection, trigger, number: number))
        if let end { report(.ended(device: device, connection: connection, number: number, end)) }
    }

    /// Numbers a session that begins now on a connection.
    /// - Parameter mayBeShared: whether it may have the number of a session that another connection of its group records.
    func sessionNumber(of connection: TransportConnection, in device: String, mayBeShared: Bool) -> UInt64 {
        guard let camera = state.withLock({ $0.cameras[device] }) else { return 0 }
        let group = connection.sessionGroup
        let isRecorded = camera.table.connections.contains {
            $0.id != connection.id && $0.sessionGroup == group && camera.recording.contains($0.id)
        }
        var session: SharedSession
        if mayBeShared, isRecorded, let shared = camera.sessions[group], shared.admits(connection) {
            session = shared
        } else {
            var table = camera.table
            session = SharedSession(number: table.takeSessionNumber(of: group))
            // Without its number on the disk, a recording is still better than none: the store's names stay unique.
            adopt(table, of: device)
        }
        session.add(connection)
        state.withLock { [session] state in
            state.cameras[device]?.sessions[group] = session
            state.cameras[device]?.machines[connection.id]?.number = session.number
        }
        return session.number
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
                    (camera?.machines ?? [:]).filter { $0.value.machine.nextDeadline.map { $0 <= now } ?? false }
                        .keys.sorted()
                )
            }
            for connection in due { feedDeadline(to: connection, of: device) }
            if expired { record(device) { _ = $0.expire(at: wall) } }
        }
        retryKeeping(at: clocks.now())
        arm()
    }

    /// Sets the timer for what comes next. A jump of the wall clock is noticed within a minute.
    func arm() {
        let now = clocks.now(), wall = clocks.wall()
        let next = state.withLock { state -> (Duration, UInt64)? in
            let cameras = state.cameras.values.filter(\.isPresent)
            let deadlines = cameras.flatMap { $0.machines.values.compactMap(\.machine.nextDeadline) }
            let triggers = deadlines.min().map { $0 - now }
            let expiry = cameras.compactMap(\.table.nextExpiry).min().map {
                min(Duration.milliseconds($0 - wall), .seconds(60))
            }
            let retry = state.unkept.values.map(\.retryAt).min().map { $0 - now }
            guard let wait = [triggers, expiry, retry].compactMap({ $0 }).min() else { return nil }
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
