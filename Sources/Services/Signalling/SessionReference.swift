/// A session as a request names it.
public struct SessionReference: Sendable, Hashable {
    /// The session's unguessable name.
    public var mediaSessionId: String
    /// The device that the request names; nil if it names only the session. A session of another device is unknown.
    public var deviceID: String?
    /// The principal that makes the request. Another principal's session is unknown.
    public var principal: String

    /// Names a session.
    public init(_ mediaSessionId: String, of deviceID: String? = nil, principal: String) {
        self.mediaSessionId = mediaSessionId
        self.deviceID = deviceID
        self.principal = principal
    }

    /// Whether it names the session of this device and this principal.
    func names(deviceID: String, principal: String) -> Bool {
        self.principal == principal && (self.deviceID ?? deviceID) == deviceID
    }
}
