extension HomeError {
    /// Why the cloud of a device's vendor refused (Home APIs, `GalError`).
    public struct GalError: Codable, Hashable, Sendable {
        /// The vendor's own number.
        public var code: Int

        /// Names the number.
        public init(code: Int) {
            self.code = code
        }
    }

    /// Why a device could not be removed (Home APIs, `DecommissionError`).
    public enum DecommissionError: String, Codable, Hashable, Sendable {
        /// Its `decommissionEligibility` says why.
        case ineligible
        case unknown
    }

    /// Why a hub could not be activated (Home APIs, `HubActivationError`).
    public enum HubActivationError: String, Codable, Hashable, Sendable {
        /// The gateway is the hub of its home, and does not activate others.
        case unsupported
        case unknown
    }

    /// Why a gateway has not answered a client.
    public enum ConnectionError: Hashable, Sendable {
        /// What was given as its address is not a URL with a host.
        case invalidAddress
        /// The address begins with neither `http://` nor `https://`.
        case unsupportedScheme
        /// The client has cancelled the request.
        case cancelled
        /// The answer did not come in time. A change may still have happened.
        case deadlineExceeded
        /// The connection was not made in time, or nothing more came over it.
        case timedOut
        /// The gateway closed the connection.
        case closed
        /// This machine does not trust the gateway's certificate.
        case untrustedCertificate
        /// The gateway's certificate is for another name or address.
        case certificateOfAnotherName
        /// The server does not speak HTTPS.
        case noHTTPS
        /// The host's name cannot be resolved.
        case unknownHost
        /// Nothing listens on the port.
        case refused
        /// The network has no route to the host.
        case unreachable
        /// Something else, in the words of the library that reports it.
        case other(String)
    }

    /// Why a permission is missing (Home APIs, `PermissionError`).
    public enum PermissionError: String, Codable, Hashable, Sendable {
        /// The app's token does not permit the request.
        case notGranted
        case unknown
    }
}

/// A reason from a later version of the gateway is read as `unknown`.
extension HomeError.DecommissionError {
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
}

/// A reason from a later version of the gateway is read as `unknown`.
extension HomeError.HubActivationError {
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
}

/// A reason from a later version of the gateway is read as `unknown`.
extension HomeError.PermissionError {
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
}
