import Hummingbird

/// What the addresses in answers begin with, where a client needs a whole address and not only a path.
struct AbsoluteAddresses: Sendable {
    /// `http` or `https`, the protocol of the listener.
    let scheme: String
    /// Where clients reach the gateway according to the config (`http.publicURL`); nil if they reach its own listeners.
    let publicURL: String?

    /// The address of the gateway without a slash at its end. A proxy in front of the gateway may end TLS and may send another
    /// `Host`, so only the config can say what clients see.
    /// - Parameter localHost: what a request without a host was sent to.
    func base(of request: Request, localHost: String? = nil) -> String {
        publicURL ?? "\(scheme)://\(request.head.authority ?? localHost ?? "localhost")"
    }
}
