import CloudToCloud
import Testing
import Transport

@Suite struct CloudReportQueueTests {
    static let start = Instant(nanoseconds: 1_000_000_000_000)
    static let on = JSONValue.object(["on": .bool(true)])
    static let off = JSONValue.object(["on": .bool(false)])

    /// A queue that expectations can ask, which hold values that do not change.
    final class Box {
        var queue = CloudReportQueue()

        func next(at now: Instant) -> CloudReportQueue.Message? { queue.next(at: now) }

        /// Lets the queue send one message, and says what becomes of it.
        func send(
            at now: Instant, _ outcome: CloudReportQueue.Outcome = .accepted
        ) -> CloudReportQueue.Message? {
            let message = queue.next(at: now)
            queue.finish(outcome, at: now, jitter: 1)
            return message
        }
    }

    @Test func `changes are collected, and reported once`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        box.queue.record(Self.off, of: "b", at: Self.start)
        box.queue.record(Self.off, of: "a", at: Self.start)
        #expect(box.next(at: Self.start) == nil)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.queue.deadline == due)
        #expect(box.send(at: due) == .states(["a": Self.off, "b": Self.off]))
        // What the receiver has is not reported again, and neither is a change that was taken back.
        box.queue.record(Self.off, of: "a", at: due)
        box.queue.record(Self.on, of: "b", at: due)
        box.queue.record(Self.off, of: "b", at: due)
        #expect(box.next(at: due + .seconds(10)) == nil)
        #expect(box.queue.accepted == 1)
    }

    @Test func `a change during a message follows it`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.next(at: due) == .states(["a": Self.on]))
        #expect(box.queue.deadline == nil && box.next(at: due) == nil)
        box.queue.record(Self.on, of: "a", at: due)
        box.queue.record(Self.off, of: "b", at: due)
        box.queue.record(Self.off, of: "a", at: due)
        box.queue.finish(.accepted, at: due, jitter: 0)
        #expect(box.send(at: due) == .states(["a": Self.off, "b": Self.off]))
    }

    @Test(arguments: [CloudReportQueue.Outcome.accepted, .failed(retryAfter: nil)])
    func `a state that was on its way when the receiver asked for all devices is reported again`(
        outcome: CloudReportQueue.Outcome
    ) {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.next(at: due) == .states(["a": Self.on]))
        box.queue.forget()
        box.queue.record(Self.on, of: "a", at: due)
        box.queue.finish(outcome, at: due, jitter: 0)
        let later = due + .seconds(2)
        #expect(box.send(at: later) == .states(["a": Self.on]))
        box.queue.record(Self.on, of: "a", at: later)
        #expect(box.next(at: later + .seconds(10)) == nil)
    }

    @Test func `what is on its way is not reported twice`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.next(at: due) == .states(["a": Self.on]))
        box.queue.record(Self.on, of: "a", at: due)
        box.queue.finish(.accepted, at: due, jitter: 0)
        #expect(box.queue.deadline == nil)
    }

    @Test func `a device that goes while its state is on its way is not reported again`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        box.queue.record(Self.on, of: "b", at: Self.start)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.next(at: due) == .states(["a": Self.on, "b": Self.on]))
        box.queue.keep(only: ["b"])
        box.queue.finish(.failed(retryAfter: nil), at: due, jitter: 0)
        #expect(box.send(at: due + .seconds(1)) == .states(["b": Self.on]))
        #expect(box.queue.deadline == nil)
    }

    @Test func `a failed message is sent again with what is newer, later each time`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        box.queue.record(Self.on, of: "b", at: Self.start)
        var now = Self.start + CloudReportQueue.collecting
        #expect(box.next(at: now) != nil)
        box.queue.record(Self.off, of: "a", at: now)
        box.queue.finish(.failed(retryAfter: nil), at: now, jitter: 1)
        var pauses: [Double] = []
        for _ in 0..<14 {
            let deadline = box.queue.deadline ?? now
            pauses.append((deadline - now).inSeconds)
            #expect(box.next(at: deadline - .milliseconds(1)) == nil)
            now = deadline
            #expect(box.send(at: now, .failed(retryAfter: nil)) == .states(["a": Self.off, "b": Self.on]))
        }
        #expect(pauses.prefix(4) == [1, 2, 4, 8])
        #expect(pauses.last == CloudReportQueue.longestPause.inSeconds)
        #expect(box.queue.failed == 15)
    }

    @Test func `the receiver says how long to wait, within limits, and chance shortens only our own pause`() {
        for (asked, jitter, expected) in [(7, 0.0, 7.0), (0, 0.0, 0.5), (1_000_000, 1.0, 900)] {
            let box = Box()
            box.queue.record(Self.on, of: "a", at: Self.start)
            let now = Self.start + CloudReportQueue.collecting
            _ = box.next(at: now)
            box.queue.finish(.failed(retryAfter: .seconds(asked)), at: now, jitter: jitter)
            #expect(box.queue.deadline.map { ($0 - now).inSeconds } == expected)
        }
    }

    @Test func `what is refused is given up, and the next change is reported`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.send(at: due, .refused) != nil)
        #expect(box.queue.deadline == nil && box.queue.refused == 1)
        box.queue.record(Self.on, of: "a", at: due)
        #expect(box.send(at: due + CloudReportQueue.collecting) == .states(["a": Self.on]))
    }

    @Test func `a new list of devices comes before their states, and comes again when it fails`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        box.queue.recordDevices(at: Self.start)
        box.queue.recordDevices(at: Self.start)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.send(at: due, .failed(retryAfter: nil)) == .requestSync)
        let again = due + .seconds(1)
        #expect(box.send(at: again) == .requestSync)
        #expect(box.send(at: again) == .states(["a": Self.on]))
        #expect(box.queue.deadline == nil)
    }

    @Test func `a synchronised cloud gets all states again, and devices that are gone are forgotten`() {
        let box = Box()
        box.queue.record(Self.on, of: "a", at: Self.start)
        let due = Self.start + CloudReportQueue.collecting
        #expect(box.send(at: due) != nil)
        box.queue.forget()
        box.queue.record(Self.on, of: "a", at: due)
        box.queue.record(Self.on, of: "b", at: due)
        box.queue.keep(only: ["a"])
        #expect(box.send(at: due + CloudReportQueue.collecting) == .states(["a": Self.on]))
    }

    @Test func `a flood of devices is bounded, sent in batches, and counted`() {
        let box = Box()
        for index in 0..<(CloudReportQueue.capacity + 5) { box.queue.record(Self.on, of: "\(index)", at: Self.start) }
        #expect(box.queue.overflowed == 5 && box.queue.isIncomplete)
        let due = Self.start + CloudReportQueue.collecting
        var count = 0
        for _ in 0..<100 {
            guard case .states(let states)? = box.send(at: due) else { break }
            #expect(states.count <= CloudReportQueue.batch)
            count += states.count
        }
        #expect(count == CloudReportQueue.capacity)
        box.queue.forget()
        #expect(!box.queue.isIncomplete)
    }

    @Test func `messages have the form that the cloud reads`() {
        let sync = CloudReport(.requestSync, user: "u", requestID: "r")
        #expect(sync.path == "/devices:requestSync" && sync.body[path: "agentUserId"] == .string("u"))
        let states = CloudReport(.states(["a": Self.on]), user: "u", requestID: "r")
        #expect(states.path == "/devices:reportStateAndNotification")
        #expect(states.body[path: "payload.devices.states.a.on"] == .bool(true))
        #expect(states.body[path: "requestId"] == .string("r"))
    }
}
