import HomeTypes
import Yams

/// The key `information` of a camera or a virtual device: who made it, and which one it is.
extension ConfigurationLoader {
    /// The names of the trait's attributes, except for those that the home knows best.
    static let informationKeys = [
        "vendorName", "vendorID", "productName", "productID", "serialNumber", "hardwareVersionString",
        "softwareVersionString", "uniqueID",
    ]

    /// What an owner knows about a device. Blanks count as unknown, because a vendor without numbers leaves them so.
    func information(_ place: YAMLReader.Place?) -> Matter.BasicInformationTrait.Attributes {
        var result = Matter.BasicInformationTrait.Attributes()
        guard let place, !place.isNull else { return result }
        let keys = reader.mapping(place, keys: Self.informationKeys)
        func text(_ key: String) -> String? {
            guard let text = reader.string(keys[key])?.trimmed, !text.isEmpty else { return nil }
            guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
                reader.report("must not contain control characters", at: keys[key] ?? place)
                return nil
            }
            return text
        }
        result = .init(
            vendorName: text("vendorName"), vendorID: identifier(keys["vendorID"]), productName: text("productName"),
            productID: identifier(keys["productID"]), hardwareVersionString: text("hardwareVersionString"),
            softwareVersionString: text("softwareVersionString"), serialNumber: text("serialNumber"),
            uniqueID: text("uniqueID"))
        do throws(HomeError) {
            try result.validate()
        } catch {
            reader.report(error.message, at: place)
        }
        return result
    }

    /// A number of the Connectivity Standards Alliance, as the cloud writes it (`0xfff1`) or in decimal digits.
    private func identifier(_ place: YAMLReader.Place?) -> UInt16? {
        guard let place, let text = reader.string(place)?.trimmed, !text.isEmpty else { return nil }
        let isHexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
        let digits = isHexadecimal ? text.dropFirst(2) : Substring(text)
        guard digits.allSatisfy(\.isHexDigit), let number = UInt16(digits, radix: isHexadecimal ? 16 : 10) else {
            reader.report("expected a number from 0 to 65535, or hexadecimal digits such as \"0xfff1\"", at: place)
            return nil
        }
        return number
    }
}

extension String {
    /// The text without blanks around it.
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
