import Glibc
import Synchronization
import Testing
import Transport

@testable import DatagramPort

/// Tells what the thread does to it, and echoes datagrams.
private final class Recorder: ShardHandler {
    enum Event: Equatable, Sendable {
        case datagrams([[UInt8]])
        case deadline(isDue: Bool)
        case ready(ShardContext.Readiness)
        case message(Int)
        case messagesTaken
        case stopped
        case ended
    }

    let context: ShardContext
    let report: @Sendable (Event) -> Void
    let thread = pthread_self()
    var nextDeadline: Instant?
    var keepsDeadline = false
    var watch: ShardContext.Watch?
    var awaitsMessages = false
    var mayReadLater = false
    /// Called before datagrams are reported.
    var onDatagrams: (() -> Void)?

    init(_ context: ShardContext, _ report: @escaping @Sendable (Event) -> Void) {
        self.context = context
        self.report = report
    }

    deinit {
        precondition(pthread_equal(thread, pthread_self()) != 0)
        report(.ended)
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
        precondition(pthread_equal(thread, pthread_self()) != 0)
        var contents: [[UInt8]] = []
        for datagram in datagrams {
            contents.append(Array(datagram.bytes))
            datagram.bytes[0] ^= 0xFF
            context.port.send(
                UnsafeRawBufferPointer(datagram.bytes),
                transmit: Transmit(destination: datagram.source, byteCount: datagram.bytes.count),
                from: datagram.destination)
        }
        onDatagrams?()
        report(.datagrams(contents))
    }

    func handleMessagesTaken(at now: Instant) {
        awaitsMessages = false
        report(.messagesTaken)
    }

    func handleDeadline(at now: Instant) {
        let deadline = nextDeadline
        if !keepsDeadline { nextDeadline = nil }
        report(.deadline(isDue: deadline.map { $0 <= now } ?? false))
    }

    func handleStop(at now: Instant) {
        report(.stopped)
    }
}

@Suite("A shard's thread", .timeLimit(.minutes(10)))
struct ShardThreadTests {
    private let port: UDPPort
    private let shard: ShardThread<Recorder>
    private let events: AsyncStream<Recorder.Event>

    init() throws {
        let (events, continuation) = AsyncStream.makeStream(of: Recorder.Event.self)
        let port = try UDPPort(.loopback())
        self.port = port
        self.events = events
        shard = try ShardThread(name: "a long name of a thread", port: port) { context in
            Recorder(context) { event in
                continuation.yield(event)
                if event == .ended { continuation.finish() }
            }
        }
    }

    @Test("hands over datagrams of both families and sends the answers")
    func echoes() async throws {
        let peer = try UDPPort(.loopback())
        let buffers = try DatagramBuffers()
        for family in [TransportAddress.Family.ipv4, .ipv6] where port.socket(for: family) != nil {
            peer.send([1, 2], to: port.loopback(family))
            let answer = peer.collect(1, family, buffers: buffers)
            #expect(answer.map(\.bytes) == [[0xFE, 2]])
            #expect(answer.first?.source == port.loopback(family))
        }
    }

    @Test("gets through a run of datagrams larger than one batch")
    func receivesRuns() async throws {
        let peer = try UDPPort(.loopback())
        peer.send(pattern(200), to: port.loopback(), segmentSize: 2)
        var received: [UInt8] = []
        for await event in events {
            if case .datagrams(let contents) = event { received += contents.joined() }
            if received.count == 200 { break }
        }
        #expect(received == pattern(200))
    }

    @Test("reads what can wait, one after the other and after a pause")
    func readsLater() async throws {
        let peer = try UDPPort(.loopback())
        let buffers = try DatagramBuffers()
        for family in [TransportAddress.Family.ipv4, .ipv6] where port.socket(for: family) != nil {
            // By the second one, the socket is no longer watched. When the deadline has come, a read has found nothing, so that it
            // is watched again.
            for round in 0..<2 {
                shard.post { handler, _ in handler.mayReadLater = true }
                for number in UInt8(0)..<20 {
                    peer.send([1, number], to: port.loopback(family))
                    #expect(peer.collect(1, family, buffers: buffers).map(\.bytes) == [[0xFE, number]])
                }
                shard.post { handler, now in handler.nextDeadline = now + .milliseconds(20) }
                for await event in events where event == .deadline(isDue: true) { break }
                // What comes now says nothing about what comes next.
                shard.post { handler, _ in handler.mayReadLater = false }
                peer.send([2, UInt8(round)], to: port.loopback(family))
                #expect(peer.collect(1, family, buffers: buffers).map(\.bytes) == [[0xFD, UInt8(round)]])
            }
        }
    }

