import Testing
import Transport

@testable import PushAvStreamTransport

/// The bound of the queue across restarts.
@Suite struct UploadBoundRestartTests {
    private typealias Fixtures = UploadFixtures

    private func restored(_ records: [UploadRecord], _ limits: UploadLimits) -> UploadQueue {
        UploadQueue(records: records, limits: limits, random: .seeded(0))
    }

    @Test func `a segment that was on its way while the queue was full is still known after a restart`() throws {
        let limits = UploadLimits(maximumByteCount: 3_000)
        var queue = UploadQueue(limits: limits, random: .seeded(1))
        let session = Fixtures.session(tracks: 1)
        queue.open(session)
        let header = try #require(queue.ready(at: .zero).first)
        queue.finished(header.attempt, .accepted, at: .zero)
        for number in 1...3 as ClosedRange<UInt32> {
            queue.segmentEnded(Fixtures.segment(session, 0, number), in: session.id)
        }
        let first = try #require(queue.ready(at: .zero).first)
        #expect(first.item == .segment(track: 0, number: 1))
        // The second one leaves, because the first one is being uploaded.
        queue.segmentEnded(Fixtures.segment(session, 0, 4), in: session.id)
        let records = queue.takeRecords()
        #expect(records.last == .dropped(session.id, track: 0, number: 2))
        var before = restored(records, limits)
        #expect(before.ready(at: .zero).map(\.item) == [.segment(track: 0, number: 1)])
        #expect(before.takeEvents().isEmpty)
        queue.finished(first.attempt, .accepted, at: .zero)
        let after = restored(records + queue.takeRecords(), limits)
        #expect(after.snapshot == queue.snapshot)
    }

    @Test func `a full queue that was stored as a whole loses nothing in a restart`() throws {
        let limits = UploadLimits(maximumByteCount: 3_000)
        var queue = UploadQueue(limits: limits, random: .seeded(1))
        let old = Fixtures.session(1, tracks: 1)
        let new = Fixtures.session(2, tracks: 1)
        queue.open(new)
        queue.segmentEnded(Fixtures.segment(new, 0, 1), in: new.id)
        for _ in 0..<2 {
            let request = try #require(queue.ready(at: .zero).first)
            queue.finished(request.attempt, .accepted, at: .zero)
        }
        #expect(queue.status.byteCount == 0)
        // Footage of another camera, which began to record earlier, fills the queue.
        queue.open(old)
        for number in 1...3 as ClosedRange<UInt32> {
            queue.segmentEnded(Fixtures.segment(old, 0, number), in: old.id)
        }
        #expect(queue.status.byteCount == 3_000)
        _ = queue.takeEvents()
        var later = restored(queue.snapshot, limits)
        #expect(later.snapshot == queue.snapshot)
        #expect(later.takeEvents().isEmpty)
    }

    @Test func `a lower bound after a restart drops the oldest footage, and stores that`() {
        var queue = UploadQueue(random: .seeded(1))
        let session = Fixtures.session(tracks: 1)
        queue.open(session)
        for number in 1...4 as ClosedRange<UInt32> {
            queue.segmentEnded(Fixtures.segment(session, 0, number), in: session.id)
        }
        var later = restored(queue.takeRecords(), UploadLimits(maximumByteCount: 2_500))
        #expect(later.status.byteCount == 2_000)
        let records = later.takeRecords()
        #expect(records == [1, 2].map { UploadRecord.dropped(session.id, track: 0, number: $0) })
        let event = UploadEvent.dropped(session.id, segments: 1, byteCount: 1_000, reason: .queueFull)
        #expect(later.takeEvents() == [event, event])
    }
}
