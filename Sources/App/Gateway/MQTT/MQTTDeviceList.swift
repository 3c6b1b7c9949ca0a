import HomeHub
import HomeTypes
import Logging
import MQTTDevices

/// The devices of the MQTT broker as devices of the home.
///
/// A device that the broker describes is there. One that it stops describing leaves; if it is described again it has its
/// old identifier, name and room. A device that an earlier run knew is offline until the broker describes it.
actor MQTTDeviceList {
    /// How long a broker has to be away until its devices can be removed. An update or a restart of a machine takes less,
    /// and a broker that comes back describes its devices again.
    static let longAbsence = Duration.seconds(3_600)

    /// The way to the broker.
    nonisolated let link = MQTTLink()
    /// How many devices may join during a run. The home keeps the identifier of each for good, so a broker that describes
    /// devices without end would fill the disk.
    private let maximumDevices: Int
    private let hub: HomeHub
    private let kept: KeptMQTTDevices
    private let logger: Logger
    private var known: [String: KeptMQTTDevice] = [:]
    private var ids: [String: String] = [:]
    private var backends: [String: MQTTBackend] = [:]
    private var hasRead = false
    /// The keys of all devices that have joined during this run.
    private var admitted: Set<String> = []
    private var hasRefused = false
    /// Whether the config no longer names a broker, so that the home has none of the devices.
    private var hasLeft = false
    /// Whether the disk took no identifiers, and devices may still wait for theirs.
    private var hasFailed = false
    /// The devices that the broker describes, by their keys.
    private(set) var described: [String: MQTTDevice] = [:]

    /// Makes an empty list.
    init(hub: HomeHub, kept: KeptMQTTDevices, maximumDevices: Int = 4_000, logger: Logger) {
        self.maximumDevices = maximumDevices
        self.hub = hub
        self.kept = kept
        self.logger = logger
    }

    /// The keys of all devices by their identifiers, for the next bridge.
    var keys: [String: String] {
        var result: [String: String] = [:]
        // Two devices may share an identifier. It means the one that it names, and otherwise the same one each time.
        for device in known.values.sorted(by: { $0.key < $1.key }) {
            for identifier in device.identifiers where identifier == device.key || result[identifier] == nil {
                result[identifier] = device.key
            }
        }
        return result
    }

    /// How many events of devices gave way because the home did not read them.
    var droppedEvents: Int { backends.values.reduce(0) { $0 + $1.dropped } }

    /// Shows the devices that are known from before, until the broker describes them.
    func begin() async {
        if !hasRead { known = kept.read() }
        hasRead = true
        hasLeft = false
        await identify(known.keys.map { ($0, nil) })
        await share()
    }

    /// Takes all devices out of the home: the config no longer names a broker. They stay known in case it comes back.
    func leave() async {
        hasLeft = true
        described = [:]
        for backend in backends.values { backend.finish() }
        backends = [:]
        await hub.setDevices([], drivers: [], of: .mqtt)
    }

    /// Marks every device as not described: the config names the broker in another way now.
    func waitForDescriptions() {
        for key in described.keys {
            backends[key]?.report(.connectivity(endpoint: nil, .notDescribedYet))
        }
        described = [:]
    }

    // MARK: Reports

    /// Whether described devices wait until the disk takes their identifiers. Nothing describes them again.
    func hasLateDevices() -> Bool {
        guard hasFailed else { return false }
        hasFailed = described.keys.contains { ids[$0] == nil }
        return hasFailed
    }

    /// Adopts what the bridge has reported.
    /// - Parameter groups: the reports in their order. What is in one group changed at once. An empty group lets the devices
    ///   try again that wait for the disk.
    func take(_ groups: [[MQTTDeviceReport]]) async {
        // Many descriptions at once cost one change of the home's list. The reports of one device keep their order.
        var waiting: [String: MQTTDevice?] = [:]
        if groups.contains(where: \.isEmpty), hasLateDevices() {
            for (key, device) in described where ids[key] == nil { waiting[key] = .some(device) }
        }
        for group in groups {
            if group.contains(where: { $0.key.map { waiting[$0] != nil } ?? false && !$0.isDescription }) {
                await describe(waiting)
                waiting = [:]
            }
            for report in group {
                switch report {
                case .described(let device): waiting[device.key] = .some(device)
                case .removed(let key): waiting[key] = .some(nil)
                default: break
                }
            }
            pass(group)
        }
        await describe(waiting)
    }

    /// Hands the devices what was reported of them at once.
    private func pass(_ group: [MQTTDeviceReport]) {
        var states: [String: [DeviceUpdate]] = [:]
        var order: [String] = []
        for report in group {
            guard let key = report.key, let update = report.update else { continue }
            guard let backend = backends[key] else {
                adopt(report, of: key)
                continue
            }
            if report.isEvent {
                backend.report(update)
                continue
            }
            if states[key] == nil { order.append(key) }
            states[key, default: []].append(update)
            guard case .reachability(_, let endpoint, let isReachable) = report else { continue }
            adopt(isReachable, ofPart: endpoint, of: key)
            states[key]?.append(
                .connectivity(
                    endpoint: EndpointDescription.root, SourceConnectivity(mqtt: described[key]?.isReachable)))
        }
        for key in order { backends[key]?.report(.together(states[key] ?? [])) }
    }

    /// Adopts what a device reports that has no identifier yet, so that it joins as it is.
    private func adopt(_ report: MQTTDeviceReport, of key: String) {
        switch report {
        case .reachability(_, let endpoint, let isReachable): adopt(isReachable, ofPart: endpoint, of: key)
        case .values(_, let endpoint, let values):
            guard let position = described[key]?.endpoints.firstIndex(where: { $0.number == endpoint }) else { return }
            for (trait, attributes) in values.traits {
                for (name, value) in attributes { described[key]?.endpoints[position].values[trait, name] = value }
            }
        default: break
        }
    }

    private func adopt(_ isReachable: Bool?, ofPart number: Int, of key: String) {
        guard let position = described[key]?.endpoints.firstIndex(where: { $0.number == number }) else { return }
        described[key]?.endpoints[position].isReachable = isReachable
    }

    /// Adopts descriptions, and that devices are no longer described (nil).
    private func describe(_ changes: [String: MQTTDevice?]) async {
        guard !changes.isEmpty else { return }
        for (key, device) in changes where device == nil { remove(key) }
        let arrivals = changes.values.compactMap { $0 }.filter { admit($0.key) }
        await identify(arrivals)
        for device in arrivals {
            described[device.key] = device
            guard let id = ids[device.key] else { continue }
            let keeping = KeptMQTTDevice(device, id: id)
            if known[device.key] != keeping { kept.write(keeping, key: device.key) }
            known[device.key] = keeping
            backends[device.key]?.report(.endpoints(device.endpointDescriptions(id: id)))
        }
        await share()
    }

    private func admit(_ key: String) -> Bool {
        if known[key] != nil || admitted.contains(key) { return true }
        guard admitted.count < maximumDevices else {
            if !hasRefused {
                logger.warning(
                    "the MQTT broker describes too many devices; further ones do not join the home",
                    metadata: ["joined": "\(admitted.count)"])
            }
            hasRefused = true
            return false
        }
        admitted.insert(key)
        return true
    }

    private func remove(_ key: String) {
        described[key] = nil
        known[key] = nil
        ids[key] = nil
        backends.removeValue(forKey: key)?.finish()
        kept.write(nil, key: key)
    }

    /// Gives devices their identifiers and rooms.
    private func identify(_ devices: [MQTTDevice]) async {
        await identify(devices.map { ($0.key, $0.suggestedRoom) })
    }

    private func identify(_ devices: [(key: String, room: String?)]) async {
        do throws(HomeError) {
            let records = try await hub.identify(
                devices.map { .init(MQTTDevice.homeKey($0.key), room: $0.room) })
            for device in devices { ids[device.key] = records[MQTTDevice.homeKey(device.key)]?.id }
        } catch {
            if !hasFailed {
                logger.error(
                    "MQTT devices cannot join the home yet; this is tried again until it succeeds",
                    metadata: ["reason": "\(error.message)"])
            }
            hasFailed = true
        }
    }

    /// Makes the home's list the present one.
    private func share() async {
        guard !hasLeft else { return }
        var drivers: [MQTTBackend] = []
        var descriptions: [DeviceDescription] = []
        for device in known.values.sorted(by: { ($0.name, $0.key) < ($1.name, $1.key) }) {
            guard let id = ids[device.key] else { continue }
            var description = DeviceDescription(id: id, name: device.name)
            if backends[device.key] == nil {
                let backend = MQTTBackend(deviceID: id, key: device.key, link: link)
                backends[device.key] = backend
                drivers.append(backend)
                description.endpoints =
                    described[device.key]?.endpointDescriptions(id: id) ?? device.endpointDescriptions
            }
            descriptions.append(description)
        }
        await hub.setDevices(descriptions, drivers: drivers, of: .mqtt)
    }

    // MARK: Decommissioning

    /// Whether the device is one of the broker's.
    static func isKey(_ homeKey: String) -> Bool { homeKey.hasPrefix(MQTTDevice.homeKey("")) }

    /// Whether the broker describes the device, or has described it before.
    func knows(_ homeKey: String) -> Bool { key(of: homeKey) != nil }

    private func key(of homeKey: String) -> String? {
        (Array(described.keys) + Array(known.keys)).first { MQTTDevice.homeKey($0) == homeKey }
    }

    /// Fails while the broker describes the device, or may do so: it would come back. A device that the broker has not
    /// described since the gateway last connected stays in the home, but may be forgotten. So may every device of a broker
    /// that has been away for long.
    /// - Parameters:
    ///   - homeKey: what the home calls the device.
    ///   - absence: for how long nothing has answered at the broker's address; nil while something does.
    func requireForgettable(_ homeKey: String, absence: Duration? = nil) async throws(HomeError) {
        guard let key = key(of: homeKey) else { return }
        let name = described[key]?.name ?? known[key]?.name ?? key
        // Without a bridge, no broker can describe it again.
        guard let bridge = link.bridge else {
            if described[key] != nil { throw Self.stillDescribed(name) }
            return
        }
        switch await bridge.description(of: key) {
        case .absent: return
        case .present: throw Self.stillDescribed(name)
        case .awaited:
            throw HomeError.failedPrecondition(
                "the MQTT broker may still describe \(name): try again when it has been connected for a few seconds")
        case .unknown(let failure):
            if let absence, absence >= Self.longAbsence, failure?.isAbsence == true { return }
            throw Self.unknownDescription(name, failure)
        }
    }

    /// The refusal while the broker cannot be asked.
    private static func unknownDescription(_ name: String, _ failure: BrokerFailure?) -> HomeError {
        let state = "is not connected" + (failure.map { " (\($0))" } ?? "")
        let advice =
            failure?.isAbsence == false
            ? "correct the section mqtt of the config, or remove it, and try again"
            : "try again when it has been connected for a few seconds. If it is gone for good, try again when it has "
                + "been away for an hour, or remove the section mqtt of the config"
        return .failedPrecondition("the MQTT broker may still describe \(name), and \(state): \(advice)")
    }

    private static func stillDescribed(_ name: String) -> HomeError {
        .failedPrecondition("the MQTT broker still describes \(name): remove it there, and then here")
    }

    /// Forgets a device that the broker does not describe any more.
    /// - Throws: see ``requireForgettable(_:absence:)``.
    func forget(_ homeKey: String, absence: Duration? = nil) async throws(HomeError) {
        try await requireForgettable(homeKey, absence: absence)
        guard let key = known.keys.first(where: { MQTTDevice.homeKey($0) == homeKey }) else { return }
        await link.bridge?.forget(key)
        remove(key)
        await share()
    }
}

extension BrokerFailure {
    /// Whether nothing answers at the broker's address. A broker that refuses the gateway, or closes each connection, is
    /// there, and may describe what it has described before.
    var isAbsence: Bool {
        switch self {
        case .unknownHost, .unreachable, .timeout: true
        case .refused, .tls, .disconnected, .other: false
        }
    }
}
