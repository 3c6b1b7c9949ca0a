extension GatewayConfiguration {
    /// Where the states of the devices are reported to, for the accounts of one client.
    public struct ReportState: Sendable, Equatable {
        /// Google's service.
        public static let standardURL = "https://homegraph.googleapis.com/v1"

        /// The client of `oauth.clients` whose linked accounts are reported.
        public var client: String
        /// The address of the service, without a slash at its end.
        public var url: String
        /// The key of a service account as JSON, or a token that is sent as it is. Never print it.
        public var credentials: String
        /// A PEM file with authorities to trust instead of the system's; nil for the system's.
        public var authorities: String?

        /// Describes a service.
        public init(client: String, url: String = Self.standardURL, credentials: String, authorities: String? = nil) {
            self.client = client
            self.url = url
            self.credentials = credentials
            self.authorities = authorities
        }
    }
}
