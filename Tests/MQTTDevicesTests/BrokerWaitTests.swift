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

    @Test func `what a broker has not acknowledged takes up room, and is not sent over the next connection`() throws {
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
        try #require(message.count == 8 && message.first == 0x32 && message.last == UInt8(ascii: "a"))
        #expect(connection.counts.outgoingBytes == 2)
        broker.hangUp()
        try broker.accept()
        #expect(connection.counts.outgoingBytes == 0)
        broker.acknowledge()
        try #require(isConnectedAgain.wait(atMost: .seconds(60)))
        #expect(connection.publish(MQTTPublication(topic: "t", text: "b", qualityOfService: 1)))
        let next = try #require(broker.receive())
        // Neither is it marked as a duplicate (0x3A), nor does such a message come before it.
        try #require(next.count == 8 && next.first == 0x32 && next.last == UInt8(ascii: "b"))
        #expect(connection.counts.outgoingBytes == 2)
        broker.acknowledge(message: Array(next[5...6]))
        for _ in 0..<60_000 {
            guard connection.counts.outgoingBytes > 0 else { break }
            Latch().wait(atMost: .milliseconds(1))
        }
        #expect(connection.counts.outgoingBytes == 0)
        // The library repeats messages after it has reported the connection, but before it reads an acknowledgement.
        #expect(connection.publish(MQTTPublication(topic: "t", text: "c", qualityOfService: 1)))
        let last = try #require(broker.receive())
        #expect(last.count == 8 && last.first == 0x32 && last.last == UInt8(ascii: "c"))
    }
}
