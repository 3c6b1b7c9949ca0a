import HTTPTypes
import HomeTypes
import Hummingbird

/// A failed request whose HTTP status says more than the error's code would, or that needs headers.
struct HTTPFailure: Error, Sendable {
    /// The error in the body.
    var error: HomeError
    /// The status; nil for the one that goes with the code.
    var status: HTTPResponse.Status?
    /// Further headers.
    var headers: HTTPFields = [:]
    /// What else is known of the failure.
    var details: JSONObject?

    static func unsupportedMediaType(expected: String) -> HTTPFailure {
        HTTPFailure(
            error: .invalidArgument("the Content-Type must be \(expected)"), status: .unsupportedMediaType)
    }

    /// The gateway answers offers and makes none. Meetecho's page shows these words to its user.
    static let withoutOffer = HTTPFailure(
        error: .invalidArgument(
            "send an SDP offer with the Content-Type application/sdp: the gateway answers offers and makes none. Meetecho's "
                + "page makes one with offer=true in its address"), status: .unsupportedMediaType)

    static func contentTooLarge(limit: Int) -> HTTPFailure {
        HTTPFailure(
            error: .invalidArgument("the body is larger than \(limit) bytes"), status: .contentTooLarge)
    }

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> HTTPFailure {
        let list = allowed.map(\.rawValue).sorted().joined(separator: ", ")
        return HTTPFailure(
            error: .unimplemented("the method is not allowed here; use \(list)"), status: .methodNotAllowed,
            headers: [.allow: list])
    }
}
