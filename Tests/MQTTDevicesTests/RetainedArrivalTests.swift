import Foundation
import Testing
import Transport

@testable import MQTTDevices

/// When all that a broker retains counts as sent.
@Suite struct RetainedArrivalTests {
    private let pause = RetainedArrival.pause

    @Test func `everything has come when all subscriptions are answered and nothing came for a while`() {
        var arrival = RetainedArrival()
        let start = Instant.zero + .seconds(100)
        arrival.begin(at: start)
        for _ in 0..<2 { arrival.subscribe() }
        arrival.receive(at: start)
        arrival.answer(at: start)
        // A slow broker still owes an answer.
        #expect(!arrival.isComplete(at: start + pause))
        let answered = start + pause
        arrival.answer(at: answered)
        #expect(!arrival.isComplete(at: answered))
        // What it retains may come after its answers.
        let last = answered + .seconds(1)
        arrival.receive(at: last)
        #expect(!arrival.isComplete(at: answered + pause))
        #expect(arrival.isComplete(at: last + pause))
    }

    @Test func `a new connection begins from the start, and a subscription that was not sent is not waited for`() {
        var arrival = RetainedArrival()
        arrival.begin(at: .zero)
        arrival.subscribe()
        let again = Instant.zero + pause + pause
        arrival.begin(at: again)
        #expect(!arrival.isComplete(at: again))
        // Nothing answers the subscription of the connection before.
        #expect(arrival.isComplete(at: again + pause))
        arrival.subscribe()
        #expect(!arrival.isComplete(at: again + pause))
        arrival.takeBack()
        #expect(arrival.isComplete(at: again + pause))
    }

    private func retained(_ number: Int, over connection: UInt64, size: Int = 0) -> MQTTMessage {
        MQTTMessage(
            topic: "t\(number)", payload: Data(count: size), isRetained: true, connection: connection)
    }

    @Test func `a retained message that waits to be read is missing`() {
        var queue = MessageQueue(limits: .init(topicBurst: 1))
        queue.add(retained(1, over: 2), at: .zero)
        queue.add(MQTTMessage(topic: "t2", payload: Data(), connection: 2), at: .zero)
        #expect(queue.lacksRetained(of: 2) && !queue.lacksRetained(of: 1))
        _ = queue.take(upTo: 1, at: .zero)
        #expect(!queue.lacksRetained(of: 2) && !queue.isEmpty)
        _ = queue.take(upTo: 1, at: .zero)
        // Its topic is over its rate.
        queue.add(retained(1, over: 2), at: .zero)
        #expect(queue.lacksRetained(of: 2))
        _ = queue.take(upTo: 1, at: .zero + .seconds(1))
        #expect(!queue.lacksRetained(of: 2) && queue.isEmpty)
    }

    @Test func `a retained message that found no room is missing until the next connection`() {
        var queue = MessageQueue(limits: .init(bytes: 1_000))
        for number in 0..<2 { queue.add(retained(number, over: 2, size: 600), at: .zero) }
        _ = queue.take(upTo: 10, at: .zero)
        #expect(queue.isEmpty && queue.lacksRetained(of: 2) && !queue.lacksRetained(of: 3))
    }
}
