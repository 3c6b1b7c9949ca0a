import GatewayClient
import Testing

@Suite struct EventFeedTests {
    private static func device(_ name: String, id: String? = nil) -> EventStreamReader.Item {
        .event(GatewayEvent(name: "device", id: id, data: name))
    }

    private static let missed = GatewayEvent(name: "missed", data: "{}")

    private func updates(_ feed: inout EventFeed, _ items: [EventStreamReader.Item]) -> [EventFeed.Update] {
        feed.open()
        return items.flatMap { feed.receive($0) }
    }

    @Test func `the state is reported as a whole, and then each change`() {
        var feed = EventFeed()
        let updates = updates(&feed, [Self.device("a"), Self.device("b", id: "1"), Self.device("c", id: "2")])
        #expect(
            updates == [
                .state([GatewayEvent(name: "device", data: "a"), GatewayEvent(name: "device", id: "1", data: "b")]),
                .change(GatewayEvent(name: "device", id: "2", data: "c")),
            ])
        #expect(feed.cursor == "2")
    }

    @Test func `a stream that goes on behind the cursor brings only changes`() {
        var feed = EventFeed(after: "5")
        let updates = updates(&feed, [.comment, Self.device("c", id: "6"), Self.device("d", id: "7")])
        #expect(
            updates == [
                .change(GatewayEvent(name: "device", id: "6", data: "c")),
                .change(GatewayEvent(name: "device", id: "7", data: "d")),
            ])
    }

    @Test func `a state that was cut off is collected again`() {
        var feed = EventFeed()
        #expect(updates(&feed, [Self.device("a")]).isEmpty)
        #expect(
            updates(&feed, [Self.device("b", id: "1")])
                == [.state([GatewayEvent(name: "device", id: "1", data: "b")])])
    }

    @Test func `a gateway that kept too little sends the state again`() {
        var feed = EventFeed(after: "5")
        let updates = updates(&feed, [Self.device("a"), Self.device("b", id: "9"), .event(Self.missed)])
        #expect(
            updates == [
                .state([GatewayEvent(name: "device", data: "a"), GatewayEvent(name: "device", id: "9", data: "b")]),
                .missed(Self.missed),
            ])
    }

    @Test func `a state of one object is told from a change by what follows`() {
        var feed = EventFeed(after: "5")
        let event = GatewayEvent(name: "structure", id: "9", data: "home")
        #expect(
            updates(&feed, [.event(event), .event(Self.missed), .comment]) == [
                .change(event), .state([event]), .missed(Self.missed),
            ])
        let end = feed.close()
        #expect(end.isEmpty && feed.cursor == "9")
    }

    @Test func `a home in which nothing is left is distinguished from a cut by what follows`() {
        var feed = EventFeed(after: "5")
        #expect(updates(&feed, [.event(Self.missed), .comment]) == [.state([]), .missed(Self.missed)])
        var cut = EventFeed(after: "5")
        #expect(updates(&cut, [.event(Self.missed)]).isEmpty)
        let end = cut.close()
        #expect(end == [.missed(Self.missed)] && cut.cursor == "5")
    }

    @Test func `a client that is cut off after one change keeps the rest of the home`() {
        let (first, second) = (GatewayEvent(name: "device", id: "6", data: "c"), Self.device("d", id: "7"))
        var feed = EventFeed(after: "5")
        #expect(updates(&feed, [.event(first), .event(Self.missed)]) == [.change(first)])
        let end = feed.close()
        #expect(end == [.missed(Self.missed)])
        // The change was reported, and does not come twice.
        #expect(feed.cursor == "5")
        #expect(
            updates(&feed, [.event(first), second]) == [
                .change(GatewayEvent(name: "device", id: "7", data: "d"))
            ])
        #expect(feed.cursor == "7")
    }

    @Test func `a client that is cut off long after one change continues behind it`() {
        let event = GatewayEvent(name: "device", id: "6", data: "c")
        var feed = EventFeed(after: "5")
        #expect(
            updates(&feed, [.event(event), .comment, .event(Self.missed)]) == [.change(event), .missed(Self.missed)])
        let end = feed.close()
        #expect(end.isEmpty && feed.cursor == "6")
        var silent = EventFeed(after: "5")
        #expect(updates(&silent, [.comment, .event(Self.missed)]) == [.missed(Self.missed)])
    }

    @Test func `a state of one object whose stream is lost is sent again`() {
        let event = GatewayEvent(name: "structure", id: "9", data: "home")
        var feed = EventFeed(after: "5")
        #expect(updates(&feed, [.event(event), .event(Self.missed)]) == [.change(event)])
        let end = feed.close()
        #expect(end == [.missed(Self.missed)])
        #expect(
            updates(&feed, [.event(event), .event(Self.missed), .comment]) == [.state([event]), .missed(Self.missed)])
    }

    @Test func `an empty home is known after the first comment`() {
        var feed = EventFeed()
        #expect(updates(&feed, [.comment]) == [.state([])])
        #expect(feed.receive(.comment).isEmpty)
    }

    @Test func `the waits grow to the longest, and begin again after a success`() {
        var random = SeededGenerator(seed: 3)
        var backOff = BackOff(first: .seconds(1), longest: .seconds(4))
        let bounds: [ClosedRange<Duration>] = [
            .milliseconds(500)...(.seconds(1)), .seconds(1)...(.seconds(2)), .seconds(2)...(.seconds(4)),
            .seconds(2)...(.seconds(4)),
        ]
        for range in bounds { #expect(range.contains(backOff.wait(using: &random))) }
        backOff.reset()
        #expect(bounds[0].contains(backOff.wait(using: &random)))
    }
}
