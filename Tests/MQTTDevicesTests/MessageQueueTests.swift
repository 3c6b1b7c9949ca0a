import Foundation
import Testing
import Transport

@testable import MQTTDevices

@Suite struct MessageQueueTests {
    private func message(_ topic: String, _ number: Int, size: Int = 0) -> MQTTMessage {
        MQTTMessage(topic: topic, payload: Data("\(number)".utf8) + Data(count: size))
    }

    @Test func `messages come out in their order`() {
        var queue = MessageQueue()
        for number in 0..<30 { queue.add(message("t\(number % 3)", number), at: .zero) }
        let (messages, next) = queue.take(upTo: 100, at: .zero)
        #expect(messages.map { String(decoding: $0.payload, as: UTF8.self) } == (0..<30).map(String.init))
        #expect(next == nil)
        #expect(queue.isEmpty)
    }

    @Test func `a topic that sends too much delivers its newest message, and others are not late`() throws {
        var queue = MessageQueue()
        for number in 0..<1_000 { queue.add(message("busy", number), at: .zero) }
        queue.add(message("calm", 1), at: .zero)
        let (messages, next) = queue.take(upTo: 100, at: .zero)
        #expect(messages.count == 41)
        #expect(messages.last?.topic == "calm")
        #expect(queue.counts.superseded == 959)
        let later = try #require(next)
        #expect(later > .zero)
        let (last, rest) = queue.take(upTo: 100, at: later)
        #expect(last == [message("busy", 999)])
        #expect(rest == nil)
    }

    @Test func `busy topics have their turns in the order in which they may send again`() {
        var queue = MessageQueue(limits: .init(topicBurst: 1))
        for (index, topic) in ["yard", "attic", "shed"].enumerated() {
            for number in 0..<2 { queue.add(message(topic, number), at: .zero + .milliseconds(10 * index)) }
        }
        #expect(queue.take(upTo: 100, at: .zero + .milliseconds(20)).messages.count == 3)
        let later = Instant.zero + .seconds(1)
        let turns = (0..<4).map { _ in queue.take(upTo: 1, at: later).messages.map(\.topic) }
        #expect(turns == [["yard"], ["attic"], ["shed"], []])
    }

    @Test func `the reader looks at once for what comes while a busy topic is held back`() {
        var queue = MessageQueue()
        let first = (0..<1_000).map { queue.add(message("busy", $0), at: .zero) }
        #expect(first == [true] + Array(repeating: false, count: 999))
        _ = queue.take(upTo: 100, at: .zero)
        #expect(!queue.isEmpty)
        let (busy, calm) = (
            queue.add(message("busy", 1_000), at: .zero), (1...2).map { queue.add(message("calm", $0), at: .zero) }
        )
        #expect(!busy && calm == [true, false])
    }

    @Test func `what does not fit is dropped and counted`() {
        var queue = MessageQueue(limits: .init(bytes: 10_000))
        for number in 0..<100 { queue.add(message("t\(number)", number, size: 1_000), at: .zero) }
        #expect(queue.take(upTo: 100, at: .zero).messages.count == 9)
        #expect(queue.counts.dropped == 91)
        queue.add(message("t", 1, size: 1_000), at: .zero)
        #expect(!queue.isEmpty, "there is room again")
    }

    @Test func `all topics together have a rate`() throws {
        var queue = MessageQueue(limits: .init(totalRate: 10, totalBurst: 20))
        for number in 0..<40 { queue.add(message("t\(number)", number), at: .zero) }
        let (messages, next) = queue.take(upTo: 100, at: .zero)
        #expect(messages.count == 20)
        #expect(try #require(next) > .zero)
        #expect(queue.take(upTo: 100, at: .zero + .seconds(1)).messages.count == 10)
    }

    @Test func `the names of topics do not fill the memory`() {
        var queue = MessageQueue(limits: .init(topics: 100))
        for number in 0..<200 { queue.add(message("t\(number)", number), at: .zero) }
        #expect(queue.counts.dropped == 100)
        _ = queue.take(upTo: 1_000, at: .zero)
        queue.add(message("new", 1), at: .zero + .seconds(10))
        #expect(queue.counts.dropped == 100, "quiet topics make room")
    }

    @Test func `topics without end cause at most four searches for quiet ones in a second`() {
        var queue = MessageQueue(limits: .init(topics: 100))
        for number in 0..<100 { queue.add(message("t\(number)", number), at: .zero) }
        // Two seconds later they are quiet.
        queue.add(message("early", 1), at: .zero + .milliseconds(1_900))
        queue.add(message("soon", 1), at: .zero + .milliseconds(2_100))
        #expect(queue.counts.dropped == 2)
        queue.add(message("late", 1), at: .zero + .milliseconds(2_150))
        #expect(queue.counts.dropped == 2)
    }

    @Test func `the wait before the next attempt grows to a minute and is never the same for all`() {
        var random = RandomSource.seeded(7)
        var delay = ReconnectDelay()
        let waits = (0..<12).map { _ in delay.next(&random) }
        #expect(waits[0] >= .milliseconds(250) && waits[0] <= .milliseconds(500))
        #expect(waits.allSatisfy { $0 <= .seconds(60) })
        #expect(waits[11] >= .seconds(30))
        #expect(Set(waits).count == waits.count)
        delay.reset()
        #expect(delay.next(&random) <= .milliseconds(500))
    }
}
