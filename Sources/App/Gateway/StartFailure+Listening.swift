import DatagramPort
import Glibc

extension GatewayService.StartFailure {
    /// A listener that could not be opened.
    /// - Parameters:
    ///   - address: where it should listen.
    ///   - key: the key of the config that has the port.
    ///   - hostKey: the key that has the address.
    ///   - code: the kernel's error number.
    static func listening(on address: String, key: String, hostKey: String, code: Int32) -> Self {
        let reason =
            switch code {
            case EADDRINUSE:
                "another program, perhaps another gateway, has this port; stop it, or set \(key) in the config to another port"
            case EADDRNOTAVAIL:
                "this machine does not have this address; correct \(hostKey) in the config"
            case EACCES:
                "the gateway may not use ports below 1024; set \(key) in the config to a port from 1024 on"
            default:
                "\(String(cString: strerror(code))); see \(key) in the config"
            }
        return Self(description: "cannot listen on \(address): \(reason)")
    }

    /// A server of a section that could not be started.
    /// - Parameters:
    ///   - address: where it should listen.
    ///   - section: the section of the config that has its port and its host.
    ///   - error: what the server says.
    static func starting(on address: String, section: String, _ error: SystemCallError) -> Self {
        // A server needs more than its listener, such as a thread.
        guard ["bind", "listen"].contains(error.call) else { return Self(description: "\(error)") }
        return listening(on: address, key: "\(section).port", hostKey: "\(section).host", code: error.errorNumber)
    }
}
