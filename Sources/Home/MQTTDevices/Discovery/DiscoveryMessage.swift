/// A message of Home Assistant's discovery.
enum DiscoveryMessage {
    /// The keys that the parts inherit from the whole device.
    private static let sharedKeys = [
        "availability", "availability_topic", "availability_template", "availability_mode", "payload_available",
        "payload_not_available", "state_topic", "command_topic", "qos", "encoding", "~",
    ]

    /// The maximum number of parts that one message may describe.
    private static let maximumParts = 256
    /// The longest name of an entity, in bytes. A topic cannot be longer, but a component's key may be as long as its message.
    private static let longestName = 1 << 10

    /// How many bytes the templates of all parts may have. A template that all parts share is read for each of them, and takes
    /// many times its length.
    private static let mostTemplateBytes = 256 << 10

    /// What the message describes: entities, and what is wrong with the others.
    static func entities(
        _ topic: DiscoveryTopic, _ payload: JSONValue
    ) throws(DiscoveryProblem) -> [Result<DiscoveredEntity, DiscoveryProblem>] {
        guard let object = payload.object else { throw DiscoveryProblem("is not a JSON object") }
        let values = DiscoveryAbbreviations.expanded(object)
        var templateBytes = 0
        guard topic.component == "device" else {
            return [entity(topic.component, topic.path, values, &templateBytes)]
        }
        guard let parts = values["components"]?.object else { throw DiscoveryProblem("components is missing") }
        guard parts.count <= maximumParts else { throw DiscoveryProblem("describes more than \(maximumParts) parts") }
        let shared = values.filter { sharedKeys.contains($0.key) }
        return parts.sorted { $0.key < $1.key }.compactMap { key, part in
            guard var members = part.object, let component = members["platform"]?.string else {
                return .failure(DiscoveryProblem("component \(key) has no platform"))
            }
            // A part with nothing but its platform has been removed.
            guard members.count > 1 else { return nil }
            members.merge(shared) { own, _ in own }
            members["device"] = values["device"]
            return entity(component, "\(topic.path)/\(key)", members, &templateBytes)
        }
    }

    /// - Parameter templateBytes: how many bytes the templates of all parts have so far.
    private static func entity(
        _ component: String, _ path: String, _ values: [String: JSONValue], _ templateBytes: inout Int
    ) -> Result<DiscoveredEntity, DiscoveryProblem> {
        let configuration = EntityConfiguration(component: component, values)
        let unique = configuration["unique_id"]?.printed
        if let unique, unique.isEmpty || unique.utf8.count > 256 {
            return .failure(DiscoveryProblem("unique_id is empty or longer than 256 bytes"))
        }
        let id = "\(component).\(unique ?? path)"
        // The name outlives the message, even if the home has no counterpart of the entity.
        guard id.utf8.count <= longestName else {
            return .failure(DiscoveryProblem("the name of an entity is longer than \(longestName) bytes"))
        }
        guard configuration.addedBytes <= EntityConfiguration.mostAddedBytes else {
            return .failure(DiscoveryProblem("~ stands for too much text"))
        }
        templateBytes += configuration.templateBytes
        guard templateBytes <= mostTemplateBytes else {
            return .failure(DiscoveryProblem("the templates of all parts are longer than 256 KiB"))
        }
        let name = configuration.string("name").flatMap(DiscoveredDevice.cleaned)
        do throws(DiscoveryProblem) {
            return .success(
                DiscoveredEntity(
                    id: id, name: name, device: DiscoveredDevice(configuration["device"], entity: id, name: name),
                    configuration: configuration, availability: try Availability(configuration)))
        } catch {
            return .failure(error)
        }
    }
}
