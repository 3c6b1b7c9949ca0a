import Testing
import Transport

@testable import MQTTDevices

/// The thread of a connection, which waits for the broker and for those who send.
@Suite struct BrokerWaitTests {
    @Test func `what is published is sent at once, however long the thread would wait`() throws {
        let broker = try ScriptedBroker()
        let isConnected = Latch()
        let connection = try BrokerConnection(
            settings: BrokerSettings(host: "127.0.0.1", port: broker.port), limits: .init(), pause: 86_400_000
        ) { event in
            if case .connected = event { isConnected.set() }
        }
        connection.start()
        defer { connection.stop() }
        try broker.accept()
        broker.acknowledge()
        try #require(isConnected.wait(atMost: .seconds(60)))
        // The thread may not wait yet when the first ones are published.
        for letter in UInt8(ascii: "a")...UInt8(ascii: "t") {
            let text = String(Character(UnicodeScalar(letter)))
            #expect(connection.publish(MQTTPublication(topic: "t", text: text)))
            try #require(broker.receive() == [0x30, 4, 0, 1, 0x74, letter])
        }
    }
}
