import Foundation
import SmartDeviceManagement
import Testing

@Suite struct SDMSubscriptionTests {
    /// The wall clock, and the other one.
    let start = Date(timeIntervalSince1970: 1_000)
    let uptime = Duration.seconds(77)

    @Test func `a message comes once, and again unless it is acknowledged in time`() {
        var subscription = SDMSubscription()
        subscription.add(Data("a".utf8), at: start)
        subscription.add(Data("b".utf8), at: start)
        let first = subscription.pull(upTo: 1, at: uptime)
        #expect(first.map(\.data) == [Data("a".utf8)])
        #expect(subscription.pull(upTo: 5, at: uptime).map(\.data) == [Data("b".utf8)])
        #expect(subscription.pull(upTo: 5, at: uptime + .seconds(29)).isEmpty)
        subscription.acknowledge(first.map(\.acknowledgement) + ["7", "nonsense"])
        let later = uptime + SDMSubscription.patience
        #expect(subscription.pull(upTo: 5, at: later).map(\.data) == [Data("b".utf8)])
    }

    @Test func `a subscriber that stays away loses the oldest messages`() {
        var subscription = SDMSubscription()
        for index in 0..<SDMSubscription.capacity + 3 { subscription.add(Data("\(index)".utf8), at: start) }
        #expect(subscription.dropped == 3)
        #expect(subscription.pull(upTo: 1, at: uptime).map(\.data) == [Data("3".utf8)])
    }

    @Test func `messages about a device can be taken back`() {
        var subscription = SDMSubscription()
        for device in ["door", "yard", nil] {
            subscription.add(Data((device ?? "home").utf8), about: device, at: start)
        }
        subscription.removeMessages { $0 == "door" }
        #expect(subscription.pull(upTo: 5, at: uptime).map(\.data) == [Data("yard".utf8), Data("home".utf8)])
    }
}
