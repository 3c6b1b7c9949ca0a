/// The result of reading an entity's description.
enum MadeEntity: Sendable {
    case entity(any Entity)
    case tracker(TrackerEntity)
    /// The home does not have a counterpart. The text says what it is.
    case ignored(String)
}

extension EntityConfiguration {
    /// Makes the entity that this describes.
    func made() throws(DiscoveryProblem) -> MadeEntity {
        switch component {
        case "light": return .entity(try LightEntity(self))
        case "switch":
            // Settings of a device are switches too.
            if string("entity_category") != nil { return .ignored("switch (\(string("entity_category") ?? ""))") }
            return .entity(try SwitchEntity(self))
        case "cover": return .entity(try CoverEntity(self))
        case "lock": return .entity(try LockEntity(self))
        case "fan": return .entity(try FanEntity(self))
        case "climate": return .entity(try ClimateEntity(self))
        case "sensor": return try SensorEntity(self).map(MadeEntity.entity) ?? ignored
        case "binary_sensor": return try BinarySensorEntity(self).map(MadeEntity.entity) ?? ignored
        case "event":
            if let doorbell = try EventEntity(self) { return .entity(doorbell) }
            return try ButtonEntity(self).map(MadeEntity.entity) ?? ignored
        case "device_tracker": return .tracker(try TrackerEntity(self))
        default: return .ignored(component)
        }
    }

    private var ignored: MadeEntity { .ignored("\(component) (\(string("device_class") ?? "no device_class"))") }
}
