/// The statuses that the server answers with (RFC 2326, section 7.1.1).
public enum RTSPStatus: Int, Sendable {
    case ok = 200
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case notAcceptable = 406
    case requestEntityTooLarge = 413
    case unsupportedMediaType = 415
    case parameterNotUnderstood = 451
    case notEnoughBandwidth = 453
    case sessionNotFound = 454
    case methodNotValidInThisState = 455
    case invalidRange = 457
    case aggregateOperationNotAllowed = 459
    case onlyAggregateOperationAllowed = 460
    case unsupportedTransport = 461
    case internalServerError = 500
    case notImplemented = 501
    case serviceUnavailable = 503
    case optionNotSupported = 551

    /// The reason phrase.
    public var reason: String {
        switch self {
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .notAcceptable: "Not Acceptable"
        case .requestEntityTooLarge: "Request Entity Too Large"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .parameterNotUnderstood: "Parameter Not Understood"
        case .notEnoughBandwidth: "Not Enough Bandwidth"
        case .sessionNotFound: "Session Not Found"
        case .methodNotValidInThisState: "Method Not Valid in This State"
        case .invalidRange: "Invalid Range"
        case .aggregateOperationNotAllowed: "Aggregate Operation Not Allowed"
        case .onlyAggregateOperationAllowed: "Only Aggregate Operation Allowed"
        case .unsupportedTransport: "Unsupported Transport"
        case .internalServerError: "Internal Server Error"
        case .notImplemented: "Not Implemented"
        case .serviceUnavailable: "Service Unavailable"
        case .optionNotSupported: "Option Not Supported"
        }
    }
}
