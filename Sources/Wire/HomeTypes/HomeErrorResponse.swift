/// The JSON body of every failed request: `{"error":{"code":5,"status":"NOT_FOUND","message":"…"}}`.
public struct HomeErrorResponse: Sendable, Codable, Equatable {
    /// The error itself.
    public struct Body: Sendable, Codable, Equatable {
        /// The gRPC number.
        public var code: Int
        /// The gRPC name.
        public var status: String
        /// What was wrong, where, and what to do.
        public var message: String
        /// What distinguishes failures of one code; nil for none.
        public var subcodes: [Int]?
        /// The statuses of Matter, for the commands of its clusters.
        public var matter: HomeError.MatterError?
        /// What to do, in two wordings, of which `message` has the first; nil for most failures.
        public var remedy: HomeError.Remedy?
        /// What else is known of the failure, for example the `validationIssues` of an automation; nil for most failures.
        public var details: JSONObject?
    }

    /// The error itself.
    public var error: Body

    /// Wraps an error for the wire.
    /// - Parameter details: what else is known of the failure.
    public init(_ error: HomeError, details: JSONObject? = nil) {
        self.error = Body(
            code: error.code.rawValue, status: error.code.status, message: error.requestMessage,
            subcodes: error.subcodes.isEmpty ? nil : error.subcodes, remedy: error.remedy, details: details)
        if case .matter(let matter)? = error.subtype { self.error.matter = matter }
    }

    /// The error that the body describes; a number that gRPC does not have becomes `unknown`.
    public var homeError: HomeError {
        let code = HomeError.Code(rawValue: self.error.code) ?? .unknown
        var subtype = self.error.matter.map { HomeError.Subtype.matter($0) }
        if code == .permissionDenied, subtype == nil { subtype = .permissions(.notGranted) }
        let message = HomeError.message(from: self.error.message, without: self.error.remedy)
        var result = HomeError(code, message, subcodes: self.error.subcodes ?? [], subtype: subtype)
        result.remedy = self.error.remedy
        return result
    }
}
