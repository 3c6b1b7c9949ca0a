import Transport

/// How the messages of devices become their states.
extension MQTTHome {
    /// Reads whether an entity can be reached.
    /// - Returns: its device, if that has changed.
    mutating func readAvailability(_ payload: MQTTPayload, from topic: String, for id: String) -> String? {
        guard let record = entities[id] else { return nil }
        var state = record.availability
        record.described.availability.read(payload, from: topic, into: &state)
        guard state != record.availability else { return nil }
        entities[id]?.availability = state
        return record.described.availability.isReachable(state) == record.isReachable ? nil : record.deviceKey
    }

    mutating func read(
        _ payload: MQTTPayload, from topic: String, for id: String, at now: Instant, _ effects: inout Effects
    ) {
        if var tracker = trackers[id] {
            do throws(UnreadablePayload) {
                guard let isHome = try tracker.tracker.isHome(payload), tracker.isHome != isHome else { return }
                tracker.isHome = isHome
                trackers[id] = tracker
                effects.reports.append(.presence(tracker.reported, isHome: isHome))
            } catch {
                counts.couldNotRead(topic, error.description)
            }
            return
        }
        guard var record = entities[id] else { return }
        var reading = EntityReading()
        if record.entity.topics.contains(topic) {
            do throws(UnreadablePayload) {
                reading = try record.entity.read(payload, from: topic, with: record.known)
            } catch {
                counts.couldNotRead(topic, error.description)
            }
        }
        let changed = reading.values.difference(to: record.known)
        record.known.merge(changed)
        let events = reading.events.filter { record.isNew($0, payload.hash, at: now) }
        entities[id] = record
        guard let device = devices[record.deviceKey], let endpoint = device.endpoint(of: id) else { return }
        if !changed.isEmpty {
            effects.reports.append(.values(key: device.key, endpoint: endpoint, changed))
        }
        effects.reports += events.map { .event(key: device.key, endpoint: endpoint, $0) }
    }

    /// Adopts attributes that a command has changed, for a device that does not report them.
    mutating func adopt(_ values: TraitValues, for id: String, _ effects: inout Effects) {
        guard var record = entities[id], let device = devices[record.deviceKey] else { return }
        let changed = values.difference(to: record.known)
        record.known.merge(changed)
        entities[id] = record
        guard !changed.isEmpty, let endpoint = device.endpoint(of: id) else { return }
        effects.reports.append(.values(key: device.key, endpoint: endpoint, changed))
    }
}
