/// Why a valid token in a publisher's address does not permit publishing.
public enum PublisherTokenFault: Hashable, Sendable {
    /// It permits more than an address may carry.
    case permitsTooMuch
    /// It does not permit publishing to the camera.
    case mayNotPublish
}
