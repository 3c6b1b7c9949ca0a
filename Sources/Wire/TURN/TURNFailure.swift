import Transport

/// Why a TURN server relays nothing.
public enum TURNFailure: Error, Hashable, Sendable {
    /// It does not answer.
    case noAnswer
    /// It refuses the user name and the password.
    case wrongCredentials
    /// It refused with this error code; nil for an error without one.
    case refused(code: UInt16?)
    /// Its answers make no sense: it asks again and again for what it got, or gives an address that nobody can reach.
    case contradictory
    /// It cannot be connected to; the reason is in the system's words.
    case unreachable(reason: String)
    /// TLS with it failed, for example because its certificate is for another name.
    case insecure(reason: String)
    /// The connection to it has ended.
    case disconnected
}

extension TURNFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noAnswer: "it does not answer"
        case .wrongCredentials: "it refuses the user name or the password"
        case .refused(let code?): "it refuses with error \(code)"
        case .refused(nil): "it refuses"
        case .contradictory: "its answers make no sense"
        case .unreachable(let reason): "it cannot be connected to: \(reason)"
        case .insecure(let reason): "TLS with it failed: \(reason)"
        case .disconnected: "the connection to it has ended"
        }
    }
}

/// What a TURN client reports.
public enum TURNEvent: Hashable, Sendable {
    /// The server relays at these addresses from now on: at least one, and at most one of each version of the Internet
    /// Protocol.
    case allocated([TransportAddress])
    /// The server relays nothing, and the client has ended.
    case failed(TURNFailure)
}

/// What a datagram or message from the server was.
public enum TURNReceived: Hashable, Sendable {
    /// An answer, or nothing that the client wants.
    case nothing
    /// Data that a peer sent to the relayed address; the range is its place in what was handed in.
    case data(from: TransportAddress, Range<Int>)
}
