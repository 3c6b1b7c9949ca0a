import Foundation
import GRDB
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingIndex

@Suite("The index of the recordings in SQLite")
struct SQLiteRecordingIndexTests {
    @Test("It answers every query like the index in memory")
    func answersLikeMemory() throws {
        let folder = try TemporaryFolder()
        let index = try SQLiteRecordingIndex(path: folder.file("recordings.sqlite"))
        let memory = MemoryRecordingIndex()
        var random = RandomSource.seeded(7)
        for _ in 0..<40 {
            let batch = (0..<5).map { _ in Self.recording(&random) }
            try index.add(batch)
            try memory.add(batch)
        }
        let ids = try memory.ids().sorted { ($0.start, $0.device, $0.sequence) < ($1.start, $1.device, $1.sequence) }
        #expect(try index.ids() == Set(ids))
        let removed = ids.filter { _ in UInt8.random(in: 0..<4, using: &random) == 0 }
        try index.remove(removed)
        try memory.remove(removed)
        #expect(try index.totals() == memory.totals())
        for id in ids { #expect(try index.recording(id) == memory.recording(id)) }
        for device in ["a", "b", "c", "none"] {
            #expect(
                try index.spans(of: device).sorted { $0.lowerBound < $1.lowerBound }
                    == memory.spans(of: device).sorted { $0.lowerBound < $1.lowerBound })
        }
        for _ in 0..<300 {
            let from = Self.base * 1_000 + Int64.random(in: -10_000_000...110_000_000, using: &random)
            let query = RecordingQuery(
                device: [nil, "a", "b", "c", "none"].randomElement(using: &random) ?? nil, from: from,
                until: from + Int64.random(in: 0...20_000_000, using: &random),
                newestFirst: Bool.random(using: &random), limit: [3, 1_000].randomElement(using: &random) ?? 3)
            #expect(try index.recordings(query) == memory.recordings(query), "\(query)")
        }
        #expect(try index.recordings(RecordingQuery()) == memory.recordings(RecordingQuery()))
    }

    @Test("It is there again after it was opened again")
    func survivesReopening() throws {
        let folder = try TemporaryFolder()
        var random = RandomSource.seeded(8)
        let one = Self.recording(&random)
        do { try SQLiteRecordingIndex(path: folder.file("recordings.sqlite")).add([one]) }
        let again = try SQLiteRecordingIndex(path: folder.file("recordings.sqlite"))
        #expect(again.setAside == nil)
        #expect(try again.recording(one.summary.id) == one)
    }

    @Test("A statement waits for another program that holds the file")
    func waitsForOthers() throws {
        let folder = try TemporaryFolder()
        let index = try SQLiteRecordingIndex(path: folder.file("recordings.sqlite"))
        let milliseconds = try index.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
        #expect(milliseconds == 5_000)
    }

    @Test("A file that is damaged, or that a newer version wrote, is set aside")
    func setsAside() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("recordings.sqlite")
        try Data("this is not a database, but it is long enough to be read as one by mistake".utf8).write(
            to: URL(fileURLWithPath: path))
        var random = RandomSource.seeded(9)
        do {
            let index = try SQLiteRecordingIndex(path: path)
            let aside = try #require(index.setAside)
            #expect(FileManager.default.fileExists(atPath: aside))
            try index.add([Self.recording(&random)])
        }
        do {
            let pool = try DatabasePool(path: path)
            try pool.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of a newer version')") }
            try pool.close()
        }
        let index = try SQLiteRecordingIndex(path: path)
        #expect(index.setAside?.contains(".newer-") == true)
        #expect(try index.ids().isEmpty)
    }

    @Test("Any damage to the file ends in a fault or in a new file, never in a crash", arguments: 0..<60)
    func survivesDamage(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("recordings.sqlite")
        var random = RandomSource.seeded(seed)
        do {
            let index = try SQLiteRecordingIndex(path: path)
            try index.add((0..<20).map { _ in Self.recording(&random) })
            try index.pool.close()
        }
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        switch seed % 3 {
        case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
        case 1:
            for _ in 0..<20 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            }
        default:
            let start = Int.random(in: 0..<bytes.count, using: &random)
            for place in start..<min(bytes.count, start + 5_000) { bytes[place] = 0 }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        guard let index = try? SQLiteRecordingIndex(path: path) else { return }
        for id in (try? index.ids()) ?? [] { _ = try? index.recording(id) }
        _ = try? index.recordings(RecordingQuery())
        _ = try? index.totals()
    }

    static let base: Int64 = 1_763_800_000_000

    static func recording(_ random: inout RandomSource) -> IndexedRecording {
        let id = RecordingSession.ID(
            device: ["a", "b", "c"].randomElement(using: &random) ?? "a",
            start: Self.base + Int64.random(in: 0...100_000, using: &random),
            epoch: UInt64.random(in: 0...3, using: &random), sequence: UInt32.random(in: 1...9_999, using: &random))
        let from = id.start * 1_000 + Int64.random(in: -2_000_000...2_000_000, using: &random)
        var segments: [StoredSegment] = []
        for track in 0..<2 {
            var time = from
            for number in 1...UInt32.random(in: 1...6, using: &random) {
                let length = Int64.random(in: 100_000...4_000_000, using: &random)
                segments.append(
                    StoredSegment(
                        track: track, number: number, decodeTime: (time - from) * 9 / 100, duration: length * 9 / 100,
                        wallTime: time, byteCount: Int64.random(in: 0...1 << 22, using: &random)))
                time += length
            }
        }
        let hasEnd = Bool.random(using: &random)
        return IndexedRecording(
            summary: RecordingSummary(
                id: id, connection: UInt16.random(in: 1...9, using: &random),
                number: .random(in: 0 ... .max, using: &random),
                trigger: .init(kind: .motion, reason: "motion", events: hasEnd ? ["e1", "e2"] : []),
                triggeredAt: id.start, from: from,
                until: segments.map { $0.wallTime + $0.duration * 100 / 9 }.max() ?? from,
                byteCount: segments.reduce(0) { $0 + $1.byteCount }, segmentCount: segments.count, gapCount: 1,
                end: hasEnd ? RecordingEnd(at: from + 5, reason: .cut) : nil),
            timescales: [90_000, 90_000], segments: segments)
    }
}

/// A folder that is removed when it is released.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        self.path = FileManager.default.temporaryDirectory.appendingPathComponent("index-\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}