    @Test("runs what several threads post, each once and in the order of its thread")
    func runsMessages() async {
        await withTaskGroup { group in
            for sender in 0..<4 {
                group.addTask {
                    for number in 0..<500 {
                        #expect(shard.post { handler, _ in handler.report(.message(sender * 1000 + number)) })
                    }
                }
            }
        }
        var numbers: [[Int]] = Array(repeating: [], count: 4)
        var count = 0
        for await event in events {
            guard case .message(let number) = event else { continue }
            numbers[number / 1000].append(number % 1000)
            count += 1
            if count == 2000 { break }
        }
        #expect(numbers.allSatisfy { $0 == Array(0..<500) })
    }

    @Test("runs what was posted before datagrams that arrived while it was busy")
    func runsMessagesFirst() async throws {
        let peer = try UDPPort(.loopback())
        let port = port
        shard.post { [weak shard = shard] _, _ in
            // Until both the datagram and the message wait the thread is busy.
            peer.send([5], to: port.loopback())
            var waiting = pollfd(fd: port.ipv4?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
            _ = poll(&waiting, 1, 120_000)
            _ = shard?.post { handler, _ in handler.report(.message(1)) }
        }
        var seen: [Recorder.Event] = []
        for await event in events {
            seen.append(event)
            if seen.count == 2 { break }
        }
        #expect(seen == [.message(1), .datagrams([[5]])])
    }

    @Test("handles messages that arrived while it read datagrams before those datagrams")
    func takesMessagesBetweenBatches() async throws {
        let peer = try UDPPort(.loopback())
        shard.post { [weak shard = shard] handler, _ in
            handler.onDatagrams = { [weak handler] in
                handler?.awaitsMessages = true
                _ = shard?.post { handler, _ in handler.report(.message(1)) }
            }
        }
        peer.send([5], to: port.loopback())
        var seen: [Recorder.Event] = []
        for await event in events {
            seen.append(event)
            if seen.count == 3 { break }
        }
        #expect(seen == [.datagrams([[5]]), .message(1), .messagesTaken])
    }

    @Test("calls at the deadline and not before it")
    func meetsDeadlines() async {
        for microseconds in [0, 50, 2_500] {
            shard.post { handler, now in handler.nextDeadline = now + .microseconds(microseconds) }
            for await event in events {
                #expect(event == .deadline(isDue: true))
                break
            }
        }
        shard.post { handler, now in handler.report(.message(1)) }
        for await event in events {
            #expect(event == .message(1))
            break
        }
        #expect(shard.counters.overdueDeadlines == 0)
    }

    @Test("neither spins nor stops listening when a handler never moves its deadline")
    func pausesAtStuckDeadline() async {
        shard.post { handler, now in
            handler.nextDeadline = now
            handler.keepsDeadline = true
        }
        var deadlines = 0
        for await event in events {
            deadlines += event == .deadline(isDue: true) ? 1 : 0
            if deadlines == 5 { break }
        }
        shard.post { handler, _ in handler.report(.message(1)) }
        for await event in events where event == .message(1) { break }
        #expect(shard.counters.overdueDeadlines >= 4)
    }

    @Test("watches other descriptors until told not to")
    func watchesDescriptors() async throws {
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        let (ours, theirs) = (ends[0], ends[1])
        defer {
            close(ours)
            close(theirs)
        }
        shard.post { handler, _ in
            handler.watch = try? handler.context.watch(theirs, for: .readable) { [unowned handler] readiness in
                var byte: UInt8 = 0
                _ = read(theirs, &byte, 1)
                handler.report(.ready(readiness))
            }
            handler.report(.message(handler.watch == nil ? 0 : 1))
        }
        func next() async -> Recorder.Event? {
            for await event in events { return event }
            return nil
        }
        #expect(await next() == .message(1))
        #expect(write(ours, [1], 1) == 1)
        #expect(await next() == .ready(.readable))
        shard.post { handler, _ in
            if let watch = handler.watch { try? handler.context.modify(watch, for: .writable) }
            handler.report(.message(2))
        }
        #expect(await next() == .message(2))
        #expect(await next() == .ready(.writable))
        shard.post { handler, _ in
            if let watch = handler.watch {
                handler.context.unwatch(watch)
                handler.context.unwatch(watch)
            }
            handler.report(.message(3))
        }
        // The descriptor is always writable, so it may be reported several times before the message arrives.
        var event = await next()
        while event == .ready(.writable) { event = await next() }
        #expect(event == .message(3))
        shard.post { handler, _ in handler.report(.message(4)) }
        #expect(await next() == .message(4))
    }

    @Test("says when a descriptor cannot be watched")
    func refusesBadDescriptor() async {
        shard.post { handler, _ in
            do throws(SystemCallError) {
                _ = try handler.context.watch(-1, for: .readable) { _ in }
            } catch {
                handler.report(.message(Int(error.errorNumber)))
            }
        }
        for await event in events {
            #expect(event == .message(Int(EBADF)))
            break
        }
    }

    @Test("finishes what was posted, says goodbye and accepts nothing more when it is stopped")
    func stops() async {
        for number in 0..<100 { shard.post { handler, _ in handler.report(.message(number)) } }
        shard.stop()
        shard.stop()
        shard.join()
        shard.join()
        #expect(!shard.post { handler, _ in handler.report(.message(-1)) })
        var found: [Recorder.Event] = []
        for await event in events { found.append(event) }
        #expect(found == (0..<100).map { .message($0) } + [.stopped, .ended])
        #expect(shard.counters.messages == 100)
        #expect(shard.counters.processorTime > .zero)
    }

    @Test("can be stopped from itself, where waiting for it does nothing")
    func stopsFromItself() async {
        let shard = shard
        shard.post { _, _ in
            precondition(shard.isCurrent)
            shard.stop()
            shard.join()
        }
        shard.join()
        #expect(!shard.isCurrent)
        var found: [Recorder.Event] = []
        for await event in events { found.append(event) }
        #expect(found == [.stopped, .ended])
    }

    @Test("ends when its last holder lets it go")
    func endsWithLastReference() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: Recorder.Event.self)
        var other: ShardThread<Recorder>? = try ShardThread(name: "other", port: UDPPort(.loopback())) { context in
            Recorder(context) { event in
                continuation.yield(event)
                if event == .ended { continuation.finish() }
            }
        }
        other?.post { handler, _ in handler.report(.message(1)) }
        other = nil
        var found: [Recorder.Event] = []
        for await event in events { found.append(event) }
        #expect(found == [.message(1), .stopped, .ended])
    }

    @Test("is woken once for a burst of messages")
    func wakesOncePerBurst() throws {
        let mailbox = try ShardMailbox<Int>()
        #expect(mailbox.isEmpty)
        for number in 0..<5 { #expect(mailbox.post(number)) }
        var signals: UInt64 = 0
        #expect(read(mailbox.descriptor, &signals, 8) == 8)
        #expect(signals == 1)
        var messages: [Int] = []
        #expect(!mailbox.isEmpty)
        mailbox.take(into: &messages)
        #expect(messages == [0, 1, 2, 3, 4])
        #expect(mailbox.count == 0 && mailbox.isEmpty)
        #expect(mailbox.post(5))
        #expect(!mailbox.isEmpty)
        #expect(read(mailbox.descriptor, &signals, 8) == 8)
        #expect(signals == 1)
        #expect(mailbox.close() == [5])
        #expect(!mailbox.post(6))
        #expect(mailbox.count == 0 && mailbox.isEmpty)
    }
}
