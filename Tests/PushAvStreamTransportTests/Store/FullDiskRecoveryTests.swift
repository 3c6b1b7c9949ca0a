import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("A start on a full disk") struct FullDiskRecoveryTests {
    private static let now: Int64 = 1_763_900_000_000

    private func makeStore(
        _ fileSystem: SimulatedFileSystem, _ events: Locked<[StoreEvent]> = Locked([])
    ) throws -> RecordingStore {
        try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: MemoryRecordingIndex(), now: { Self.now },
            report: { event in events.withLock { $0.append(event) } })
    }

    @Test(
        "A recording whose end does not fit is completed as soon as there is room", arguments: 0..<20 as Range<UInt64>)
    func completedLater(seed: UInt64) throws {
        let fileSystem = SimulatedFileSystem()
        var recorder = FakeRecorder(device: "camera", start: 1_763_800_000_000, seed: seed)
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { return }
        let first = try makeStore(fileSystem)
        for output in outputs.dropLast() { try first.take(output, of: session.id) }
        // The process is killed, and something else has taken the room.
        fileSystem.faults.capacity = 0
        let events = Locked<[StoreEvent]>([])
        let second = try makeStore(fileSystem, events)
        #expect(try second.recover().unreadable.count == 1)
        #expect(try second.recordings(RecordingQuery()).isEmpty)
        #expect(second.maintain().recovered.isEmpty)
        let complaints = events.withLock { $0.count { if case .unreadable = $0 { true } else { false } } }
        #expect(complaints == 1)
        fileSystem.faults.capacity = 1 << 40
        #expect(second.maintain().recovered == [session.id])
        #expect(try second.recordings(RecordingQuery()).map(\.id) == [session.id])
        #expect(try second.recording(session.id).end?.reason == .interrupted)
        #expect(try second.verify(session.id).problems.isEmpty)
        // Once is enough.
        #expect(second.maintain().recovered.isEmpty)
    }
}
