import Foundation
import Glibc
import PushAvStreamTransport
import RecordingFakes

// Records without end, for tests that kill it or fill its disk.
//
//   recording-writer record ROOT SEED   writes `begin N` and `done N` for output N of the seed's script
//   recording-writer fill ROOT          records until the disk is full, makes room, records again, and verifies all
let arguments = CommandLine.arguments
switch (arguments.dropFirst().first, arguments.count) {
case ("record", 4): record(root: arguments[2], seed: UInt64(arguments[3]) ?? 0)
case ("fill", 3): fill(root: arguments[2])
default:
    say("usage: recording-writer record ROOT SEED | fill ROOT")
    exit(2)
}

func record(root: String, seed: UInt64) {
    do {
        let store = try RecordingStore(root: root, index: MemoryRecordingIndex(), now: { 1_763_900_000_000 })
        for (number, step) in WriterScript(seed: seed).steps.enumerated() {
            say("begin \(number)")
            switch step {
            case .take(let output, let id): try store.take(output, of: id)
            case .delete(let id): try store.delete(id)
            }
            say("done \(number)")
        }
        say("end")
    } catch {
        say("fault \(error)")
        exit(1)
    }
}

/// What the store should not do.
struct Surprise: Error, CustomStringConvertible {
    var description: String
}

func fill(root: String) {
    do {
        let store = try RecordingStore(
            root: root, index: MemoryRecordingIndex(), retention: RecordingRetention(headroom: 0),
            now: { 1_763_900_000_000 })
        var shape = FakeRecorder.Shape()
        shape.chunks = 200
        shape.payload = 1_000...60_000
        var recorder = FakeRecorder(device: "camera", start: 1_763_800_000_000, seed: 1, shape: shape)
        var acknowledged = Acknowledged()
        for round in 1...3 {
            fillUp(store, &recorder, &acknowledged)
            guard case .full = store.condition else { throw Surprise(description: "\(root) is not full") }
            say("full \(round) after \(store.counters.chunkBytes) bytes, \(store.counters.refusedFull) refused")
            // Retention makes room.
            store.retention = RecordingRetention(headroom: 1 << 20)
            let deleted = store.maintain().deleted
            for id in deleted { acknowledged.willDelete(id); acknowledged.didDelete(id) }
            guard !deleted.isEmpty, store.condition == .ready else {
                throw Surprise(description: "\(root) does not resume: \(store.condition)")
            }
            store.retention = RecordingRetention(headroom: 0)
            let problems = acknowledged.broken(in: store) { path in
                FileManager.default.contents(atPath: path).map { Array($0) }
            }
            for problem in problems { say("broken \(problem)") }
            let again = try RecordingStore(root: root, index: MemoryRecordingIndex(), now: { 1_763_900_000_000 })
            let report = try again.recover()
            guard report.interrupted == 0, report.unreadable.isEmpty else {
                throw Surprise(description: "\(root): \(report)")
            }
        }
        say("ok")
    } catch {
        say("fault \(error)")
        exit(1)
    }
}

/// Records until the store has no room.
func fillUp(_ store: RecordingStore, _ recorder: inout FakeRecorder, _ acknowledged: inout Acknowledged) {
    for _ in 0..<10_000 {
        var id: RecordingSession.ID?
        for output in recorder.session() {
            if case .began(let session) = output { id = session.id }
            guard let id else { return }
            acknowledged.willTake(output, of: id)
            do throws(RecordingFault) {
                try store.take(output, of: id)
                acknowledged.didTake(output, of: id)
            } catch {
                // A recorder ends a session that the store does not take.
                let end = RecordingOutput.ended(RecordingEnd(at: id.start * 1_000, reason: .storageFull))
                acknowledged.willTake(end, of: id)
                if (try? store.take(end, of: id)) != nil { acknowledged.didTake(end, of: id) }
                return
            }
        }
    }
}

/// Writes a line at once: what a test has read was written before the process was killed.
func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}
