/// What kind of obstacle keeps a client from a server. The words beside it are for people; this decides the advice.
public enum UnreachableCause: Sendable, Hashable {
    /// The host name has no address.
    case unknownName
    /// The host answers that nothing listens at the port.
    case refused
    /// No network leads to the host, or the host does not answer on its own network.
    case noRoute
    /// Nothing answers the attempt to connect.
    case timedOut
    /// The connection is made, and then nothing answers.
    case silent
    /// TLS fails, or the certificate is not the one that is expected.
    case insecure
    /// Something else, such as a connection that breaks.
    case other
}
