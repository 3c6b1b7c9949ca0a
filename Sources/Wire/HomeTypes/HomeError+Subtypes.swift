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
