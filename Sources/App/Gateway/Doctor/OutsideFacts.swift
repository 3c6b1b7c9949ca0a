public import HomeTypes
public import Transport

/// What another machine has found when it tried to reach a gateway.
public struct OutsideFacts: Sendable {
    /// What came of a live view.
    public enum View: Sendable, Equatable {
        /// No view could be tried, and why.
        case notTried(String)
        /// Media can flow, by a path of this kind (`direct`, `reflexive`, `relayed`; nil if the gateway does not say), after so long.
        case connected(path: String?, after: Duration)
        /// No media came, and why.
        case failed(String)
    }

    /// The gateway's address, as somebody gave it.
    public var url: String
    /// The name or the address of the host in it.
    public var host: String
    /// Its port.
    public var port: UInt16
    /// Whether it begins with `https`.
    public var isSecure: Bool
    /// The addresses of the host, as this machine resolves the name.
    public var addresses: [TransportAddress] = []
    /// Why the name could not be resolved.
    public var lookUpFailure: String?
    /// Why the gateway's API did not answer; nil if it did.
    public var failure: HomeError?
    /// What came of a live view over UDP.
    public var view = View.notTried("the gateway does not answer")
    /// The addresses at which the gateway accepts media over TCP, and why each was not reached; nil where it was.
    public var tcp: [(address: TransportAddress, failure: String?)] = []

    /// Describes an attempt that has not begun.
    public init(url: String, host: String, port: UInt16, isSecure: Bool) {
        self.url = url
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }
}
