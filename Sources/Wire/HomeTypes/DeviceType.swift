/// A kind of device that the home can hold (Home APIs, `DeviceType`).
public protocol DeviceType: Sendable {
    /// The type's name, for example `GoogleCameraDeviceType`.
    static var name: String { get }
    /// The scoped identifier of the type.
    static var identifier: String { get }
    /// False for types that a person uses, true for helpers such as a bridge.
    static var isUtilityType: Bool { get }
    /// The identifiers of the traits that a device of this type must have.
    static var requiredTraits: [String] { get }
}
