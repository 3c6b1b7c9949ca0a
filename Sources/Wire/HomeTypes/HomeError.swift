import Foundation

/// An error of the home: the answer of a trait's command, a query or the HTTP API when it cannot do what was asked.
///
/// Two errors are equal when code, message and subcodes are; the subtype and the remedy only explain them. Source: Home
/// APIs for iOS, `HomeError`; the codes are those of gRPC.
public struct HomeError: Error, Hashable, Sendable {
    /// The kind of failure; its numbers are gRPC's.
    public enum Code: Int, Sendable, CaseIterable, Codable {
        case cancelled = 1
        case unknown = 2
        case invalidArgument = 3
        case deadlineExceeded = 4
        case notFound = 5
        case alreadyExists = 6
        case permissionDenied = 7
        case resourceExhausted = 8
        case failedPrecondition = 9
        case aborted = 10
        case outOfRange = 11
        case unimplemented = 12
        case `internal` = 13
        case unavailable = 14
        case dataLoss = 15
        case unauthenticated = 16
    }

    /// What a lower layer says about the failure.
    public enum Subtype: Hashable, Sendable {
        /// A cluster of Matter refused.
        case matter(MatterError)
        /// Several requests failed at once.
        case bulk(errors: [HomeError])
        /// The cloud of a device's vendor refused.
        case gal(GalError)
        /// A device could not be removed.
        case decommission(DecommissionError)
        /// A hub could not be activated.
        case hubActivation(HubActivationError)
        /// The app lacks a permission.
        case permissions(PermissionError)
        /// What else the gateway said, for example the `validationIssues` of an automation that it refused.
        case details(JSONObject)
        /// The gateway has not answered. Only its clients know that; it is not part of a response.
        case connection(ConnectionError)
    }

    /// The statuses of Matter's interaction model.
    public struct MatterError: Codable, Hashable, Sendable {
        /// The status of the interaction model (Matter core specification, section 8.10.1), for example 0x8B for not found.
        public var code: Int
        /// The cluster's own status; nil if the interaction model's status says everything.
        public var clusterCode: Int?

        /// Names the statuses.
        public init(code: Int, clusterCode: Int? = nil) {
            self.code = code
            self.clusterCode = clusterCode
        }
    }

    /// The domain of the bridged `NSError`.
    public static let errorDomain = "HomeError"

    /// The kind of failure.
    public var code: Code
    /// What was wrong and where, for a person to read; what to do about it too, unless ``remedy`` says that.
    public var message: String
    /// Further numbers from the lower layer; empty if there are none.
    public var subcodes: [Int]
    /// What the lower layer said; nil if it said nothing.
    public var subtype: Subtype?
    /// What to do, if that depends on how the gateway is used; nil for most errors.
    public var remedy: Remedy?

    /// Describes a failure.
    public init(_ code: Code, _ message: String = "", subcodes: [Int] = [], subtype: Subtype? = nil) {
        self.code = code
        self.message = message
        self.subcodes = subcodes
        self.subtype = subtype
    }

    public static func == (first: HomeError, second: HomeError) -> Bool {
        first.code == second.code && first.message == second.message && first.subcodes == second.subcodes
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(subcodes)
    }
}

extension HomeError: CustomNSError, LocalizedError, CustomStringConvertible {
    public var errorCode: Int { code.rawValue }

    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }

    public var errorDescription: String? { description }

    public var description: String {
        message.isEmpty ? code.status : "\(code.status): \(message)"
    }
}
