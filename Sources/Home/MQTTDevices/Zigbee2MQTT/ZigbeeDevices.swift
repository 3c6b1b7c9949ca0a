/// The list of devices that Zigbee2MQTT publishes to `bridge/devices`. Each device becomes entities as Home Assistant's
/// discovery would describe them, so that both forms lead to the same home.
struct ZigbeeDevices {
    /// The topic below which Zigbee2MQTT publishes; `zigbee2mqtt` by default.
    let prefix: String

    /// The topic of the list.
    var topic: String { "\(prefix)/bridge/devices" }

    /// What the list describes: entities, and what is wrong with the others.
    func entities(_ payload: JSONValue) throws(DiscoveryProblem) -> [Result<DiscoveredEntity, DiscoveryProblem>] {
        guard let list = payload.array else { throw DiscoveryProblem("is not a JSON array") }
        return list.flatMap(entities(of:))
    }

    private func entities(of device: JSONValue) -> [Result<DiscoveredEntity, DiscoveryProblem>] {
        guard device["type"]?.string != "Coordinator", device["disabled"]?.bool != true else { return [] }
        // A device whose abilities are still being queried comes again.
        guard let exposes = device["definition"]?["exposes"]?.array else { return [] }
        guard let address = device["ieee_address"]?.string, let name = device["friendly_name"]?.string,
            !address.isEmpty, address.utf8.count <= 64, TopicName.isValid("\(prefix)/\(name)")
        else { return [.failure(DiscoveryProblem("a Zigbee device has no usable address or name"))] }
        let described = Self.described(device, address: address, name: name)
        let availability = availability(of: name)
        let topics = ZigbeeTopics(state: "\(prefix)/\(name)", command: "\(prefix)/\(name)/set")
        return exposes.flatMap { ZigbeeExpose($0).descriptions(topics) }.map { part in
            .success(
                DiscoveredEntity(
                    id: "zigbee2mqtt.\(part.configuration.component).\(address)_\(part.object)", name: part.name,
                    device: described, configuration: part.configuration, availability: availability))
        }
    }

    private static func described(_ device: JSONValue, address: String, name: String) -> DiscoveredDevice {
        var product = MQTTProduct()
        product.vendorName = device["definition"]?["vendor"]?.string.flatMap(DiscoveredDevice.cleaned)
        product.productName = device["definition"]?["model"]?.string.flatMap(DiscoveredDevice.cleaned)
        product.softwareVersion = device["software_build_id"]?.string.flatMap(DiscoveredDevice.cleaned)
        product.serialNumber = address
        product.uniqueID = "zigbee2mqtt_\(address)"
        return DiscoveredDevice(
            identifiers: ["zigbee2mqtt_\(address)"], name: DiscoveredDevice.cleaned(name) ?? address, product: product)
    }

    /// The bridge must be online. The device itself reports only if Zigbee2MQTT is configured to check it.
    private func availability(of name: String) -> Availability {
        let template = Self.stateTemplate
        func topic(_ name: String, isOptional: Bool) -> Availability.Topic {
            .init(
                source: ValueSource(topic: name, template: template), available: "online", unavailable: "offline",
                isOptional: isOptional)
        }
        return Availability(
            topics: [
                topic("\(prefix)/bridge/state", isOptional: false),
                topic("\(prefix)/\(name)/availability", isOptional: true),
            ], mode: .all)
    }

    /// Older versions publish the word alone.
    private static let stateTemplate = try? Template("{{ value_json.state if value_json is mapping else value }}")
}

/// The topics of one Zigbee device.
struct ZigbeeTopics {
    let state: String
    let command: String
}
