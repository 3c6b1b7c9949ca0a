/// The entry of a device in the response to SYNC.
extension CloudEndpoint {
    /// The entry; nil for a device for which the cloud does not have a type or a trait.
    public func cloudDevice(willReportState: Bool, table: CloudTable = .standard) -> JSONValue? {
        let traits = cloudTraits(table)
        guard let type = cloudType(table), !traits.isEmpty else { return nil }
        var entry: [String: JSONValue] = [
            "id": .string(id), "type": .string(type), "traits": .array(traits.map { .string($0) }),
            "name": .object(["name": .string(name), "defaultNames": .array([]), "nicknames": .array([])]),
            "willReportState": .bool(willReportState), "attributes": cloudAttributes(table),
            // The ids of the same device elsewhere: its own in the home, and those of its other endpoints.
            "otherDeviceIds": .array(
                ([deviceID] + siblings.filter { $0 != deviceID }).map {
                    .object(["deviceId": .string($0)])
                }),
        ]
        if let roomName { entry["roomHint"] = .string(roomName) }
        let information = deviceInformation
        if !information.isEmpty { entry["deviceInfo"] = .object(information) }
        // Vendors without a number of the alliance may leave out the first two. The last one always names the device.
        if let vendor = number("vendorID") { entry["matterOriginalVendorId"] = .string(Self.hexadecimal(vendor)) }
        if let product = number("productID") { entry["matterOriginalProductId"] = .string(Self.hexadecimal(product)) }
        entry["matterUniqueId"] = attribute("uniqueID", of: Self.information) ?? .string(deviceID)
        return .object(entry)
    }

    private static let information = "BasicInformation"

    private var deviceInformation: [String: JSONValue] {
        let members = [
            "manufacturer": "vendorName", "model": "productName", "hwVersion": "hardwareVersionString",
            "swVersion": "softwareVersionString",
        ]
        return members.compactMapValues { attribute($0, of: Self.information) }
    }

    private func number(_ name: String) -> UInt16? {
        attribute(name, of: Self.information)?.number.flatMap { UInt16(exactly: $0) }
    }

    /// A number as SYNC writes it: `0xfff1`.
    private static func hexadecimal(_ number: UInt16) -> String {
        let digits = String(number, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
