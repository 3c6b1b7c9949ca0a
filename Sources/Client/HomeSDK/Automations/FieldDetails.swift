import HomeTypes

/// A field of a trait, a command or an event (Home APIs, `AnyField`).
public struct AnyField: Sendable, Hashable {
    /// Its name in JSON, for example `onOff`.
    public let name: String
    /// The kind of its value, as the gateway names it, for example `boolean`.
    public let type: String

    /// Names a field.
    public init(name: String, type: String) {
        self.name = name
        self.type = type
    }
}

/// What a field accepts (Home APIs, `FieldDetails`).
public struct FieldDetails: Sendable, Hashable {
    /// What the value must be; nil for every value of its kind.
    public let constraint: FieldConstraint?

    /// Describes a field.
    public init(constraint: FieldConstraint?) { self.constraint = constraint }
}

/// What the value of a field must be (Home APIs, `Constraint`; that name is the vocabulary's checks here).
///
/// The gateway does not report the distance between values (`step`) and the unit of a range, so both are nil.
public enum FieldConstraint: Sendable, Hashable {
    /// One of these names.
    case enumConstraint(Set<String>)
    /// True or false.
    case booleanConstraint
    /// A signed integer in a range. Both ends are included.
    case intRangeConstraint(lowerBound: Int64, upperBound: Int64, step: Int64? = nil, unit: String? = nil)
    /// An unsigned integer in a range. Both ends are included.
    case uintRangeConstraint(lowerBound: UInt64, upperBound: UInt64, step: UInt64? = nil, unit: String? = nil)
    /// A number in a range. Both ends are included.
    case doubleRangeConstraint(lowerBound: Double, upperBound: Double, step: Double? = nil, unit: String? = nil)
}
