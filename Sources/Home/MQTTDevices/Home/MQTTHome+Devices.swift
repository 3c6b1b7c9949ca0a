/// How entities become devices.
extension MQTTHome {
    /// How many devices are reported.
    var reportedDevices: Int { devices.values.count { $0.reported != nil } }

    /// The device as it is described now; nil while none of its entities is usable.
    func device(_ record: DeviceRecord) -> (device: MQTTDevice, endpoints: [String: Int], numbers: [String: Int])? {
        let all = record.entities.sorted().compactMap { id in entities[id].map { (id: id, record: $0) } }
        // Zigbee2MQTT describes its devices in both forms. Its own form contains more.
        let zigbee = all.filter { $0.record.topic == zigbeeTopic }
        let used = zigbee.isEmpty ? all : zigbee
        var parts: [String: [(id: String, record: EntityRecord)]] = [:]
        for entity in used { parts[entity.record.part, default: []].append(entity) }
        let supplements = parts.removeValue(forKey: "\(EntityKind.supplement)") ?? []
        let order = parts.keys.sorted { first, second in
            let kinds = (parts[first]?.first?.record.entity.kind, parts[second]?.first?.record.entity.kind)
            guard let left = kinds.0, let right = kinds.1, left != right else { return first < second }
            return left < right
        }
        guard let first = order.first, let main = used.first?.record.described.device else { return nil }
        let numbers = numbers(of: order, in: partNumbers.numbers[record.key] ?? [:])
        var endpoints: [MQTTEndpoint] = []
        var endpointOfEntity: [String: Int] = [:]
        for part in order {
            guard let number = numbers[part], var members = parts[part] else { continue }
            // What a device reports about its battery belongs to its first part.
            if part == first { members += supplements }
            var values = TraitValues()
            for member in members {
                values.merge(member.record.known)
                endpointOfEntity[member.id] = number
            }
            var types: [String] = []
            for type in members.compactMap(\.record.entity.deviceType) where !types.contains(type) {
                types.append(type)
            }
            endpoints.append(
                MQTTEndpoint(
                    number: number, types: types, values: values, isReachable: isReachable(members.map(\.record))))
        }
        let identifiers = used.flatMap(\.record.described.device.identifiers)
        let device = MQTTDevice(
            key: record.key, identifiers: Set(identifiers), name: main.name ?? record.key,
            suggestedRoom: main.suggestedRoom, product: main.product,
            endpoints: endpoints.sorted { $0.number < $1.number })
        return (device, endpointOfEntity, numbers)
    }

    /// The numbers of a device's parts. Known parts keep their numbers, and new parts get the lowest free ones. Parts that are
    /// gone also keep theirs, because they may return, unless there are too many of them.
    private func numbers(of parts: [String], in known: [String: Int]) -> [String: Int] {
        var numbers = known
        let new = parts.filter { known[$0] == nil }
        if numbers.count + new.count > Self.maximumNumberedParts {
            let present = Set(parts)
            numbers = numbers.filter { present.contains($0.key) }
        }
        var used = Set(numbers.values)
        var next = 1
        for part in new {
            while !used.insert(next).inserted { next += 1 }
            numbers[part] = next
        }
        return numbers
    }

    private var zigbeeTopic: String? { settings.zigbee2mqttPrefix.map { ZigbeeDevices(prefix: $0).topic } }

    /// Whether a part can be reached: if one of its entities can, the device can.
    private func isReachable(_ members: [EntityRecord]) -> Bool? {
        guard isConnected else { return false }
        let answers = members.map(\.isReachable)
        if answers.contains(true) { return true }
        return answers.contains(nil) ? nil : false
    }

    /// Reports a device whose description has settled, if it has changed.
    mutating func report(_ key: String, _ effects: inout Effects) {
        guard var record = devices[key] else { return }
        record.settle()
        guard let (device, endpoints, numbers) = device(record) else {
            var isNews = record.reported != nil
            record.reported = nil
            record.endpoints = [:]
            if record.entities.isEmpty {
                let earlier = earlierIdentifiers.removeValue(forKey: key)
                // The home still has a device of an earlier run, although this run has not reported it yet.
                if earlier != nil { isNews = true }
                for identifier in record.identifiers.union((earlier ?? []) + [key]) where keys[identifier] == key {
                    keys[identifier] = nil
                }
                devices[key] = nil
            } else {
                devices[key] = record
            }
            if isNews {
                partNumbers.depart(key)
                effects.reports.append(.removed(key: key))
            }
            return
        }
        record.endpoints = endpoints
        partNumbers.keep(numbers, of: key)
        let before = record.reported
        record.reported = device
        devices[key] = record
        if before != device { effects.reports.append(.described(device)) }
    }

    /// Reports which parts of a device can be reached, if that has changed.
    mutating func reportReachability(of key: String, _ effects: inout Effects) {
        guard var record = devices[key], var reported = record.reported, let (device, _, _) = device(record) else {
            return
        }
        let answers = Dictionary(device.endpoints.map { ($0.number, $0.isReachable) }) { first, _ in first }
        for (position, endpoint) in reported.endpoints.enumerated() {
            guard let isReachable = answers[endpoint.number], isReachable != endpoint.isReachable else { continue }
            reported.endpoints[position].isReachable = isReachable
            effects.reports.append(.reachability(key: key, endpoint: endpoint.number, isReachable: isReachable))
        }
        record.reported = reported
        devices[key] = record
    }
}
