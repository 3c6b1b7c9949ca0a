import CMosquitto
import Glibc

extension BrokerFailure {
    /// The failure that a code of the library stands for. With `MOSQ_ERR_ERRNO` comes the system's, so nothing may be
    /// called in between.
    init(_ code: Int32, of settings: BrokerSettings) {
        let system = errno
        switch code {
        case Int32(MOSQ_ERR_EAI.rawValue): self = .unknownHost(settings.host)
        case Int32(MOSQ_ERR_TLS.rawValue): self = .tls
        case Int32(MOSQ_ERR_CONN_LOST.rawValue): self = .disconnected
        case Int32(MOSQ_ERR_KEEPALIVE.rawValue): self = .timeout
        case Int32(MOSQ_ERR_ERRNO.rawValue): self = .unreachable(String(cString: strerror(system)))
        case Int32(MOSQ_ERR_NO_CONN.rawValue), Int32(MOSQ_ERR_CONN_REFUSED.rawValue):
            self = .unreachable("nothing answers at port \(settings.port) of \(settings.host)")
        default: self = .other(String(cString: mosquitto_strerror(code)))
        }
    }
}
