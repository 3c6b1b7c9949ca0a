import Foundation
import HomeTypes

/// What the fields of structures, rooms and devices may contain.
enum StructureRules {
    /// The maximum number of Unicode scalars in a name. A longer name is cut off without an error, as in the Home APIs.
    static let maximumName = 60
    /// The maximum number of Unicode scalars in an address.
    static let maximumAddress = 500

    /// A name as it is kept.
    /// - Throws: `invalidArgument` for a name that is empty or contains characters that do not belong in a name.
    static func name(_ text: String, _ field: String = "name") throws(HomeError) -> String {
        if let fault = NameRules.fault(in: text) { throw HomeError.invalidArgument("\(field): \(fault)") }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard !trimmed.isEmpty else { throw HomeError.invalidArgument("\(field): a name may not be empty") }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: trimmed.unicodeScalars.prefix(maximumName))
        return String(scalars)
    }

    /// An address as it is kept; nil if it is empty.
    static func address(_ text: String) throws(HomeError) -> String? {
        if let fault = NameRules.fault(in: text) { throw HomeError.invalidArgument("address: \(fault)") }
        guard text.unicodeScalars.count <= maximumAddress else {
            throw HomeError.invalidArgument("address: longer than \(maximumAddress) characters")
        }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : trimmed
    }

    static func latitude(_ degrees: Double) throws(HomeError) -> Double {
        guard degrees >= -90, degrees <= 90 else {
            throw HomeError.invalidArgument("latitude: expected a number of degrees from -90 to 90")
        }
        return degrees
    }

    static func longitude(_ degrees: Double) throws(HomeError) -> Double {
        guard degrees >= -180, degrees <= 180 else {
            throw HomeError.invalidArgument("longitude: expected a number of degrees from -180 to 180")
        }
        return degrees
    }

    static func timeZone(_ name: String) throws(HomeError) -> String {
        guard isTimeZone(name) else {
            throw HomeError.invalidArgument(
                "timeZone: \(name.prefix(64).debugDescription) is not a time zone of the IANA database; write one such as "
                    + "Europe/Berlin")
        }
        return name
    }

    /// Whether the IANA database has a time zone of this name. Offsets such as `GMT+2` are not accepted, because they
    /// do not have summer time.
    static func isTimeZone(_ name: String) -> Bool {
        guard name.utf8.count <= 64 else { return false }
        if TimeZone.knownTimeZoneIdentifiers.contains(name) || name == "UTC" { return true }
        return name.contains("/") && TimeZone(identifier: name) != nil
    }
}
