import Foundation
import RecordingFakes
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("Damaged files of recordings")
struct StoreDamageTests {
    private static let now: Int64 = 1_763_900_000_000

    /// A disk with some recordings, the last of which has no end.
    private func disk(seed: UInt64) throws -> (SimulatedFileSystem, [RecordingSession.ID]) {
        let fileSystem = SimulatedFileSystem()
        let store = try self.store(fileSystem)
        var ids: [RecordingSession.ID] = []
        var shape = FakeRecorder.Shape()
        shape.chunks = 60
        var recorder = FakeRecorder(device: "camera", start: 1_763_800_000_000, seed: seed, shape: shape)
        for number in 0..<3 {
            for output in recorder.session() {
                if case .ended = output, number == 2 { continue }
                if case .began(let session) = output { ids.append(session.id) }
                try store.take(output, of: #require(ids.last))
            }
        }
        return (fileSystem, ids)
    }

    private func store(_ fileSystem: SimulatedFileSystem) throws -> RecordingStore {
        try RecordingStore(
            root: "/state/recordings", fileSystem: fileSystem, index: MemoryRecordingIndex(), now: { Self.now })
    }

    @Test("Whatever is damaged, no footage is deleted, and the other recordings stay whole", arguments: 0..<20)
    func anyDamage(block: UInt64) throws {
        for seed in block * 20..<(block + 1) * 20 {
            var random = RandomSource.seeded(seed)
            let (fileSystem, ids) = try disk(seed: seed % 5)
            let victim = try #require(fileSystem.files().randomElement(using: &random))
            let before = Dictionary(uniqueKeysWithValues: fileSystem.files().map { ($0, fileSystem.bytes(of: $0)) })
            fileSystem.damage(victim, Self.mutate(try #require(fileSystem.bytes(of: victim)), &random))
            let damaged = fileSystem.bytes(of: victim)
            let store = try self.store(fileSystem)
            try store.recover()
            for (path, bytes) in before where path.hasSuffix(".m4s") && path != victim {
                #expect(fileSystem.bytes(of: path) == bytes, "\(victim): \(path) has changed")
            }
            if victim.hasSuffix(".m4s"), let damaged {
                // Only the end of a chunk that is not whole may go, and only from a recording without an end.
                let left = fileSystem.bytes(of: victim) ?? []
                #expect(damaged.starts(with: left))
                if !victim.contains(store.layout.folder(of: ids[2])) { #expect(left == damaged) }
            }
            for id in ids where !victim.contains(store.layout.folder(of: id)) {
                #expect(try store.recording(id).end != nil)
                #expect(try store.verify(id).problems.isEmpty)
            }
            // What cannot be read is reported, and does no more harm.
            for id in ids {
                _ = try? store.verify(id)
                _ = try? store.recording(id)
            }
            _ = try store.unreadable()
            _ = try store.recordings(RecordingQuery())
            _ = try store.days(of: "camera") { _ in 3_600 }
            _ = try store.segments(of: "camera", from: 0, until: .max)
            try self.store(fileSystem).recover()
        }
    }

    private static func mutate(_ bytes: [UInt8], _ random: inout RandomSource) -> [UInt8] {
        var bytes = bytes
        func place() -> Int { bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &random) }
        switch UInt8.random(in: 0..<7, using: &random) {
        case 0: return Array(bytes.prefix(place()))
        case 1: return []
        case 2: return bytes + (0..<100).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        case 3: return bytes + [UInt8](repeating: 0, count: 100)
        case 4:
            for _ in 0..<4 where !bytes.isEmpty { bytes[place()] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        case 5:
            let start = place()
            for index in start..<min(bytes.count, start + 64) { bytes[index] = 0 }
        default:
            let start = place()
            for index in start..<min(bytes.count, start + 64) {
                bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            }
        }
        return bytes
    }

    @Test("A description of a newer version is reported, and everything stays")
    func newerVersion() throws {
        let (fileSystem, ids) = try disk(seed: 1)
        let path = "\(RecordingLayout(root: "/state/recordings").folder(of: ids[0]))/session.json"
        fileSystem.damage(path, Array(#"{"version": 99, "session": {"anything": true}}"#.utf8))
        let files = fileSystem.files()
        let store = try self.store(fileSystem)
        let report = try store.recover()
        #expect(report.unreadable.map(\.path) == [path])
        #expect(report.unreadable.first?.reason == .newerFormat(99))
        #expect(fileSystem.files() == files)
        #expect(throws: RecordingFault.self) { try store.recording(ids[0]) }
    }

    @Test("Lines that a newer version wrote are ignored, and stay in the journal")
    func linesOfANewerVersion() throws {
        let (fileSystem, ids) = try disk(seed: 5)
        let before = try self.store(fileSystem).recording(ids[0])
        let path = "\(RecordingLayout(root: "/state/recordings").folder(of: ids[0]))/journal.jsonl"
        let known = try fileSystem.readAll(path, limit: 1 << 20)
        // FNV-1a of the rest, as in every line.
        let rest = Array(#""thumbnail":{"at":1}}"#.utf8)
        let check = rest.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let digits = String(check, radix: 16)
        let line =
            Array(#"{"check":""#.utf8) + Array(String(repeating: "0", count: 8 - digits.count).utf8)
            + Array(digits.utf8) + Array(#"","#.utf8) + rest + [0x0A]
        let bytes = line + known
        try fileSystem.remove(path)
        try fileSystem.create(path).writeAll(bytes, at: 0, path: path)
        let contents = RecordingJournal.parse(bytes)
        #expect(contents.unknownLines == 1 && contents.damagedLines == 0)
        let store = try self.store(fileSystem)
        let report = try store.recover()
        #expect(report.unreadable.isEmpty)
        #expect(try store.recording(ids[0]) == before)
        #expect(try fileSystem.readAll(path, limit: 1 << 20) == bytes)
    }

    @Test("A journal that is gone is made again from the segments")
    func journalGone() throws {
        let (fileSystem, ids) = try disk(seed: 2)
        let before = try self.store(fileSystem).recording(ids[0])
        let path = "\(RecordingLayout(root: "/state/recordings").folder(of: ids[0]))/journal.jsonl"
        try fileSystem.remove(path)
        let store = try self.store(fileSystem)
        try store.recover()
        let after = try store.recording(ids[0])
        #expect(after.end?.reason == .interrupted)
        #expect(after.segments.count == before.segments.count)
        for (old, new) in zip(before.segments, after.segments) {
            #expect(new.decodeTime == old.decodeTime)
            #expect(new.duration == old.duration)
            #expect(new.byteCount == old.byteCount)
            // The `prft` of the test's chunks is exact to a microsecond.
            #expect(abs(new.wallTime - old.wallTime) <= 2)
        }
    }

    @Test("A segment without a byte, where the process ended before the first chunk, leaves no file behind")
    func emptySegment() throws {
        let (fileSystem, ids) = try disk(seed: 4)
        let layout = RecordingLayout(root: "/state/recordings")
        let before = try self.store(fileSystem).recording(ids[2])
        #expect(before.end == nil)
        let track = before.session.tracks[0].name
        let path = layout.segment(UInt32(before.segments.count + 1_000), of: track, in: ids[2])
        _ = try fileSystem.create(path)
        let store = try self.store(fileSystem)
        let report = try store.recover()
        #expect(fileSystem.bytes(of: path) == nil)
        #expect(report.unreadable.isEmpty)
        #expect(try store.recording(ids[2]).segments.count == before.segments.count)
        #expect(try store.verify(ids[2]).problems.isEmpty)
    }

    @Test("A session that was ended while it began is nothing to worry about, and goes at the next start")
    func endedWhileItBegan() throws {
        let (fileSystem, ids) = try disk(seed: 4)
        let layout = RecordingLayout(root: "/state/recordings")
        let id = RecordingSession.ID(device: "camera", start: Self.now, epoch: 9, sequence: 1)
        let folder = layout.folder(of: id)
        try fileSystem.makeFolder(layout.folder(ofDevice: "camera") + "/" + RecordingLayout.day(Self.now))
        try fileSystem.makeFolder(folder)
        try fileSystem.create("\(folder)/session.json.new").writeAll([0x7B], at: 0, path: folder)
        let store = try self.store(fileSystem)
        #expect(try store.idsOfFolders().contains(id))
        let found = try store.verify(id)
        #expect(found.problems == [UnreadableRecording(path: folder, reason: .noFootage)])
        #expect(try store.recover().unreadable.isEmpty)
        #expect(try store.idsOfFolders().sorted { $0.start < $1.start } == ids)
    }

    @Test("A deletion removes what cannot be read, too, if its owner asks for it")
    func deletesUnreadable() throws {
        let (fileSystem, ids) = try disk(seed: 3)
        let folder = RecordingLayout(root: "/state/recordings").folder(of: ids[0])
        fileSystem.damage("\(folder)/session.json", [1, 2, 3])
        let store = try self.store(fileSystem)
        try store.recover()
        try store.delete(ids[0])
        #expect(fileSystem.files(below: folder).isEmpty)
    }
}
