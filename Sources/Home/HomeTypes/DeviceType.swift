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

/// A camera: pictures, live view, and perhaps talkback.
public enum GoogleCameraDeviceType: DeviceType {
    public static let name = "GoogleCameraDeviceType"
    public static let identifier = "home.matter.6006.types.0158"
    public static let isUtilityType = false
    public static let requiredTraits = [
        Google.PushAvStreamTransportTrait.identifier, Google.WebRtcLiveViewTrait.identifier,
    ]
}

/// A button outside a door with a camera.
public enum GoogleDoorbellDeviceType: DeviceType {
    public static let name = "GoogleDoorbellDeviceType"
    public static let identifier = "home.matter.6006.types.0113"
    public static let isUtilityType = false
    public static let requiredTraits = [
        Google.PushAvStreamTransportTrait.identifier, Google.WebRtcLiveViewTrait.identifier,
    ]
}

/// The device types that this gateway has, as a value.
public enum DeviceKind: String, Sendable, Codable, CaseIterable {
    case camera = "GoogleCameraDeviceType"
    case doorbell = "GoogleDoorbellDeviceType"

    /// The type behind the value.
    public var type: any DeviceType.Type {
        switch self {
        case .camera: GoogleCameraDeviceType.self
        case .doorbell: GoogleDoorbellDeviceType.self
        }
    }
}
