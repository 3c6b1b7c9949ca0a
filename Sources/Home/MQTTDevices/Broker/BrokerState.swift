import Foundation

/// How the connection to the broker is.
public enum BrokerState: Sendable, Hashable {
    /// The first attempt has not ended yet.
    case connecting
    /// Connected since this moment.
    case connected(since: Date)
    /// Not connected since this moment. The gateway keeps trying.
    case lost(since: Date, BrokerFailure)
    /// The connection is no longer wanted.
    case stopped
}

/// Why a connection failed or was lost.
public enum BrokerFailure: Error, Sendable, Hashable {
    /// The broker refused, with the code of its answer (MQTT 3.1.1, section 3.2.2.3).
    case refused(code: Int)
    /// The host's name has no address.
    case unknownHost(String)
    /// The connection could not be made, with the system's reason.
    case unreachable(String)
    /// The broker did not answer in time.
    case timeout
    /// TLS failed: the certificate, its name or the files.
    case tls
    /// The connection ended.
    case disconnected
    /// Another reason, with the library's text.
    case other(String)
}

extension BrokerFailure: CustomStringConvertible {
    /// The words that people read.
    public var description: String {
        switch self {
        case .refused(4): "the broker refused the user name or the password"
        case .refused(5):
            "the broker does not permit this client; check the user name, the password and the broker's rules"
        case .refused(2): "the broker refused the client identifier"
        case .refused(3): "the broker is not ready yet"
        case .refused(1): "the broker does not speak MQTT 3.1.1"
        case .refused(let code): "the broker refused the connection (code \(code))"
        case .unknownHost(let host): "the host \(host) has no address"
        case .unreachable(let words): "the broker cannot be reached: \(words)"
        case .timeout: "the broker did not answer in time"
        case .tls: "TLS failed; check the port, the authorities (ca) and the name in the broker's certificate"
        case .disconnected: "the broker closed the connection"
        case .other(let words): words
        }
    }
}
