import Foundation
import Glibc
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("The journal of uploads") struct UploadJournalTests {
    private func records() -> [UploadRecord] {
        let session = UploadFixtures.session(interface: .hls)
        return [
            .opened(session), .sent(session.id, .manifest), .sent(session.id, .playlist(track: 1)),
            .segment(session.id, UploadFixtures.segment(session, 0, 1)),
            .dropped(session.id, track: 0, number: 1), .ended(session.id),
        ]
    }

    @Test func `what was stored is read again`() throws {
        let path = try UploadFixtures.temporaryFolder() + "/uploads.jsonl"
        let journal = UploadJournal(path: path)
        #expect(journal.load() == StoredUploads(records: []))
        try journal.append(Array(records().prefix(2)), durably: false)
        try journal.append(Array(records().dropFirst(2)), durably: true)
        #expect(UploadJournal(path: path).load() == StoredUploads(records: records()))
        try journal.replace(with: Array(records().prefix(1)))
        try journal.append([records()[1]], durably: true)
        #expect(UploadJournal(path: path).load().records == Array(records().prefix(2)))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a file that is cut off anywhere gives its whole records, and goes on`() throws {
        let path = try UploadFixtures.temporaryFolder() + "/uploads.jsonl"
        let journal = UploadJournal(path: path)
        _ = journal.load()
        let headLength = try Data(contentsOf: URL(fileURLWithPath: path)).count
        try journal.append(records(), durably: true)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for length in stride(from: headLength, through: whole.count, by: 7) {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path))
            let other = UploadJournal(path: path)
            let stored = other.load()
            #expect(stored.damage == nil)
            #expect(stored.records == Array(records().prefix(stored.records.count)))
            try other.append([records()[5]], durably: true)
            #expect(UploadJournal(path: path).load().records == stored.records + [records()[5]])
        }
    }

    @Test func `a changed byte is found, the rest is kept aside, and what precedes it counts`() throws {
        let folder = try UploadFixtures.temporaryFolder()
        let path = folder + "/uploads.jsonl"
        _ = UploadJournal(path: path).load()
        try UploadJournal(path: path).append(records(), durably: true)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var random = RandomSource.seeded(1)
        var aside = 0
        for _ in 0..<60 {
            var changed = whole
            let position = Int.random(in: 0..<whole.count - 20, using: &random)
            changed[position] ^= UInt8.random(in: 1...255, using: &random)
            try changed.write(to: URL(fileURLWithPath: path))
            let stored = UploadJournal(path: path).load()
            #expect(stored.records == Array(records().prefix(stored.records.count)))
            #expect(stored.records.count < records().count)
            if stored.damage != nil { aside += 1 }
            #expect(UploadJournal(path: path).load() == StoredUploads(records: stored.records))
        }
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".damaged-") }
        #expect(kept.count == aside)
        #expect(aside > 40)
    }

    @Test(arguments: ["nothing like it", "\u{0}\u{1}", "{}\n{}\n"])
    func `another file is set aside`(text: String) throws {
        let path = try UploadFixtures.temporaryFolder() + "/uploads.jsonl"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let stored = UploadJournal(path: path).load()
        #expect(stored.records == [])
        #expect(stored.damage?.contains("damaged") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")) == Data(text.utf8))
    }

    @Test func `a disk that takes nothing is not a reason to have no queue`() throws {
        let folder = try UploadFixtures.temporaryFolder()
        let path = folder + "/uploads.jsonl"
        let earlier = UploadJournal(path: path)
        _ = earlier.load()
        try earlier.append(records(), durably: true)
        let damaged = try Data(contentsOf: URL(fileURLWithPath: path)) + Data("damage\n".utf8) + Data("more\n".utf8)
        try damaged.write(to: URL(fileURLWithPath: path))
        // A folder where the temporary file would be keeps everything from being written.
        let obstacle = path + ".new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        let journal = UploadJournal(path: path)
        let stored = journal.load()
        #expect(stored.records == records())
        #expect(stored.damage?.contains("damaged-1") == true)
        #expect(stored.failure == UploadStorageFailure(path: obstacle, reason: .system(EEXIST)))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")) == damaged)
        try FileManager.default.removeItem(atPath: obstacle)
        try journal.replace(with: stored.records)
        #expect(UploadJournal(path: path).load() == StoredUploads(records: records()))
        // There is not even a folder.
        let missing = folder + "/missing/uploads.jsonl"
        let nowhere = UploadJournal(path: missing).load()
        #expect(nowhere.records == [])
        #expect(nowhere.failure == UploadStorageFailure(path: missing + ".new", reason: .system(ENOENT)))
    }

    @Test func `a queue that cannot be read is kept aside`() throws {
        let path = try UploadFixtures.temporaryFolder() + "/uploads.jsonl"
        try FileManager.default.createDirectory(atPath: path + "/something", withIntermediateDirectories: true)
        let stored = UploadJournal(path: path).load()
        #expect(stored.records == [] && stored.failure == nil)
        #expect(stored.damage?.contains("cannot be read") == true)
        #expect(FileManager.default.fileExists(atPath: path + ".damaged-1/something"))
        #expect(UploadJournal(path: path).load() == StoredUploads(records: []))
    }

    @Test func `a file of a newer version is set aside`() throws {
        let path = try UploadFixtures.temporaryFolder() + "/uploads.jsonl"
        let json = #"{"format":"gatehouse-uploads","version":2}"#
        let check = Digest.hexadecimal(Digest.sha256(Array(json.utf8)).prefix(4))
        try Data("\(check) \(json)\n".utf8).write(to: URL(fileURLWithPath: path))
        let stored = UploadJournal(path: path).load()
        #expect(stored.damage?.contains("newer version 2") == true)
    }

    @Test func `folders say what a lost journal would have said`() throws {
        let root = try UploadFixtures.temporaryFolder()
        let folders = UploadFolders(root: root)
        let sessions = (1...3 as ClosedRange<UInt32>).map { UploadFixtures.session($0) }
        for session in sessions {
            try FileManager.default.createDirectory(
                atPath: "\(root)/\(session.folder)", withIntermediateDirectories: true)
            try folders.begin(session)
        }
        try folders.complete(sessions[1].folder)
        #expect(folders.pending().sessions == [sessions[0], sessions[2]])
        try Data().write(to: URL(fileURLWithPath: "\(root)/\(sessions[0].folder)/deleted"))
        try Data("{".utf8).write(to: URL(fileURLWithPath: "\(root)/\(sessions[2].folder)/upload.json"))
        #expect(folders.pending().sessions == [])
        #expect(folders.pending().problems.count == 1)
        // A recording that is gone needs no mark.
        try folders.complete("d9/2023-11-14/1")
    }

    @Test func `values that no gateway has written are ignored`() throws {
        func hostile(_ change: (inout UploadSession) -> Void) -> UploadSession {
            var session = UploadFixtures.session(9)
            change(&session)
            return session
        }
        let sessions = [
            hostile { $0.folder = "../../etc" }, hostile { $0.folder = "/etc" }, hostile { $0.folder = "a/../../b" },
            hostile { $0.id.start = .max }, hostile { $0.id.device = "../up" },
            hostile { $0.tracks[0].timescale = .max }, hostile { $0.tracks[0].timescale = 0 },
            hostile { $0.tracks[1].headerByteCount = -1 }, hostile { $0.destination.segmentDuration = .max },
            hostile { $0.tracks = Array(repeating: $0.tracks[0], count: 17) },
        ]
        for session in sessions {
            let queue = UploadQueue(records: [.opened(session)])
            #expect(queue.status.sessions == 0, "\(session)")
        }
        let session = UploadFixtures.session(1)
        var segments = (0..<6).map { _ in UploadFixtures.segment(session, 0, 1) }
        segments[0].decodeTime = .max
        segments[1].duration = .max
        segments[2].duration = -1
        segments[3].byteCount = .max
        segments[4].capturedAt = .min
        segments[5].track = 7
        for segment in segments {
            let queue = UploadQueue(records: [.opened(session), .segment(session.id, segment)])
            #expect(queue.status.segments == 0 && queue.status.byteCount == 0, "\(segment)")
        }
        // A description that was garbled is reported, and stays where it is.
        let root = try UploadFixtures.temporaryFolder()
        let folder = "\(root)/\(session.folder)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try UploadFolders(root: root).begin(
            hostile {
                $0.folder = session.folder; $0.tracks[0].timescale = -1
            })
        #expect(UploadFolders(root: root).pending().sessions.isEmpty)
        #expect(UploadFolders(root: root).pending().problems.map { $0.contains("damaged") } == [true])
        #expect(FileManager.default.fileExists(atPath: "\(folder)/upload.json"))
    }

    @Test func `hostile names stay inside of their folder`() {
        for name in ["../../etc", "a/b", "..", ".", "", "a\nb", "a b", "é"] {
            let component = UploadSession.pathComponent(name)
            #expect(!component.contains("/") && component != ".." && component != "." && !component.isEmpty)
            #expect(component.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
    }
}
