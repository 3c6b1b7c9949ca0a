import HomeTypes

extension DeviceRecord {
    /// The endpoints that are of a type: first those that have it, then those with a type that includes it.
    func endpoints(of type: any DeviceType.Type) -> [EndpointRecord] {
        let named = endpoints.filter { $0.has(type) }
        return named + endpoints.filter { endpoint in !endpoint.has(type) && endpoint.isKind(of: type) }
    }

    /// The endpoint of the primary type.
    var primaryEndpoint: EndpointRecord? {
        guard let primary = Vocabulary.deviceType(named: type) else { return nil }
        return endpoints.first { $0.has(primary) }
    }

    /// The device as a type, once for each part that is of it. A part without a required trait is left out.
    func values<Wanted: DeviceType>(of type: Wanted.Type, _ model: HomeModel) -> [Wanted] {
        endpoints(of: type).compactMap { value(of: type, at: $0, model) }
    }

    /// Every type of every part.
    func allValues(_ model: HomeModel) -> [any DeviceType] {
        endpoints.flatMap { endpoint in
            endpoint.types.compactMap { Vocabulary.deviceType(named: $0) }
                .compactMap { value(of: $0, at: endpoint, model) }
        }
    }

    private func value<Wanted: DeviceType>(
        of type: Wanted.Type, at endpoint: EndpointRecord, _ model: HomeModel
    ) -> Wanted? {
        let traits = endpoint.traits(of: id, model)
        let parts = traits.all.map(\.metadata.sourceConnectivity)
        let metadata = DeviceTypeMetadata(
            isPrimaryType: Vocabulary.deviceType(named: self.type)?.identifier == type.identifier
                && endpoint.id == primaryEndpoint?.id,
            sourceConnectivity: parts.isEmpty ? endpoint.connectivity : SourceConnectivity(aggregating: parts))
        // A gateway never sends a type without its required traits, but a later version might require fewer.
        return try? Wanted(traits: traits, metadata: metadata)
    }
}

extension EndpointRecord {
    /// Whether the endpoint has this very type.
    func has(_ type: any DeviceType.Type) -> Bool {
        types.contains { Vocabulary.deviceType(named: $0)?.identifier == type.identifier }
    }

    func isKind(of type: any DeviceType.Type) -> Bool {
        types.contains { Vocabulary.deviceType(named: $0)?.isKind(of: type) ?? false }
    }

    /// The traits, whose commands reach this endpoint.
    func traits(of device: String, _ model: HomeModel) -> TraitCollection {
        let interaction = DeviceInteraction(model: model, device: device, endpoint: id)
        var result = TraitCollection()
        for trait in traits.all { result.set(trait.with(trait.metadata, interaction)) }
        return result
    }
}
