import DatagramPort
import Glibc
import Transport

/// The two UDP ports that all readers share: RTP on an even one, RTCP on the next (RFC 3550, section 11).
struct DatagramPorts: Sendable {
    let rtp: UDPPort
    let rtcp: UDPPort

    /// Opens the pair at `port`, or at the next even number; at any pair when `port` is 0.
    /// - Parameter takesMedia: whether publishers send to the RTP port.
    init(addresses: [TransportAddress], port: UInt16, takesMedia: Bool = false) throws(SystemCallError) {
        var attemptsLeft = port == 0 ? 32 : 1
        while true {
            attemptsLeft -= 1
            do throws(SystemCallError) {
                let wanted = port == 0 ? 0 : port &+ (port & 1)
                // What players send to the RTP port only opens a path through firewalls; nobody reads it. Of a publisher it
                // must hold a key frame that comes in one burst.
                let rtp = try UDPPort(
                    Self.configuration(addresses, port: wanted, receiveBuffer: takesMedia ? 2 << 20 : 4096))
                guard rtp.localPort & 1 == 0, rtp.localPort < .max else {
                    throw SystemCallError(call: "bind", purpose: "the RTP port must be even", errorNumber: EADDRINUSE)
                }
                let rtcp = try UDPPort(
                    Self.configuration(addresses, port: rtp.localPort + 1, receiveBuffer: 256 * 1024))
                self.rtp = rtp
                self.rtcp = rtcp
                return
            } catch {
                guard error.errorNumber == EADDRINUSE, attemptsLeft > 0 else { throw error }
            }
        }
    }

    private static func configuration(
        _ addresses: [TransportAddress], port: UInt16, receiveBuffer: Int
    ) -> UDPPort.Configuration {
        var configuration = UDPPort.Configuration(port: port)
        configuration.ipv4Address = addresses.first { $0.family == .ipv4 }
        configuration.ipv6Address = addresses.first { $0.family == .ipv6 }
        configuration.receiveBufferSize = receiveBuffer
        return configuration
    }
}
