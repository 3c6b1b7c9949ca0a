import Synchronization

extension Vocabulary {
    /// The traits and types of vendors that this process has registered.
    private struct Registered {
        var traits: [String: any Trait.Type] = [:]
        var deviceTypes: [String: any DeviceType.Type] = [:]
        var cloudMappings = CloudMappings()
    }

    /// How the traits and types of the vendors that this process has registered appear in cloud-to-cloud messages.
    public struct CloudMappings: Sendable {
        /// How many registrations there were.
        public var count = 0
        /// The mappings of each trait, by its name, as JSON.
        public var traits: [String: String] = [:]
        /// The cloud's device types, by the names of our device types.
        public var types: [String: String] = [:]
    }

    private static let registered = Mutex(Registered())
    private static let traitsByName = index(traits + detectionTraits, { $0.name }, { $0.identifier })
    private static let deviceTypesByName = index(deviceTypes, { $0.name }, { $0.identifier })
        .merging(deviceTypeAliases) { own, _ in own }

    private static func index<Value>(_ values: [Value], _ keys: (Value) -> String...) -> [String: Value] {
        var result: [String: Value] = [:]
        for value in values { for key in keys { result[key(value)] = value } }
        return result
    }

    /// Adds a trait that is declared outside this package. From then on, devices that have it are read with it.
    public static func register(_ trait: any Trait.Type) {
        registered.withLock { state in
            state.traits[trait.name] = trait
            state.traits[trait.identifier] = trait
        }
    }

    /// Adds a device type that is declared outside this package.
    public static func register(_ type: any DeviceType.Type) {
        registered.withLock { state in
            state.deviceTypes[type.name] = type
            state.deviceTypes[type.identifier] = type
        }
    }

    /// Adds how traits and device types that are declared outside this package appear in cloud-to-cloud messages.
    /// - Parameters:
    ///   - cloudTraits: the mappings of each trait, by its name, as JSON in the form of the data files.
    ///   - types: the cloud's device types, by the names of the types.
    public static func register(cloudTraits: [String: String], types: [String: String]) {
        registered.withLock { state in
            state.cloudMappings.count += 1
            state.cloudMappings.traits.merge(cloudTraits) { $1 }
            state.cloudMappings.types.merge(types) { $1 }
        }
    }

    /// What was registered for cloud-to-cloud.
    public static var cloudMappings: CloudMappings { registered.withLock { $0.cloudMappings } }

    /// The trait with this name or identifier; nil if there is none.
    public static func trait(named name: String) -> (any Trait.Type)? {
        traitsByName[name] ?? registered.withLock { $0.traits[name] }
    }

    /// The device type with this name, alias or identifier; nil if there is none.
    public static func deviceType(named name: String) -> (any DeviceType.Type)? {
        deviceTypesByName[name] ?? registered.withLock { $0.deviceTypes[name] }
    }

    /// The command with this name or identifier; nil if the trait does not have it.
    public static func command(named name: String, of trait: any Trait.Type) -> (any Command.Type)? {
        trait.supportedCommandTypes.first { $0.name == name || $0.identifier == name }
    }

    /// The event with this name or identifier; nil if the trait does not have it.
    public static func event(named name: String, of trait: any Trait.Type) -> (any Event.Type)? {
        trait.supportedEventTypes.first { $0.name == name || $0.identifier == name }
    }
}
