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

    private var path: String { self.folder.directory.file(SQLiteLocalStore.fileName) }

    private func storage() -> HomeStorage { HomeStorage(directory: self.folder.directory, logger: self.log.logger) }

    private func event(_ index: Int) -> DeviceEvent {
        DeviceEvent(
            id: "r-\(index)", deviceID: "door", at: self.start.addingTimeInterval(Double(index)),
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
            try range.map { String(decoding: try encoder.encode(self.event($0)), as: UTF8.self) + "\n" }.joined()
        }
        try self.folder.directory.writePrivate("events.jsonl.old", try lines(0..<3))
        // A line that a power cut left unfinished is skipped.
        try self.folder.directory.writePrivate("events.jsonl", try lines(3..<5) + "{\"id\":\"half")
        for _ in 0..<2 {
            let events = await self.events(self.storage())
            #expect(events.map(\.eventSessionId) == ["4", "3", "2", "1", "0"])
            #expect(events.map(\.timestamp) == (0..<5).reversed().map { self.event($0).timestamp })
            #expect(events.allSatisfy { $0.trait == "CameraPerson" && $0.event == "Person" && $0.phase == .began })
        }
        #expect(try self.folder.directory.readPrivate("events.jsonl") == nil)
        #expect(try self.folder.directory.readPrivate("events.jsonl.imported") != nil)
        #expect(self.log.lines.filter { $0.level == .notice }.count == 1)
    }

    @Test(arguments: ["fifo", "link", "readable", "folder"]) func noOtherFileIsUsed(kind: String) async throws {
        let target = self.folder.path + "/elsewhere"
        switch kind {
        case "fifo": #expect(mkfifo(self.path, 0o600) == 0)
        case "link":
            try Data("precious\n".utf8).write(to: URL(fileURLWithPath: target))
            try FileManager.default.createSymbolicLink(atPath: self.path, withDestinationPath: target)
        case "folder":
            try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: false)
        default:
            try Data().write(to: URL(fileURLWithPath: self.path))
            #expect(chmod(self.path, 0o644) == 0)
        }
        let storage = self.storage()
        #expect(storage.failure?.contains(self.path) == true)
        #expect(storage.metrics.first { $0.name == "gatehouse_event_journal_failing" }?.samples.first?.value == 1)
        #expect(self.log.lines.map(\.level).contains(.error))
        // The home goes on in memory.
        storage.log.adopt([self.event(1)])
        #expect(await self.events(storage).count == 1)
        if kind == "link" { #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious\n") }
    }

    @Test func aDamagedFileIsPutAsideAndReported() async throws {
        try self.folder.directory.writePrivate(
            SQLiteLocalStore.fileName, String(repeating: "this is not a database\n", count: 100))
        let storage = self.storage()
        #expect(storage.failure == nil)
        #expect(self.log.lines.contains { $0.level == .error && $0.message.contains("put aside") })
        storage.log.adopt([self.event(1)])
        #expect(await self.events(storage).count == 1)
    }

    @Test func theFilesAreOnlyForTheirOwner() throws {
        let storage = self.storage()
        storage.log.adopt([self.event(1)])
        storage.log.flush()
        let names = try FileManager.default.contentsOfDirectory(atPath: self.folder.directory.path)
        #expect(names.contains("local.sqlite") && names.contains("shared.sqlite"))
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: self.folder.directory.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        withExtendedLifetime(storage) {}
    }
}
