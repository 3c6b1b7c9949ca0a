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

    @Test func `a message takes up room until the broker acknowledges it, over the next connection too`() throws {
        let broker = try ScriptedBroker()
        let (isConnected, isConnectedAgain, connections) = (Latch(), Latch(), Locked(0))
        let connection = try BrokerConnection(
            settings: BrokerSettings(host: "127.0.0.1", port: broker.port), limits: .init(), pause: 86_400_000
        ) { event in
            guard case .connected = event else { return }
            let count = connections.withLock { connections in
                connections += 1
                return connections
            }
            (count == 1 ? isConnected : isConnectedAgain).set()
        }
        connection.start()
        defer { connection.stop() }
        try broker.accept()
        broker.acknowledge()
        try #require(isConnected.wait(atMost: .seconds(60)))
        #expect(connection.publish(MQTTPublication(topic: "t", text: "a", qualityOfService: 1)))
        let message = try #require(broker.receive())
        try #require(message.count == 8)
        #expect(connection.counts.outgoingBytes == 2)
        broker.hangUp()
        try broker.accept()
        broker.acknowledge()
        try #require(isConnectedAgain.wait(atMost: .seconds(60)))
        #expect(connection.counts.outgoingBytes == 2)
        // The same again, marked as a duplicate.
        let again: [UInt8] = [message[0] | 0x08] + message[1...]
        #expect(broker.receive() == again)
        broker.acknowledge(message: Array(message[5...6]))
        for _ in 0..<60_000 {
            guard connection.counts.outgoingBytes > 0 else { break }
            Latch().wait(atMost: .milliseconds(1))
        }
        #expect(connection.counts.outgoingBytes == 0)
    }
}
