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

    /// The gateway ends the stream because the rights have changed. The state that comes then is newer than the change, so the
    /// change has another id after it.
    @Test(arguments: [["door", "yard"], ["door"], []])
    func `a change is not repeated behind the state that another access brings`(devices: [String]) {
        let first = GatewayEvent(name: "DoorbellPressed", id: "r-1-6-aa", data: "1")
        var feed = EventFeed(after: "r-1-5-aa")
        #expect(updates(&feed, [.event(first), .event(Self.missed)]) == [.change(first)])
        let end = feed.close()
        #expect(end == [.missed(Self.missed)] && feed.cursor == "r-1-5-aa")
        let state = devices.map {
            GatewayEvent(name: "device", id: $0 == devices.last ? "r-1-5-bb-9" : nil, data: $0)
        }
        let change = GatewayEvent(name: first.name, id: "r-1-6-bb-9", data: first.data)
        let second = GatewayEvent(name: "DoorbellPressed", id: "r-1-60-bb", data: "2")
        var items: [EventStreamReader.Item] = (state + [Self.missed]).map { .event($0) }
        // A comment follows a state of at most one object.
        if devices.count <= 1 { items.append(.comment) }
        items += [.event(change), .event(second)]
        let later = updates(&feed, items)
        #expect(Array(later.suffix(3)) == [.state(state), .missed(Self.missed), .change(second)])
        // A state of one object looks like a change until something follows.
        #expect(later.count == (devices.count == 1 ? 4 : 3) && feed.cursor == "r-1-60-bb")
    }

    @Test func `a client that is cut off twice at the same change gets it once`() {
        let change = GatewayEvent(name: "device", id: "r-1-6", data: "c")
        var feed = EventFeed(after: "r-1-5")
        #expect(updates(&feed, [.event(change), .event(Self.missed)]) == [.change(change)])
        let end = feed.close()
        #expect(end == [.missed(Self.missed)])
        #expect(updates(&feed, [.event(change), .event(Self.missed)]).isEmpty)
        let again = feed.close()
        #expect(again == [.missed(Self.missed)])
        // The next stream ends before it has brought anything.
        #expect(updates(&feed, [.event(Self.missed)]).isEmpty)
        _ = feed.close()
        #expect(updates(&feed, [.event(change)]).isEmpty)
        #expect(feed.cursor == "r-1-6")
    }

    @Test func `a state of one object that has changed since is reported although its id is the same`() {
        let old = GatewayEvent(name: "device", id: "r-1-5-bb-9", data: "off")
        var feed = EventFeed(after: "r-1-5-aa")
        #expect(updates(&feed, [.event(old), .event(Self.missed)]) == [.change(old)])
        let end = feed.close()
        #expect(end == [.missed(Self.missed)])
        // The stream is lost before it shows that this is a state.
        let new = GatewayEvent(name: "device", id: "r-1-5-bb-10", data: "on")
        #expect(updates(&feed, [.event(new)]) == [.change(new)])
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
