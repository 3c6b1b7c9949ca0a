import Testing

@testable import PushAvStreamTransport

@Suite("Which recordings are deleted") struct RetentionPlanTests {
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_763_900_000_000

    /// Recordings of 100 bytes each, one a day, the oldest first.
    private func recordings(_ count: Int, of device: String = "yard") -> [RetentionPlan.Candidate] {
        (0..<count).map { index in
            let start = Self.now - Int64(count - index) * Self.day
            return .init(
                id: .init(device: device, start: start, epoch: 1, sequence: UInt32(index + 1)), end: start + 60_000,
                byteCount: 100)
        }
    }

    private func plan(
        _ retention: RecordingRetention, _ candidates: [RetentionPlan.Candidate], free: Int64 = 1 << 40,
        held: Set<RecordingSession.ID> = []
    ) -> RetentionPlan {
        let bytes = Dictionary(grouping: candidates, by: \.id.device).mapValues { Int64($0.count) * 100 }
        return RetentionPlan(
            retention, now: Self.now, free: free, bytes: bytes, candidates: candidates, isHeld: held.contains)
    }

    @Test func `without limits, everything stays while there is room`() {
        #expect(plan(RecordingRetention(headroom: 0), recordings(5)).deletions.isEmpty)
        #expect(plan(RecordingRetention(headroom: 1_000), recordings(5), free: 1_000).deletions.isEmpty)
    }

    @Test func `the oldest leave until the headroom is free again`() {
        let candidates = recordings(5)
        let deletions = plan(RecordingRetention(headroom: 1_000), candidates, free: 750).deletions
        #expect(deletions.map(\.candidate) == Array(candidates.prefix(3)))
        #expect(deletions.allSatisfy { $0.reason == .headroom })
    }

    @Test func `what is older than its device's limit leaves`() {
        let candidates = recordings(5)
        let retention = RecordingRetention(
            devices: ["yard": .init(maximumAge: 3 * Self.day)], headroom: 0)
        let deletions = plan(retention, candidates).deletions
        // The third ended a minute less than three days ago.
        #expect(deletions.map(\.candidate) == Array(candidates.prefix(2)))
        #expect(deletions.allSatisfy { $0.reason == .age })
        let other = recordings(5, of: "door")
        #expect(plan(retention, other).deletions.isEmpty)
    }

    @Test func `what is too old leaves a file system that does not know how much room it has`() {
        let candidates = recordings(2)
        let retention = RecordingRetention(standard: .init(maximumAge: Self.day / 2), headroom: 1_000)
        #expect(plan(retention, candidates, free: .max).deletions.map(\.candidate) == candidates)
    }

    @Test func `a device over its bytes loses its own oldest, and a full house the oldest of all`() {
        let candidates = (recordings(4, of: "door") + recordings(2)).sorted { $0.id.start < $1.id.start }
        let ofDevice = plan(RecordingRetention(devices: ["door": .init(maximumBytes: 250)], headroom: 0), candidates)
        #expect(ofDevice.deletions.map(\.candidate.id.device) == ["door", "door"])
        #expect(ofDevice.deletions.allSatisfy { $0.reason == .deviceBytes })
        let ofHouse = plan(RecordingRetention(maximumBytes: 250, headroom: 0), candidates)
        #expect(ofHouse.deletions.map(\.candidate) == Array(candidates.prefix(4)))
        #expect(ofHouse.deletions.allSatisfy { $0.reason == .totalBytes })
    }

    @Test func `what is held stays, the next ones leave in its place, and its bytes are counted`() {
        let candidates = recordings(5)
        let plan = plan(
            RecordingRetention(headroom: 1_000), candidates, free: 850,
            held: [candidates[0].id, candidates[2].id])
        #expect(plan.deletions.map(\.candidate) == [candidates[1], candidates[3]])
        #expect(plan.heldBytes == 200)
    }
}
