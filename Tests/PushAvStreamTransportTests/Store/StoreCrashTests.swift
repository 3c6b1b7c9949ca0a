import Glibc
import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("What a store has acknowledged survives")
struct StoreCrashTests {
    /// Runs a script until the file system stops, and returns what was acknowledged.
    private func run(
        _ script: WriterScript, on fileSystem: SimulatedFileSystem,
        index: any RecordingIndexing = MemoryRecordingIndex()
    ) -> Acknowledged {
        var acknowledged = Acknowledged()
        guard
            let store = try? RecordingStore(
                root: "/state/recordings", fileSystem: fileSystem, index: index, now: { Self.now })
        else { return acknowledged }
        for step in script.steps {
            switch step {
            case .take(let output, let id):
                acknowledged.willTake(output, of: id)
                guard (try? store.take(output, of: id)) != nil else { return acknowledged }
                acknowledged.didTake(output, of: id)
            case .delete(let id):
                acknowledged.willDelete(id)
                guard (try? store.delete(id)) != nil else { return acknowledged }
                acknowledged.didDelete(id)
            }
        }
        return acknowledged
    }

    private static let now: Int64 = 1_763_900_000_000

    private func check(
        _ acknowledged: Acknowledged, _ fileSystem: SimulatedFileSystem,
        index: any RecordingIndexing = MemoryRecordingIndex(), seed: UInt64
    ) throws {
        let store = try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: index, now: { Self.now })
        let report = try store.recover()
        #expect(report.unreadable.isEmpty)
        let problems = acknowledged.broken(in: store, read: fileSystem.bytes)
        #expect(problems.isEmpty)
        #expect(try store.unreadable().isEmpty)
        // A second start finds nothing to do.
        let again = try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: store.index, now: { Self.now })
        #expect(try again.recover() == RecoveryReport())
        // And recording goes on.
        var recorder = FakeRecorder(device: "camera0", epoch: 1_000_000, start: Self.now, seed: seed)
        let outputs = recorder.session()
        guard case .began(let session) = outputs.first else { return }
        for output in outputs { try again.take(output, of: session.id) }
        #expect(try again.recording(session.id).end != nil)
        #expect(try again.verify(session.id).problems.isEmpty)
    }

    @Test("a power cut at any moment, except one chunk that was being written", arguments: 0..<24)
    func powerCut(block: UInt64) throws {
        for seed in block * 25..<(block + 1) * 25 { try stop(seed: seed) { $0.cutPower(seed: seed) } }
    }

    @Test("a kill at any moment", arguments: 0..<24)
    func kill(block: UInt64) throws {
        for seed in block * 25..<(block + 1) * 25 { try stop(seed: seed) { $0.restart() } }
    }

    @Test("a kill or a power cut at any moment, with an index that survives it", arguments: 0..<24)
    func survivingIndex(block: UInt64) throws {
        for seed in block * 25..<(block + 1) * 25 {
            var random = RandomSource.seeded(seed)
            let script = WriterScript(seed: seed % 8)
            let whole = SimulatedFileSystem()
            _ = run(script, on: whole, index: SurvivingIndex(whole))
            var faults = SimulatedFileSystem.Faults()
            faults.stopsAt = Int.random(in: 1...whole.calls, using: &random)
            let fileSystem = SimulatedFileSystem(faults)
            let index = SurvivingIndex(fileSystem)
            let acknowledged = run(script, on: fileSystem, index: index)
            if seed.isMultiple(of: 2) { fileSystem.restart() } else { fileSystem.cutPower(seed: seed) }
            try check(acknowledged, fileSystem, index: index, seed: seed)
            // What is listed is there, as a whole.
            for id in try index.ids() {
                let names = try fileSystem.names(in: RecordingLayout(root: "/state/recordings").folder(of: id))
                #expect(names.contains(RecordingLayout.sessionFile))
                #expect(!names.contains(RecordingLayout.tombstone), "seed \(seed): \(id) was deleted and is listed")
            }
        }
    }

    private func stop(seed: UInt64, _ stop: (SimulatedFileSystem) -> Void) throws {
        var random = RandomSource.seeded(seed)
        let script = WriterScript(seed: seed % 8)
        let whole = SimulatedFileSystem()
        _ = run(script, on: whole)
        var faults = SimulatedFileSystem.Faults()
        if Bool.random(using: &random) { faults.shortWrites = Int.random(in: 1...300, using: &random) }
        // Short writes make more calls than the first run had, so the end of the script is reached as well.
        faults.stopsAt = Int.random(in: 1...whole.calls, using: &random)
        let fileSystem = SimulatedFileSystem(faults)
        let acknowledged = run(script, on: fileSystem)
        stop(fileSystem)
        try check(acknowledged, fileSystem, seed: seed)
    }

    @Test("two power cuts, the second while the first is being recovered from", arguments: 0..<12)
    func powerCutDuringRecovery(block: UInt64) throws {
        for seed in block * 10..<(block + 1) * 10 {
            var random = RandomSource.seeded(seed)
            let script = WriterScript(seed: seed % 8)
            let whole = SimulatedFileSystem()
            _ = run(script, on: whole)
            var faults = SimulatedFileSystem.Faults()
            faults.stopsAt = Int.random(in: 1...whole.calls, using: &random)
            let fileSystem = SimulatedFileSystem(faults)
            let acknowledged = run(script, on: fileSystem)
            fileSystem.cutPower(seed: seed)
            faults.stopsAt = fileSystem.calls + Int.random(in: 1...20, using: &random)
            fileSystem.faults = faults
            let store = try? RecordingStore(
                root: "/state/recordings", fileSystem: fileSystem, index: MemoryRecordingIndex(), now: { Self.now })
            _ = try? store?.recover()
            fileSystem.cutPower(seed: seed + 1)
            try check(acknowledged, fileSystem, seed: seed)
        }
    }

    @Test("a disk that fails a call, and goes on", arguments: 0..<12)
    func oneFault(block: UInt64) throws {
        for seed in block * 20..<(block + 1) * 20 {
            var random = RandomSource.seeded(seed)
            let script = WriterScript(seed: seed % 8)
            let whole = SimulatedFileSystem()
            _ = run(script, on: whole)
            var faults = SimulatedFileSystem.Faults()
            for _ in 0..<3 {
                faults.failing[Int.random(in: 1...whole.calls, using: &random)] =
                    [EIO, ENOSPC].randomElement(using: &random)
            }
            let fileSystem = SimulatedFileSystem(faults)
            // The first fault ends the script; what the store does in its own defence may meet the others.
            let acknowledged = run(script, on: fileSystem)
            fileSystem.cutPower(seed: seed)
            try check(acknowledged, fileSystem, seed: seed)
        }
    }
}

