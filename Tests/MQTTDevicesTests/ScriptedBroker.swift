import Glibc
import Testing

/// A broker on a socket of this machine. It takes one connection at a time, and says only what a test tells it to say.
final class ScriptedBroker {
    private let listener: Int32
    private var connection: Int32 = -1
    /// Where it listens.
    let port: Int

    /// The limit of each wait: a test must fail, not hang, when something never comes.
    private var patience = timeval(tv_sec: 30, tv_usec: 0)

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        try #require(isBound)
        setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(listener)
        if connection >= 0 { close(connection) }
    }

    /// Takes the connection, or the next one, and reads its CONNECT (MQTT 3.1.1, section 3.1).
    func accept() throws {
        if connection >= 0 { close(connection) }
        connection = Glibc.accept(listener, nil, nil)
        try #require(connection >= 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try #require(receive()?.first == 0x10)
    }

    /// Accepts the connection: CONNACK (MQTT 3.1.1, section 3.2).
    func acknowledge() {
        #expect(send(connection, [0x20, 2, 0, 0] as [UInt8], 4, 0) == 4)
    }

    /// Says that a message of quality 1 has arrived: PUBACK (MQTT 3.1.1, section 3.4).
    func acknowledge(message number: [UInt8]) {
        let bytes: [UInt8] = [0x40, 2] + number
        #expect(send(connection, bytes, bytes.count, 0) == bytes.count)
    }

    /// Ends the connection.
    func hangUp() { shutdown(connection, Int32(SHUT_RDWR)) }

    /// What comes next, empty at the end of the connection; nil if nothing comes in time.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(connection, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }
}
