extension HomeError.Code {
    /// The code's name as gRPC writes it, for example `NOT_FOUND`.
    public var status: String {
        switch self {
        case .cancelled: "CANCELLED"
        case .unknown: "UNKNOWN"
        case .invalidArgument: "INVALID_ARGUMENT"
        case .deadlineExceeded: "DEADLINE_EXCEEDED"
        case .notFound: "NOT_FOUND"
        case .alreadyExists: "ALREADY_EXISTS"
        case .permissionDenied: "PERMISSION_DENIED"
        case .resourceExhausted: "RESOURCE_EXHAUSTED"
        case .failedPrecondition: "FAILED_PRECONDITION"
        case .aborted: "ABORTED"
        case .outOfRange: "OUT_OF_RANGE"
        case .unimplemented: "UNIMPLEMENTED"
        case .internal: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .dataLoss: "DATA_LOSS"
        case .unauthenticated: "UNAUTHENTICATED"
        }
    }

    /// The HTTP status that carries the code (`google.rpc.Code`'s mapping).
    public var httpStatus: Int {
        switch self {
        case .cancelled: 499
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        case .unknown, .internal, .dataLoss: 500
        }
    }
}

/// One factory for each code, as the Home API has them.
extension HomeError {
    public static func cancelled(_ message: String = "") -> HomeError { .init(.cancelled, message) }
    public static func unknown(_ message: String = "") -> HomeError { .init(.unknown, message) }
    public static func invalidArgument(_ message: String = "") -> HomeError { .init(.invalidArgument, message) }
    public static func deadlineExceeded(_ message: String = "") -> HomeError { .init(.deadlineExceeded, message) }
    public static func notFound(_ message: String = "") -> HomeError { .init(.notFound, message) }
    public static func alreadyExists(_ message: String = "") -> HomeError { .init(.alreadyExists, message) }
    public static func permissionDenied(_ message: String = "") -> HomeError { .init(.permissionDenied, message) }
    public static func resourceExhausted(_ message: String = "") -> HomeError { .init(.resourceExhausted, message) }
    public static func failedPrecondition(_ message: String = "") -> HomeError { .init(.failedPrecondition, message) }
    public static func aborted(_ message: String = "") -> HomeError { .init(.aborted, message) }
    public static func outOfRange(_ message: String = "") -> HomeError { .init(.outOfRange, message) }
    public static func unimplemented(_ message: String = "") -> HomeError { .init(.unimplemented, message) }
    public static func `internal`(_ message: String = "") -> HomeError { .init(.internal, message) }
    public static func unavailable(_ message: String = "") -> HomeError { .init(.unavailable, message) }
    public static func dataLoss(_ message: String = "") -> HomeError { .init(.dataLoss, message) }
    public static func unauthenticated(_ message: String = "") -> HomeError { .init(.unauthenticated, message) }

    /// A value that could not be read.
    public static func parseError(_ message: String = "") -> HomeError { .init(.invalidArgument, message) }
    /// A value that could not be written.
    public static func encodingFailed(_ message: String = "") -> HomeError { .init(.internal, message) }
    /// A request that the caller's token does not permit.
    public static func notGranted(_ message: String = "") -> HomeError {
        .init(.permissionDenied, message, subtype: .permissions(.notGranted))
    }
    /// A command that the device refused without a more specific reason.
    public static func commandFailed(_ message: String = "") -> HomeError { .init(.unknown, message) }
}
