/// An error of an OAuth 2 endpoint (RFC 6749, section 5.2; RFC 7009, section 2.2.1). Clients know its code.
struct OAuthError: Error, Sendable, Equatable {
    /// The kinds that the endpoints use.
    enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unsupportedGrantType = "unsupported_grant_type"
        case temporarilyUnavailable = "temporarily_unavailable"
    }

    var code: Code
    /// What was wrong, for the client's developer.
    var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
