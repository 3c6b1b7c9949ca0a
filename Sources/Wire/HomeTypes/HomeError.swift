import Foundation

/// An error of the home: the answer of a trait's command, a query or the HTTP API when it cannot do what was asked.
///
/// Two errors are equal when code, message and subcodes are. Source: Home APIs for iOS, `HomeError`; the codes are
/// those of gRPC.
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

    /// The domain under which the error bridges to `NSError`.
    public static let errorDomain = "HomeError"

    /// The kind of failure.
    public var code: Code
    /// What was wrong, where, and what to do about it, for a person to read.
    public var message: String
    /// Further numbers from the layer below; empty when there are none.
    public var subcodes: [Int]

    /// Describes a failure.
    public init(_ code: Code, _ message: String = "", subcodes: [Int] = []) {
        self.code = code
        self.message = message
        self.subcodes = subcodes
    }
}

extension HomeError: CustomNSError, LocalizedError, CustomStringConvertible {
    public var errorCode: Int { self.code.rawValue }

    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: self.message] }

    public var errorDescription: String? { self.description }

    public var description: String {
        self.message.isEmpty ? self.code.status : "\(self.code.status): \(self.message)"
    }
}
