extension TransportURLProblem: CustomStringConvertible {
    /// The problem, as people read it after the address.
    public var description: String {
        switch self {
        case .notHTTPS: "it must begin with https://"
        case .character(let scalar):
            "it contains \(String(scalar).debugDescription), which must be percent-encoded"
        case .query: "it must not have a query"
        case .fragment: "it must not have a fragment"
        case .noFolder: "its path must end in /"
        case .userName: "it must not contain a user name"
        case .dots: "its path must not contain . or .."
        case .percent: "its path has a % without two hexadecimal digits after it"
        case .openBracket: "its host lacks a closing bracket"
        case .host: "its host cannot be read"
        case .noHost: "it has no host"
        case .port: "its port must be from 1 to 65535"
        }
    }
}
