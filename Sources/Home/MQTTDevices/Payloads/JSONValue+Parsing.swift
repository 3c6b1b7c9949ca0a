import Foundation

/// Reading JSON (RFC 8259) with Foundation's `JSONSerialization`, which goes over a text once.
///
/// `JSONDecoder` has to try one type after the other for each value. Each attempt that fails makes an error with the path to
/// the value, so a list of 16 MiB of small values deep in other lists would keep a processor busy for minutes.
extension JSONValue {
    /// How many values a text may have. The gateway could not keep more of them (``MQTTHome/maximumDescriptions``).
    static let mostValues = MQTTHome.maximumDescriptions / MQTTHome.valueOverhead

    /// Reads a text. A comma before the end of a list or an object is ignored. Of several members with one name, the last
    /// one counts, as in Home Assistant.
    /// - Throws: ``JSONFailure`` when it is not JSON in UTF-8, is nested more than 512 deep, or may have more than a million
    ///   values.
    public init(parsing data: Data) throws(JSONFailure) {
        // Each value but the first follows one of these, so nothing is read of a text that has too many.
        let separators = data.count { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
        }
        guard separators < Self.mostValues else {
            throw JSONFailure(description: "has more than \(Self.mostValues) values")
        }
        // A text with zeros would be read as UTF-16 or UTF-32.
        guard !data.contains(0), let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        else { throw Self.notJSON }
        try self.init(value)
    }

    private static let notJSON = JSONFailure(description: "is not JSON")

    /// A value as `JSONSerialization` gives it.
    private init(_ value: Any) throws(JSONFailure) {
        switch value {
        case let text as String: self = .string(text)
        case let number as NSNumber: self.init(number)
        case let list as [Any]:
            var values: [JSONValue] = []
            values.reserveCapacity(list.count)
            for item in list { values.append(try JSONValue(item)) }
            self = .array(values)
        case let members as [String: Any]:
            var values: [String: JSONValue] = [:]
            values.reserveCapacity(members.count)
            for (name, member) in members { values[name] = try JSONValue(member) }
            self = .object(values)
        case is NSNull: self = .null
        default: throw Self.notJSON
        }
    }

    private init(_ number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        // Only `true` and `false` have the type `char`.
        case UInt8(ascii: "c"): self = .bool(number.boolValue)
        // `21.0` is a whole number, too.
        case UInt8(ascii: "d"): self = JSONValue(number: number.doubleValue)
        default: self = Int(exactly: number).map(JSONValue.integer) ?? .number(number.doubleValue)
        }
    }

    private init(number: Double) {
        let whole = number.magnitude < Self.greatestNumber ? Int(exactly: number) : nil
        self = whole.map(JSONValue.integer) ?? .number(number)
    }
}
