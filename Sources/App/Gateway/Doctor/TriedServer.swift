import MediaRelay
import TURN

/// What came of trying a STUN or TURN server that the config names.
struct TriedServer: Sendable, Equatable {
    /// How it is.
    enum Outcome: Sendable, Equatable {
        /// It has answered a STUN request, or has relayed, after so long.
        case answered(after: Duration)
        /// It does not serve.
        case failed(TURNFailure)
        /// Its name has no address, and why.
        case unknown(String)
        /// It is the one that relays for the gateway, or that the gateway tries anyway, so it was not tried.
        case inUse
        /// What the config names is not the URL of a server.
        case malformed
        /// It is a TURN server, and the config has no user name or no password for it.
        case withoutCredentials
        /// It is reached over DTLS, which the gateway does not speak with servers.
        case untried
    }

    /// Its URL.
    var url: String
    /// Whether it is a TURN server.
    var isRelay: Bool
    /// How it is reached.
    var transport = TURNServer.Transport.udp
    /// How it is.
    var outcome: Outcome
}
