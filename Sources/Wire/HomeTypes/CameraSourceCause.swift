/// Why a camera's source delivers nothing, for programs. ``CameraSourceStatus/reason`` says it in words.
public enum CameraSourceCause: String, Sendable, Codable, Hashable, CaseIterable {
    /// The host name of the camera's address is not known.
    case unknownName
    /// The host is there, and nothing listens at the port.
    case refused
    /// No network leads to the host, or the host does not answer there.
    case noRoute
    /// Nothing answers the attempt to connect.
    case timedOut
    /// The connection is made, and the camera does not answer or falls silent.
    case silent
    /// TLS fails, or the certificate is another one.
    case insecure
    /// The user name or the password is missing or wrong.
    case credentials
    /// The camera asks for the password where it is not sent: in clear text, or at another address.
    case passwordWithheld
    /// Another host, or another port of the camera, to which the camera leads, refuses the request.
    case refusedElsewhere
    /// The camera is there, and what the address names is not.
    case wrongAddress
    /// The camera has no room for another client at the moment.
    case busy
    /// The camera offers nothing that can be played.
    case unplayable
    /// The camera agrees to play, and no media comes.
    case noMedia
    /// The camera ended the connection or the stream.
    case ended
    /// The gateway itself lacks something, such as ports or threads.
    case gateway
    /// Nobody publishes the camera.
    case noPublisher
    /// The camera is switched off in the home.
    case switchedOff
    /// The camera's privacy modes, or its privacy switch, let nothing leave it.
    case privacy
    /// Something else, which only the words say.
    case other

    /// Reads a cause; one that only a newer gateway knows is ``other``.
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
    }
}
