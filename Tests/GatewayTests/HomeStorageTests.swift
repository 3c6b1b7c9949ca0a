import Foundation
import HomeTypes
import Logging
import Testing
import Transport

@testable import Gateway
@testable import HomeHub

/// The home's files in the state folder: what an earlier gateway left, and what may not be in their place.
@Suite struct HomeStorageTests {
    let folder: TemporaryFolder
    let log = LogLines()
    /// Recent, because the store does not keep what is older than its retention; a quarter is exact in binary.
    let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down) - 999.75)

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.directory.create()
    }

    private var path: String { folder.directory.file(SQLiteLocalStore.fileName) }

    private func storage() -> HomeStorage { HomeStorage(directory: folder.directory, logger: log.logger) }

    private func event(_ index: Int) -> DeviceEvent {
        DeviceEvent(
            id: "r-\(index)", deviceID: "door", at: start.addingTimeInterval(Double(index)),
            DetectionEvent(kind: .person, phase: .began, eventSessionId: "\(index)"))
    }

    private func events(_ storage: HomeStorage) async -> [DeviceEvent] {
        let entries = await storage.log.events(of: "device/door", since: nil, after: nil, limit: 1_000) ?? []
        return entries.compactMap { DeviceEvent($0, log: storage.log.identity.log) }
    }

    @Test func theEventsOfAnEarlierGatewaysJournalAreTakenOverOnce() async throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        func lines(_ range: Range<Int>) throws -> String {
            try range.map { String(decoding: try encoder.encode(event($0)), as: UTF8.self) + "\n" }.joined()
        }
        try folder.directory.writePrivate("events.jsonl.old", try lines(0..<3))
        // A line that a power cut left unfinished is skipped.
        try folder.directory.writePrivate("events.jsonl", try lines(3..<5) + "{\"id\":\"half")
        for _ in 0..<2 {
            let events = await self.events(storage())
            #expect(events.map(\.eventSessionId) == ["4", "3", "2", "1", "0"])
            #expect(events.map(\.timestamp) == (0..<5).reversed().map { event($0).timestamp })
            #expect(events.allSatisfy { $0.trait == "CameraPerson" && $0.event == "Person" && $0.phase == .began })
        }
        #expect(try folder.directory.readPrivate("events.jsonl") == nil)
        #expect(try folder.directory.readPrivate("events.jsonl.imported") != nil)
        #expect(log.lines.filter { $0.level == .notice }.count == 1)
    }

    @Test(arguments: ["fifo", "link", "readable", "folder"]) func noOtherFileIsUsed(kind: String) async throws {
        let target = folder.path + "/elsewhere"
        switch kind {
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "link":
            try Data("precious\n".utf8).write(to: URL(fileURLWithPath: target))
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        case "folder":
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default:
            try Data().write(to: URL(fileURLWithPath: path))
            #expect(chmod(path, 0o644) == 0)
        }
        let storage = self.storage()
        #expect(storage.failure?.contains(path) == true)
        #expect(storage.metrics.first { $0.name == "gatehouse_event_journal_failing" }?.samples.first?.value == 1)
        #expect(log.lines.map(\.level).contains(.error))
        // The home goes on in memory.
        storage.log.adopt([event(1)])
        #expect(await events(storage).count == 1)
        if kind == "link" { #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious\n") }
    }

    @Test func aDamagedFileIsPutAsideAndReported() async throws {
        try folder.directory.writePrivate(
            SQLiteLocalStore.fileName, String(repeating: "this is not a database\n", count: 100))
        let storage = self.storage()
        #expect(storage.failure == nil)
        #expect(log.lines.contains { $0.level == .error && $0.message.contains("put aside") })
        storage.log.adopt([event(1)])
        #expect(await events(storage).count == 1)
    }

    @Test(arguments: ["nothing", "kept", "damaged", "unusable"])
    func aLostFileOfTheHomeIsKnownToBeLost(_ what: String) throws {
        let name = SQLiteSharedStore.fileName
        switch what {
        case "kept": withExtendedLifetime(storage()) {}
        case "damaged": try folder.directory.writePrivate(name, String(repeating: "no database\n", count: 100))
        case "unusable":
            try FileManager.default.createDirectory(
                atPath: folder.directory.file(name), withIntermediateDirectories: false)
        default: break
        }
        #expect(storage().hasLostSharedState == ["damaged", "unusable"].contains(what))
    }

    @Test func theFilesAreOnlyForTheirOwner() throws {
        let storage = self.storage()
        storage.log.adopt([event(1)])
        storage.log.flush()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.directory.path)
        #expect(names.contains("local.sqlite") && names.contains("shared.sqlite"))
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.directory.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        withExtendedLifetime(storage) {}
    }
}
