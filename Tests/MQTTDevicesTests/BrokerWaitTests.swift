import Glibc
import Testing
import Transport

@testable import MQTTDevices

/// The thread of a connection, which waits for the broker and for those who send.
@Suite struct BrokerWaitTests {
    /// A socket of this machine that listens, and its port.
    private static func listen() throws -> (socket: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && Glibc.listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        try #require(isBound)
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    @Test func `what is published is sent at once, however long the thread would wait`() throws {
        let (listener, port) = try Self.listen()
        defer { close(listener) }
        let isConnected = Latch()
        let connection = try BrokerConnection(
            settings: BrokerSettings(host: "127.0.0.1", port: port), limits: .init(), pause: 86_400_000
        ) { event in
            if case .connected = event { isConnected.set() }
        }
        connection.start()
        defer { connection.stop() }
        let broker = accept(listener, nil, nil)
        try #require(broker >= 0)
        defer { close(broker) }
        // What is not sent makes the test fail, and not hang.
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(broker, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 256)
        #expect(recv(broker, &buffer, buffer.count, 0) > 0 && buffer[0] == 0x10)
        // CONNACK (MQTT 3.1.1, section 3.2).
        #expect(send(broker, [0x20, 2, 0, 0] as [UInt8], 4, 0) == 4)
        try #require(isConnected.wait(atMost: .seconds(60)))
        // The thread may not wait yet when the first ones are published.
        for letter in "abcdefghijklmnopqrst" {
            #expect(connection.publish(MQTTPublication(topic: "t", text: String(letter))))
            let count = recv(broker, &buffer, buffer.count, 0)
            try #require(count == 6 && Array(buffer[..<6]) == [0x30, 4, 0, 1, 0x74, letter.asciiValue])
        }
    }
}
