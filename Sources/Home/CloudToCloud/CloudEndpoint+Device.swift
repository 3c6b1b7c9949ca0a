public import HomeTypes

/// The endpoints of a device of the home.
extension CloudEndpoint {
    /// The endpoints that the cloud has a type and a trait for. The one of the primary type has the device's id; the others
    /// have that id with their number.
    /// - Parameter roomName: the room that the device is in.
    public static func all(
        of device: DeviceSnapshot, roomName: String? = nil, table: CloudTable = .standard
    ) -> [CloudEndpoint] {
        let primary = device.primaryEndpoint?.id
        let information = device.endpoints.lazy.compactMap { $0.traits[Matter.BasicInformationTrait.self] }.first
        var endpoints: [CloudEndpoint] = []
        for part in device.endpoints {
            var traits = JSONValue.attributes(of: part.traits)
            // The root node describes the whole device.
            if let information, traits[Matter.BasicInformationTrait.name] == nil {
                traits.merge(JSONValue.attributes(of: TraitCollection([information]))) { own, _ in own }
            }
            let state = part.connectivity.connectivityState
            let endpoint = CloudEndpoint(
                id: id(of: part.id, primary: primary, device: device.id), deviceID: device.id, number: part.id,
                name: part.id == primary ? device.name : "\(device.name) \(words(for: part.types))", types: part.types,
                traits: traits, isOnline: state == .online || state == .partiallyOnline, roomName: roomName)
            guard endpoint.cloudType(table) != nil, !endpoint.cloudTraits(table).isEmpty else { continue }
            endpoints.append(endpoint)
        }
        for index in endpoints.indices {
            endpoints[index].siblings = endpoints.map(\.id).filter { $0 != endpoints[index].id }
        }
        return endpoints
    }

    /// The same, with the name of the device's room.
    public static func all(of device: DeviceSnapshot, in rooms: [RoomSnapshot]) -> [CloudEndpoint] {
        let room = device.roomID.flatMap { id in rooms.first { $0.id == id } }
        return all(of: device, roomName: room?.name)
    }

    /// The device that the id of one of its other endpoints belongs to; nil for an id of another form.
    public static func deviceID(ofPart id: String) -> String? {
        guard let hyphen = id.lastIndex(of: "-"), UInt16(id[id.index(after: hyphen)...]) != nil else { return nil }
        return String(id[..<hyphen])
    }

    private static func id(of number: UInt16, primary: UInt16?, device: String) -> String {
        number == primary ? device : "\(device)-\(number)"
    }

    /// What a person would call an endpoint of a type: `dimmable light`.
    private static func words(for types: [String]) -> String {
        let name = types.first { Vocabulary.deviceType(named: $0)?.isUtilityType != true } ?? types.first ?? ""
        let base = name.hasSuffix("DeviceType") ? String(name.dropLast("DeviceType".count)) : name
        var words = ""
        for (index, letter) in base.enumerated() {
            if letter.isUppercase, index > 0 { words += " " }
            words += letter.lowercased()
        }
        return words
    }
}
