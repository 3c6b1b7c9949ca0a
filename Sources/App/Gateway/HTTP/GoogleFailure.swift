import HTTPTypes
import HomeTypes
import Hummingbird

/// The error envelope of Google's APIs, for the paths of the Smart Device Management API and its events. The code is the
/// status of HTTP.
struct GoogleFailure: Encodable, Sendable {
    struct Body: Encodable, Sendable {
        var code: Int
        var message: String
        var status: String
    }

    var error: Body

    /// Writes an error as Google's APIs do.
    init(_ error: HomeError, status: HTTPResponse.Status) {
        self.error = Body(code: status.code, message: error.requestMessage, status: error.code.status)
    }

    /// Whether the errors of a path have this form.
    static func isExpected(at path: String) -> Bool {
        path.hasPrefix("/v1/enterprises/") || path.hasPrefix("/v1/projects/")
    }
}
