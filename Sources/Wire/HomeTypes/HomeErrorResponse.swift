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
        /// Which permission is missing; nil for other failures.
        public var permissions: HomeError.PermissionError?
        /// Why a device could not be removed; nil for other failures.
        public var decommission: HomeError.DecommissionError?
        /// Why a hub could not be activated; nil for other failures.
        public var hubActivation: HomeError.HubActivationError?
        /// What the cloud of a device's vendor said; nil for other failures.
        public var gal: HomeError.GalError?
        /// The failures of several simultaneous requests; nil for a single failure.
        public var bulk: [Body]?
        /// What else is known about the failure, for example the `validationIssues` of an automation; nil for most
        /// failures.
        public var details: JSONObject?
    }

    /// The error itself.
    public var error: Body

    /// Wraps an error for the wire.
    /// - Parameter details: what else is known about the failure.
    public init(_ error: HomeError, details: JSONObject? = nil) {
        self.error = Body(error, details: details)
    }

    /// The error that the body describes; a number that gRPC does not have becomes `unknown`.
    public var homeError: HomeError { error.homeError }
}

extension HomeErrorResponse.Body {
    fileprivate init(_ error: HomeError, details: JSONObject?) {
        self.init(
            code: error.code.rawValue, status: error.code.status, message: error.requestMessage,
            subcodes: error.subcodes.isEmpty ? nil : error.subcodes, remedy: error.remedy, details: details)
        switch error.subtype {
        case .matter(let matter): self.matter = matter
        case .permissions(let permissions): self.permissions = permissions
        case .decommission(let decommission): self.decommission = decommission
        case .hubActivation(let hubActivation): self.hubActivation = hubActivation
        case .gal(let gal): self.gal = gal
        case .bulk(let errors): bulk = errors.map { Self($0, details: nil) }
        case .details(let known): self.details = details ?? known
        // A client's own error is not sent to anybody.
        case .connection, nil: break
        }
    }

    fileprivate var homeError: HomeError {
        var result = HomeError(
            HomeError.Code(rawValue: code) ?? .unknown, HomeError.message(from: message, without: remedy),
            subcodes: subcodes ?? [], subtype: subtype)
        result.remedy = remedy
        return result
    }

    private var subtype: HomeError.Subtype? {
        if let matter { return .matter(matter) }
        if let permissions { return .permissions(permissions) }
        if let decommission { return .decommission(decommission) }
        if let hubActivation { return .hubActivation(hubActivation) }
        if let gal { return .gal(gal) }
        if let bulk { return .bulk(errors: bulk.map(\.homeError)) }
        if let details { return .details(details) }
        return nil
    }
}
