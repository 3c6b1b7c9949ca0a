import Synchronization

extension Vocabulary {
    /// The traits and types of vendors that this process has registered.
    private struct Registered {
        var traits: [String: any Trait.Type] = [:]
        var deviceTypes: [String: any DeviceType.Type] = [:]
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

    /// Adds a trait that is declared outside this package. Devices that have it are read with it from then on.
    public static func register(_ trait: any Trait.Type) {
        self.registered.withLock { state in
            state.traits[trait.name] = trait
            state.traits[trait.identifier] = trait
        }
    }

    /// Adds a device type that is declared outside this package.
    public static func register(_ type: any DeviceType.Type) {
        self.registered.withLock { state in
            state.deviceTypes[type.name] = type
            state.deviceTypes[type.identifier] = type
        }
    }

    /// The trait with this name or identifier, or nil.
    public static func trait(named name: String) -> (any Trait.Type)? {
        self.traitsByName[name] ?? self.registered.withLock { $0.traits[name] }
    }

    /// The device type with this name, alias or identifier, or nil.
    public static func deviceType(named name: String) -> (any DeviceType.Type)? {
        self.deviceTypesByName[name] ?? self.registered.withLock { $0.deviceTypes[name] }
    }

    /// The command with this name or identifier, or nil where the trait has none.
    public static func command(named name: String, of trait: any Trait.Type) -> (any Command.Type)? {
        trait.supportedCommandTypes.first { $0.name == name || $0.identifier == name }
    }

    /// The event with this name or identifier, or nil where the trait has none.
    public static func event(named name: String, of trait: any Trait.Type) -> (any Event.Type)? {
        trait.supportedEventTypes.first { $0.name == name || $0.identifier == name }
    }
}
