import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("The queue of uploads") struct UploadQueueTests {
    private typealias Fixtures = UploadFixtures

    @Test(arguments: UploadInterface.allCases)
    func `objects leave in the order of their interface`(interface: UploadInterface) throws {
        var queue = UploadQueue(random: .seeded(1))
        let session = Fixtures.session(interface: interface)
        queue.open(session)
        for number in 1...2 as ClosedRange<UInt32> {
            for track in 0...1 { queue.segmentEnded(Fixtures.segment(session, track, number), in: session.id) }
        }
        queue.end(session.id)
        var paths: [String] = []
        var types: Set<String> = []
        while let request = queue.ready(at: .zero).first {
            paths.append(request.path)
            types.insert(request.contentType)
            #expect((request.segmentSeconds != nil) == (interface == .hls && request.path.hasSuffix("m4s")))
            queue.finished(request.attempt, .accepted, at: .zero)
            // The other track's segment began at the same time.
            for other in queue.attempts.keys.sorted() {
                paths.append(queue.attempts[other].map { $0.item.path(in: session) } ?? "")
                queue.finished(other, .accepted, at: .zero)
            }
        }
        let segments = [
            "session_1/video/segment_1001.m4s", "session_1/audio/segment_1001.m4s",
            "session_1/video/segment_1002.m4s", "session_1/audio/segment_1002.m4s",
        ]
        let video = "session_1/video/video.init"
        let audio = "session_1/audio/audio.init"
        switch interface {
        case .interface1: #expect(paths == [video, audio] + segments)
        case .dash:
            #expect(paths == ["session_1/index.mpd", video, audio] + segments + ["session_1/index.mpd"])
            #expect(types.contains("application/dash+xml"))
        case .hls:
            let playlists = ["session_1/video/index.m3u8", "session_1/audio/index.m3u8"]
            #expect(
                paths == ["session_1/index.m3u8", playlists[0], video, playlists[1], audio] + segments + playlists)
        }
        #expect(types.isSuperset(of: ["video/mp4", "video/iso.segment"]))
        #expect(queue.takeEvents() == [.completed(session.id, folder: session.folder, dropped: 0)])
        #expect(queue.status.byteCount == 0)
        #expect(queue.status.segments == 0)
        #expect(!queue.holds(session.id))
    }

    @Test func `a server without an answer is tried again with a back-off, one attempt at a time`() throws {
        var queue = UploadQueue(random: .seeded(2))
        for sequence in 1...3 as ClosedRange<UInt32> { queue.open(Fixtures.session(sequence)) }
        var now = Instant.zero
        for request in queue.ready(at: now) { queue.finished(request.attempt, .unreachable("refused"), at: now) }
        var waits: [Double] = []
        for _ in 0..<12 {
            #expect(queue.ready(at: now).isEmpty)
            let next = try #require(queue.nextDeadline(after: now))
            waits.append((next - now).inSeconds)
            now = next
            let requests = queue.ready(at: now)
            #expect(requests.count == 1)
            #expect(queue.nextDeadline(after: now) == nil)
            queue.finished(requests[0].attempt, .unreachable("refused"), at: now)
        }
        #expect(waits.allSatisfy { $0 <= 300 })
        #expect(waits.suffix(2).allSatisfy { $0 >= 150 })
        #expect(waits[0] < 8)
        // Once it answers, everything goes on at once.
        now = try #require(queue.nextDeadline(after: now))
        let probe = try #require(queue.ready(at: now).first)
        queue.finished(probe.attempt, .accepted, at: now)
        #expect(queue.ready(at: now).count == 3)
    }

    @Test func `a refused object holds up its own recording only, and raises an alarm`() throws {
        var queue = UploadQueue(random: .seeded(3))
        let bad = Fixtures.session(1, tracks: 1)
        let good = Fixtures.session(2, tracks: 1)
        for session in [bad, good] {
            queue.open(session)
            queue.segmentEnded(Fixtures.segment(session, 0, 1), in: session.id)
            queue.end(session.id)
        }
        var now = Instant.zero
        var refusals: [Instant] = []
        for _ in 0..<40 {
            for request in queue.ready(at: now) {
                let isBad = request.session == bad.id && request.path.hasSuffix("m4s")
                if isBad { refusals.append(now) }
                queue.finished(request.attempt, isBad ? .refused(status: 403) : .accepted, at: now)
            }
            now += .seconds(15)
        }
        let events = queue.takeEvents()
        #expect(events.contains(.completed(good.id, folder: good.folder, dropped: 0)))
        let alarms = events.filter { if case .failing(bad.id, _, _) = $0 { true } else { false } }
        #expect(alarms.count == 1)
        #expect(zip(refusals, refusals.dropFirst()).allSatisfy { ($1 - $0) >= .seconds(30) })
        #expect(refusals.count > 2)
        // It is still there, and goes as soon as the server takes it.
        #expect(queue.status.segments == 1)
        now += .seconds(600)
        let last = try #require(queue.ready(at: now).first)
        queue.finished(last.attempt, .accepted, at: now)
        #expect(
            queue.takeEvents() == [
                .recovered(bad.id, bad.destination), .completed(bad.id, folder: bad.folder, dropped: 0),
            ])
    }

    @Test func `Retry-After is respected up to an hour`() throws {
        var queue = UploadQueue(random: .seeded(4))
        queue.open(Fixtures.session(1))
        let request = try #require(queue.ready(at: .zero).first)
        queue.finished(request.attempt, .refused(status: 503, retryAfter: .seconds(120)), at: .zero)
        #expect(queue.nextDeadline(after: .zero) == .zero + .seconds(120))
        let again = try #require(queue.ready(at: .zero + .seconds(120)).first)
        queue.finished(again.attempt, .refused(status: 503, retryAfter: .seconds(86_400)), at: .zero)
        #expect(queue.nextDeadline(after: .zero) == .zero + .seconds(3_600))
    }

    @Test func `a destination that hangs uses up its own attempts only`() {
        var queue = UploadQueue(random: .seeded(5))
        for sequence in 1...20 as ClosedRange<UInt32> {
            queue.open(Fixtures.session(sequence, url: "https://hangs.example/"))
        }
        let other = Fixtures.session(21, device: "d2", url: "https://answers.example/")
        queue.open(other)
        let requests = queue.ready(at: .zero)
        #expect(requests.filter { $0.destination.url == "https://hangs.example/" }.count == 4)
        #expect(requests.contains { $0.session == other.id })
        // What happens now does not wait behind the backlog.
        #expect(requests[0].session.sequence == 20)
    }

    @Test func `a full queue drops the oldest footage, and its manifest does not list it`() throws {
        var queue = UploadQueue(limits: UploadLimits(maximumByteCount: 3_500), random: .seeded(6))
        let old = Fixtures.session(1, interface: .dash, tracks: 1)
        let new = Fixtures.session(2, interface: .dash, tracks: 1)
        for session in [new, old] {
            queue.open(session)
            for number in 1...3 as ClosedRange<UInt32> {
                queue.segmentEnded(Fixtures.segment(session, 0, number), in: session.id)
            }
            queue.end(session.id)
        }
        #expect(queue.status.byteCount <= 3_500)
        let dropped = queue.takeEvents().compactMap { event -> RecordingSession.ID? in
            if case .dropped(let id, 1, 1_000, .queueFull) = event { id } else { nil }
        }
        #expect(dropped == [old.id, old.id, old.id])
        var manifest = ""
        while let request = queue.ready(at: .zero).first {
            #expect(request.session == new.id)
            if request.item == .finalManifest, case .text(let text) = request.body { manifest = text }
            queue.finished(request.attempt, .accepted, at: .zero)
        }
        #expect(manifest.contains("startNumber=\"1001\""))
    }

    @Test func `only footage that was recorded after the privacy switch is discarded`() throws {
        var queue = UploadQueue(random: .seeded(7))
        let session = Fixtures.session(1, tracks: 1)
        let other = Fixtures.session(1, device: "d2", tracks: 1)
        for one in [session, other] {
            queue.open(one)
            let head = try #require(queue.ready(at: .zero).first { $0.session == one.id })
            queue.finished(head.attempt, .accepted, at: .zero)
            for number in 1...3 as ClosedRange<UInt32> {
                queue.segmentEnded(
                    Fixtures.segment(one, 0, number), in: one.id, captured: Instant.zero + .seconds(4 * Int(number)))
            }
        }
        _ = queue.ready(at: .zero)
        queue.discard(device: "d1", capturedFrom: .zero + .seconds(8))
        #expect(queue.takeEvents() == [.dropped(session.id, segments: 2, byteCount: 2_000, reason: .privacy)])
        #expect(queue.status.segments == 4)
        queue.discard(device: "d1", capturedFrom: .zero)
        // The first segment is on its way, and is stopped.
        #expect(queue.takeEvents().contains { if case .cancel = $0 { true } else { false } })
    }

    @Test func `the wall clock does not decide what a privacy switch discards, and footage of an earlier run stays`() {
        var queue = UploadQueue(random: .seeded(7))
        // Both recordings say that they are of this moment. The clock was wrong when they were made.
        let earlier = Fixtures.session(1, tracks: 1)
        let now = Fixtures.session(2, tracks: 1)
        for one in [earlier, now] { queue.open(one) }
        queue.segmentEnded(Fixtures.segment(earlier, 0, 1), in: earlier.id)
        queue.segmentEnded(Fixtures.segment(now, 0, 1), in: now.id, captured: Instant.zero + .seconds(10))
        queue.segmentGrew(Fixtures.segment(now, 0, 2), in: now.id, captured: Instant.zero + .seconds(14))
        queue.discard(device: "d1", capturedFrom: .zero + .seconds(12))
        #expect(queue.takeEvents() == [.dropped(now.id, segments: 1, byteCount: 1_000, reason: .privacy)])
        queue.discard(device: "d1", capturedFrom: .zero)
        #expect(queue.takeEvents() == [.dropped(now.id, segments: 1, byteCount: 1_000, reason: .privacy)])
        #expect(queue.status.segments == 1)
    }

    @Test(arguments: [411, 501])
    func `a server that does not take an object with a length is asked again after a minute`(status: Int) throws {
        var queue = UploadQueue(random: .seeded(12))
        let session = Fixtures.session(1, tracks: 1)
        queue.open(session)
        let head = try #require(queue.ready(at: .zero).first)
        queue.finished(head.attempt, .refused(status: status), at: .zero)
        #expect(queue.ready(at: .zero).isEmpty)
        let next = try #require(queue.nextDeadline(after: .zero))
        #expect(next >= .zero + .seconds(30) && next <= .zero + .seconds(60))
        #expect(queue.takeEvents().contains { if case .failing(session.id, _, _) = $0 { true } else { false } })
    }

    @Test func `the uploads of a connection end with the right of its principal, and only those`() throws {
        var queue = UploadQueue(random: .seeded(9))
        let ended = Fixtures.session(1, tracks: 1)
        let others = [Fixtures.session(2, tracks: 1, connection: 2), Fixtures.session(1, device: "d2", tracks: 1)]
        for one in [ended] + others {
            queue.open(one)
            let head = try #require(queue.ready(at: .zero).first { $0.session == one.id })
            queue.finished(head.attempt, .accepted, at: .zero)
            for number in 1...2 as ClosedRange<UInt32> {
                queue.segmentEnded(Fixtures.segment(one, 0, number), in: one.id)
            }
        }
        _ = queue.ready(at: .zero)
        let onTheWay = try #require(queue.attempts.first { $0.value.session == ended.id }?.key)
        queue.endUploads(of: [1], on: "d1")
        let events = queue.takeEvents()
        #expect(events.contains(.cancel(attempt: onTheWay)))
        #expect(events.contains(.dropped(ended.id, segments: 2, byteCount: 2_000, reason: .revoked)))
        // It is marked in its folder, so that no later start uploads it.
        #expect(events.contains(.completed(ended.id, folder: ended.folder, dropped: 2)))
        #expect(!queue.holds(ended.id))
        for one in others { #expect(queue.holds(one.id)) }
        // It is still being recorded. What the recorder adds is not uploaded, and neither is its end.
        queue.finished(onTheWay, .cancelled, at: .zero)
        queue.segmentEnded(Fixtures.segment(ended, 0, 3), in: ended.id)
        queue.end(ended.id)
        let requests = queue.ready(at: .zero)
        #expect(requests.allSatisfy { $0.session != ended.id })
        let restored = UploadQueue(records: queue.takeRecords())
        #expect(!restored.holds(ended.id) && restored.holds(others[0].id))
    }

    @Test func `a recording that is about to begin on a connection without a right stays here`() throws {
        let destinations = UploadDestinations()
        let recording = RecordingSession(
            id: .init(device: "d1", start: 1_700_000_000_000, epoch: 1, sequence: 1), connection: 2, number: 1,
            trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_700_000_000_000, tracks: [])
        var connection = TransportConnection(
            id: 2, status: .active, options: Fixture.options(), owner: "phone", expiry: nil)
        destinations.set(connection, of: "d1")
        #expect(destinations.destination(of: recording)?.url == "https://ingest.example/in/")
        destinations.end(connection, of: "d1")
        #expect(destinations.destination(of: recording) == nil)
        // The order to record was on its way.
        destinations.set(connection, of: "d1")
        #expect(destinations.destination(of: recording) == nil)
        // The number may come again, for somebody else.
        connection.owner = "tablet"
        destinations.set(connection, of: "d1")
        #expect(destinations.destination(of: recording) != nil)
    }

    @Test func `nothing is remembered of connections that ended with their right once their orders have arrived`() {
        let destinations = UploadDestinations()
        for id in 2...200 as ClosedRange<UInt16> {
            let connection = TransportConnection(
                id: id, status: .active, options: Fixture.options(), owner: "phone \(id)", expiry: nil)
            destinations.set(connection, of: "d1")
            destinations.end(connection, of: "d1")
            destinations.set(connection, of: "d1")
            destinations.settle(connection, of: "d1")
        }
        #expect(destinations.remembered == 0)
        // What is said late about one principal does not concern another one with the same number.
        let first = TransportConnection(
            id: 2, status: .active, options: Fixture.options(), owner: "phone", expiry: nil)
        var second = first
        second.owner = "tablet"
        destinations.end(first, of: "d1")
        destinations.end(second, of: "d1")
        destinations.settle(first, of: "d1")
        #expect(destinations.remembered == 1)
    }

    @Test func `a segment is uploaded while it grows, and as a whole after a failure`() throws {
        var queue = UploadQueue(random: .seeded(8))
        let session = Fixtures.session(1, tracks: 1, growing: true)
        queue.open(session)
        let head = try #require(queue.ready(at: .zero).first)
        queue.finished(head.attempt, .accepted, at: .zero)
        let first = Fixtures.segment(session, 0, 1)
        queue.segmentGrew(first, in: session.id)
        let growing = try #require(queue.ready(at: .zero).first)
        #expect(growing.body == .growing("d1/2023-11-14/1/video-000001.m4s"))
        queue.segmentEnded(first, in: session.id)
        queue.finished(growing.attempt, .refused(status: 411), at: .zero)
        let whole = try #require(queue.ready(at: .zero).first)
        #expect(whole.body == .file("d1/2023-11-14/1/video-000001.m4s", byteCount: 1_000))
        queue.finished(whole.attempt, .accepted, at: .zero)
        // The server does not take bodies of unknown length, so the next one waits for its end.
        let second = Fixtures.segment(session, 0, 2)
        queue.segmentGrew(second, in: session.id)
        #expect(queue.ready(at: .zero).isEmpty)
        queue.segmentEnded(second, in: session.id)
        #expect(queue.ready(at: .zero).count == 1)
    }

    @Test func `an answer that comes before the end of a growing segment is not an answer to all of it`() throws {
        var queue = UploadQueue(random: .seeded(8))
        let session = Fixtures.session(1, tracks: 1, growing: true)
        queue.open(session)
        let head = try #require(queue.ready(at: .zero).first)
        queue.finished(head.attempt, .accepted, at: .zero)
        let segment = Fixtures.segment(session, 0, 1)
        queue.segmentGrew(segment, in: session.id)
        let growing = try #require(queue.ready(at: .zero).first)
        queue.finished(growing.attempt, .accepted, at: .zero)
        #expect(queue.ready(at: .zero).isEmpty)
        queue.segmentEnded(segment, in: session.id)
        let whole = try #require(queue.ready(at: .zero).first)
        #expect(whole.body == .file("d1/2023-11-14/1/video-000001.m4s", byteCount: 1_000))
    }

    @Test func `HLS never uploads a growing segment, because its header states the duration`() throws {
        var queue = UploadQueue(random: .seeded(9))
        let session = Fixtures.session(1, interface: .hls, tracks: 1, growing: true)
        queue.open(session)
        while let request = queue.ready(at: .zero).first { queue.finished(request.attempt, .accepted, at: .zero) }
        let segment = Fixtures.segment(session, 0, 1)
        queue.segmentGrew(segment, in: session.id)
        #expect(queue.ready(at: .zero).isEmpty)
        queue.segmentEnded(segment, in: session.id)
        #expect(queue.ready(at: .zero).first?.segmentSeconds == "4.0")
    }

    @Test func `a missing file is given up, and the rest goes on`() throws {
        var queue = UploadQueue(random: .seeded(10))
        let session = Fixtures.session(1, tracks: 1)
        queue.open(session)
        for number in 1...2 as ClosedRange<UInt32> {
            queue.segmentEnded(Fixtures.segment(session, 0, number), in: session.id)
        }
        queue.end(session.id)
        var events: [UploadEvent] = []
        while let request = queue.ready(at: .zero).first {
            let isMissing = request.item == .segment(track: 0, number: 1)
            queue.finished(request.attempt, isMissing ? .sourceMissing : .accepted, at: .zero)
            events += queue.takeEvents()
        }
        #expect(
            events == [
                .dropped(session.id, segments: 1, byteCount: 1_000, reason: .missing),
                .completed(session.id, folder: session.folder, dropped: 1),
            ])
    }

    @Test func `a deleted recording leaves with everything that runs`() throws {
        var queue = UploadQueue(random: .seeded(11))
        let session = Fixtures.session(1, tracks: 1)
        queue.open(session)
        let head = try #require(queue.ready(at: .zero).first)
        queue.remove(session.id)
        #expect(queue.takeEvents() == [.cancel(attempt: head.attempt)])
        queue.finished(head.attempt, .cancelled, at: .zero)
        #expect(queue.ready(at: .zero).isEmpty)
        #expect(queue.routes.isEmpty)
    }
}
