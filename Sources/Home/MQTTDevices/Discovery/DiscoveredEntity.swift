import Foundation

/// One entity as a message describes it, before it is made.
struct DiscoveredEntity: Sendable, Hashable {
    /// Names the entity permanently on this broker.
    let id: String
    /// Its own name; nil if it uses the device's.
    let name: String?
    /// The device that it belongs to.
    let device: DiscoveredDevice
    /// The description.
    let configuration: EntityConfiguration
    /// The topics that report whether it can be reached.
    let availability: Availability
}

/// What the description of an entity says about its device.
struct DiscoveredDevice: Sendable, Hashable {
    /// The identifiers that permanently name the device; at least one.
    let identifiers: [String]
    /// The name that people read.
    let name: String?
    /// The room that the description suggests.
    let suggestedRoom: String?
    /// The product.
    let product: MQTTProduct

    init(identifiers: [String], name: String?, suggestedRoom: String? = nil, product: MQTTProduct) {
        self.identifiers = identifiers
        self.name = name
        self.suggestedRoom = suggestedRoom
        self.product = product
    }

    /// Reads the block `device`. An entity without one is a device of its own.
    init(_ block: JSONValue?, entity: String, name: String?) {
        func text(_ key: String) -> String? {
            guard let value = block?[key], !value.isNull, value.array == nil, value.object == nil else { return nil }
            return Self.cleaned(value.printed)
        }
        let identifiers = block?["identifiers"]
        var all = (identifiers?.array ?? identifiers.map { [$0] } ?? []).filter { !$0.isNull }.map(\.printed)
        for connection in block?["connections"]?.array ?? [] {
            if let pair = connection.array, pair.count == 2 { all.append("\(pair[0].printed):\(pair[1].printed)") }
        }
        all = all.filter { !$0.isEmpty && $0.utf8.count <= 256 }
        self.identifiers = all.isEmpty ? ["entity:\(entity)"] : Array(all.prefix(16))
        self.name = text("name") ?? name
        suggestedRoom = text("suggested_area")
        var product = MQTTProduct()
        product.vendorName = text("manufacturer")
        product.productName = text("model")
        product.softwareVersion = text("sw_version")
        product.hardwareVersion = text("hw_version")
        product.serialNumber = text("serial_number")
        product.uniqueID = self.identifiers.first
        self.product = product
    }

    /// A text for people: without control characters, and no longer than a name may be.
    static func cleaned(_ text: String) -> String? {
        let scalars = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(120)
        let result = String(String.UnicodeScalarView(scalars)).trimmingCharacters(in: .whitespaces)
        return result.isEmpty ? nil : result
    }
}
