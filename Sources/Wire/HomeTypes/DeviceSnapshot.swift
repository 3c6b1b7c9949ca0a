/// The current state of a device: the response of `GET /v1/devices/{device}`. Values that describe the same state are
/// equal.
public struct DeviceSnapshot: Sendable, Codable, Hashable, Identifiable {
    /// The identifier, which stays for the device's whole life.
    public var id: String
    /// What the config calls it; nil for a device that has only its identifier.
    public var key: String?
    /// The name that people read.
    public var name: String
    /// The name of the primary type: the one that a person would name.
    public var type: String
    /// The scoped identifier of the primary type; empty for a type that this version does not know.
    public var typeIdentifier: String
    /// The structure that it is in.
    public var structureID: String?
    /// The room that it is in; nil for none.
    public var roomID: String?
    /// Whether the device speaks Matter itself.
    public var isMatterDevice: Bool
    /// Whether the device can be reached, aggregated over its endpoints.
    public var connectivityState: ConnectivityState
    /// How it is reached, aggregated over its endpoints.
    public var dataSourceLocality: LocalityType
    /// Its parts, by their numbers.
    public var endpoints: [EndpointSnapshot]
    /// What the source of a camera is doing; nil for other devices.
    public var source: CameraSourceStatus?
    /// The state of the connection that delivers its events; nil for a device without one.
    public var eventSource: EventSourceStatus?
    /// What a camera detects right now; nil for other devices.
    public var activeDetections: [DetectionKind]?

    /// Describes a device.
    public init(
        id: String, key: String? = nil, name: String, structureID: String? = nil, roomID: String? = nil,
        endpoints: [EndpointSnapshot], isMatterDevice: Bool = false,
        source: CameraSourceStatus? = nil, eventSource: EventSourceStatus? = nil,
        activeDetections: [DetectionKind]? = nil
    ) {
        self.id = id
        self.key = key
        self.name = name
        self.structureID = structureID
        self.roomID = roomID
        self.isMatterDevice = isMatterDevice
        self.endpoints = endpoints
        let primary = Self.primary(of: endpoints)
        self.type = primary?.type ?? UnknownDeviceType.name
        self.typeIdentifier = Vocabulary.deviceType(named: self.type)?.identifier ?? ""
        let used = endpoints.filter { !$0.isUtility }
        let whole = SourceConnectivity(aggregating: (used.isEmpty ? endpoints : used).map(\.connectivity))
        self.connectivityState = whole.connectivityState
        self.dataSourceLocality = whole.dataSourceLocality
        self.source = source
        self.eventSource = eventSource
        self.activeDetections = activeDetections
    }

    /// The first type that is not a helper, on the first endpoint that has one.
    private static func primary(of endpoints: [EndpointSnapshot]) -> (endpoint: EndpointSnapshot, type: String)? {
        for endpoint in endpoints {
            for type in endpoint.types where Vocabulary.deviceType(named: type)?.isUtilityType != true {
                return (endpoint, type)
            }
        }
        return nil
    }
}

extension DeviceSnapshot {
    /// The endpoint of the primary type; nil for a device without one.
    public var primaryEndpoint: EndpointSnapshot? { Self.primary(of: endpoints)?.endpoint }

    /// The traits of the primary type's endpoint. Other endpoints may have traits of the same names.
    public var traits: TraitCollection { primaryEndpoint?.traits ?? TraitCollection() }

    /// The names of all traits, each once.
    public var traitNames: [String] {
        var known: Set<String> = []
        return endpoints.flatMap { $0.traits.names }.filter { known.insert($0).inserted }
    }

    /// The endpoint that a request for a trait means.
    /// - Parameter number: the one that the request names; nil to have one chosen. That is the primary type's endpoint if it
    ///   has the trait, and otherwise the only one that has it.
    /// - Throws: `notFound` if the trait does not exist, `invalidArgument` if several endpoints have it.
    public func endpoint(having trait: String, number: UInt16? = nil) throws(HomeError) -> EndpointSnapshot {
        if let number {
            guard let endpoint = endpoints.first(where: { $0.id == number }) else {
                let numbers = endpoints.map { "\($0.id)" }.joined(separator: ", ")
                throw .notFound("device \(id) has no endpoint \(number); it has \(numbers)")
            }
            guard endpoint.traits[trait] != nil else {
                let names = endpoint.traits.names.joined(separator: ", ")
                throw .notFound(
                    "endpoint \(number) of device \(id) has no trait of this name; "
                        + "it has \(names.isEmpty ? "none" : names)")
            }
            return endpoint
        }
        if let primary = primaryEndpoint, primary.traits[trait] != nil { return primary }
        let having = endpoints.filter { $0.traits[trait] != nil }
        guard let first = having.first else {
            throw .notFound(
                "device \(id) has no trait of this name; it has \(traitNames.joined(separator: ", "))")
        }
        guard having.count == 1 else {
            let numbers = having.map { "\($0.id)" }.joined(separator: ", ")
            throw .invalidArgument(
                "device \(id) has the trait \(trait) on the endpoints \(numbers); choose one with ?endpoint=")
        }
        return first
    }
}
