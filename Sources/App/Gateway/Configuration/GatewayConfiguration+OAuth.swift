extension GatewayConfiguration {
    /// A program that people may link to their account here (RFC 6749, section 2).
    public struct OAuthClient: Sendable, Equatable {
        /// What the client calls itself in requests.
        public var id: String
        /// What people read on the consent page.
        public var name: String
        /// The client's secret; nil for a public client, which needs PKCE.
        public var secret: String?
        /// Where the browser may be sent back to; each is compared as a whole.
        public var redirects: [String]

        /// Describes a client.
        public init(id: String, name: String, secret: String? = nil, redirects: [String]) {
            self.id = id
            self.name = name
            self.secret = secret
            self.redirects = redirects
        }
    }
}