/// An index that outlives its process. Each of its changes may be the one at which everything stops.
private final class SurvivingIndex: RecordingIndexing {
    private let inner = MemoryRecordingIndex()
    private let fileSystem: SimulatedFileSystem

    init(_ fileSystem: SimulatedFileSystem) { self.fileSystem = fileSystem }

    private func step() throws(RecordingIndexFault) {
        do throws(FileSystemFault) { try fileSystem.step() } catch {
            throw RecordingIndexFault(path: "index", reason: "stopped")
        }
    }

    func add(_ recordings: [IndexedRecording]) throws(RecordingIndexFault) {
        try step()
        try inner.add(recordings)
    }

    func remove(_ ids: [RecordingSession.ID]) throws(RecordingIndexFault) {
        try step()
        try inner.remove(ids)
    }

    func ids() throws(RecordingIndexFault) -> Set<RecordingSession.ID> { try inner.ids() }
    func recordings(_ query: RecordingQuery) throws(RecordingIndexFault) -> [RecordingSummary] {
        try inner.recordings(query)
    }
    func recording(_ id: RecordingSession.ID) throws(RecordingIndexFault) -> IndexedRecording? {
        try inner.recording(id)
    }
    func spans(of device: String) throws(RecordingIndexFault) -> [Range<Int64>] { try inner.spans(of: device) }
    func totals() throws(RecordingIndexFault) -> [String: RecordingTotals] { try inner.totals() }
}
