import Transport

/// Decides who may publish.
public struct PublisherAdmission: Sendable {
    /// Decides about one publisher, by the camera and the token of its address. May wait.
    public typealias Admit =
        @Sendable (_ camera: String, _ token: String?) async -> Result<AdmittedPublisher, PublisherRefusal>

    let admit: Admit

    /// Decides so.
    public init(_ admit: @escaping Admit) { self.admit = admit }
}

/// Somebody who may publish to a camera.
public struct AdmittedPublisher: Hashable, Sendable {
    /// The device.
    public var deviceID: String
    /// Whose token it is.
    public var principal: String

    /// Admits a principal.
    public init(deviceID: String, principal: String) {
        self.deviceID = deviceID
        self.principal = principal
    }
}

/// Why somebody may not publish. The cameras are named as the publisher's address names them.
public enum PublisherRefusal: Error, Hashable, Sendable {
    /// The address has no token.
    case noToken
    /// The token is not valid.
    case wrongToken
    /// The token does not permit it.
    case forbidden(PublisherTokenFault)
    /// The camera does not exist.
    case unknownCamera(String)
    /// The camera is pulled.
    case takesNoPublisher(camera: String)
}
