import Testing
import Transport

@testable import MQTTDevices

/// Connections that are stopped while their threads would wait for a day.
@Suite struct BrokerStopTests {
    /// Sets a latch when nobody refers to it any more.
    private final class LastReference: Sendable {
        private let latch: Latch

        init(_ latch: Latch) { self.latch = latch }
        deinit { latch.set() }
    }

    /// - Parameter ended: set when the connection is gone: its thread has ended, and nobody else refers to it.
    private static func connection(
        to broker: ScriptedBroker, ended: Latch, report: @escaping @Sendable (BrokerConnection.Event) -> Void
    ) throws -> BrokerConnection {
        let reference = LastReference(ended)
        return try BrokerConnection(
            settings: BrokerSettings(host: "127.0.0.1", port: broker.port), limits: .init(), pause: 86_400_000
        ) { event in
            withExtendedLifetime(reference) { report(event) }
        }
    }

    @Test(arguments: [true, false])
    func `a stop reaches the broker at once and is not reported as a loss, whether the broker has answered or not`(
        hasAnswered: Bool
    ) throws {
        let broker = try ScriptedBroker()
        let (isConnected, hasEnded, losses) = (Latch(), Latch(), Locked(0))
        var connection: BrokerConnection? = try Self.connection(to: broker, ended: hasEnded) { event in
            switch event {
            case .connected: isConnected.set()
            case .lost: losses.withLock { $0 += 1 }
            case .messages: break
            }
        }
        connection?.start()
        try broker.accept()
        if hasAnswered {
            broker.acknowledge()
            try #require(isConnected.wait(atMost: .seconds(60)))
        }
        connection?.stop()
        connection = nil
        // DISCONNECT (MQTT 3.1.1, section 3.14): without it the broker would publish the last will.
        #expect(broker.receive() == [0xE0, 0])
        #expect(broker.receive() == [])
        #expect(hasEnded.wait(atMost: .seconds(60)))
        #expect(losses.withLock { $0 } == 0)
    }

    @Test func `a connection that ends before its thread knows of the stop is not lost`() throws {
        let broker = try ScriptedBroker()
        let (isConnected, hasEnded, losses) = (Latch(), Latch(), Locked(0))
        var connection: BrokerConnection? = try Self.connection(to: broker, ended: hasEnded) { event in
            switch event {
            case .connected: isConnected.set()
            case .lost: losses.withLock { $0 += 1 }
            case .messages: break
            }
        }
        connection?.start()
        try broker.accept()
        broker.acknowledge()
        try #require(isConnected.wait(atMost: .seconds(60)))
        connection?.leave()
        // The thread sees the end of the connection. It has not been told to end.
        broker.hangUp()
        var state = connection?.state
        for _ in 0..<60_000 {
            guard case .connected? = state else { break }
            Latch().wait(atMost: .milliseconds(1))
            state = connection?.state
        }
        #expect(state == BrokerState.stopped)
        connection?.stop()
        connection = nil
        #expect(hasEnded.wait(atMost: .seconds(60)))
        #expect(losses.withLock { $0 } == 0)
    }

    @Test func `a thread that is stopped while its connection begins ends`() throws {
        // The stop comes before the thread runs, while it connects, or while it waits for the broker.
        for _ in 0..<50 {
            let broker = try ScriptedBroker()
            let hasEnded = Latch()
            var connection: BrokerConnection? = try Self.connection(to: broker, ended: hasEnded) { _ in }
            connection?.start()
            connection?.stop()
            connection = nil
            try #require(hasEnded.wait(atMost: .seconds(60)))
            withExtendedLifetime(broker) {}
        }
    }
}
