import Foundation
import Glibc
import HomeTypes
import Testing

@testable import PushAvStreamTransport

/// Tables of recording connections that cannot be read.
@Suite struct ConnectionLossTests {
    @Test func `what takes the place of a table begins switched off, and gives out none of its numbers`() throws {
        var table = ConnectionTable.replacement(at: Fixture.now)
        #expect(!table.isOn)
        #expect(table.connections.map(\.id) == [1])
        table.describe(Fixture.streams)
        let made = try table.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(!table.mayHaveLost(made.id) && !table.mayHaveLost(1))
        #expect(table.mayHaveLost(2) && table.mayHaveLost(1_000))
        // The address of an upload may be the one of before.
        let number = table.takeSessionNumber(of: "1/phone")
        #expect(number > UInt64(Fixture.now) / 1_000)
    }

    @Test func `a second loss gives out none of the numbers that were given out after the first`() throws {
        var first = ConnectionTable.replacement(at: Fixture.now)
        first.describe(Fixture.streams)
        let made = try first.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        // The number is known.
        var second = ConnectionTable.replacement(at: Fixture.now, next: first.nextID)
        second.describe(Fixture.streams)
        let later = try second.allocate(Fixture.options(), for: Fixture.other, of: Fixture.camera, at: 0)
        #expect(later.id > made.id)
        #expect(second.mayHaveLost(made.id) && !second.mayHaveLost(later.id))
        #expect(!first.mayHaveLost(made.id))
        // Only the number of losses is known.
        let numbers = (0...10).map { ConnectionTable.number(afterLosses: $0) }
        #expect(numbers[0] < numbers[1] && numbers[1] < numbers[2] && numbers.allSatisfy { $0 < 65_535 })
    }

    @Test func `a table that comes back gives out none of its numbers again`() throws {
        var earlier = Fixture.table
        earlier.skipNumbers(before: 40_000)
        var table = ConnectionTable.replacement(at: Fixture.now)
        table.takeBack(earlier)
        #expect(table.nextID == 40_000)
    }

    @Test func `a table of an earlier version has lost what came before the number that it began with`() throws {
        let json = try JSONEncoder().encode(ConnectionTable.replacement(at: Fixture.now))
        var object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        object["firstAfterLoss"] = nil
        let table = try JSONDecoder().decode(
            ConnectionTable.self, from: try JSONSerialization.data(withJSONObject: object))
        #expect(table.mayHaveLost(30_000) && !table.mayHaveLost(30_001))
    }

    @Test func `a table comes back beside what was made meanwhile, and what either refuses is refused`() throws {
        var earlier = Fixture.table
        _ = try earlier.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        try earlier.setStatus(2, .active, for: Fixture.me)
        earlier.setPrivacy(softLivestream: true)
        earlier.setMicrophone(muted: true)
        _ = earlier.takeSessionNumber(of: "3/phone")
        var table = ConnectionTable.replacement(at: Fixture.now)
        table.describe(Fixture.streams)
        try table.setStatus(nil, .active, for: Fixture.other)
        let made = try table.allocate(Fixture.options(), for: Fixture.other, of: Fixture.camera, at: 0)
        table.takeBack(earlier)
        #expect(table.connections.map(\.id) == [1, made.id, 2])
        #expect(table.connection(2) == earlier.connection(2))
        #expect(table.privacy.softLivestream && table.privacy.microphoneMuted && !table.privacy.softRecording)
        #expect(table.sessionNumbers["3/phone"] == 1)
        // A start that ends in between takes it back once more.
        let once = table
        table.takeBack(earlier)
        #expect(table == once)
    }

    @Test func `in a camera that is off, connections that come back wait until it is switched on`() throws {
        var earlier = Fixture.table
        for principal in [Fixture.me, Fixture.other] {
            _ = try earlier.allocate(Fixture.options(), for: principal, of: Fixture.camera, at: 0)
        }
        try earlier.setStatus(2, .active, for: Fixture.me)
        var table = ConnectionTable.replacement(at: Fixture.now)
        table.takeBack(earlier)
        #expect(!table.isOn)
        try table.setStatus(nil, .active, for: "owner")
        #expect(table.connections.map(\.status) == [.active, .active, .inactive])
    }

    @Test func `records that cannot be read are kept one beside the other`() throws {
        let folder = try UploadFixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let aside = ConnectionsAside(folder: folder)
        let first = try aside.keep("{", of: "door")
        let again = try aside.keep("{", of: "door")
        let second = try aside.keep("[", of: "door")
        #expect(again == first && second != first)
        _ = try aside.keep("(", of: "a.b-c_1")
        let unsafe = RecordingFault.storage(path: folder, .connections(.unsafeName("../door")))
        #expect(throws: unsafe) { try aside.keep("{", of: "../door") }
        // What has another name is not one of them.
        for name in ["recording-connections.unreadable-1", "recording-connections.door.unreadable-x", "uploads.jsonl"] {
            try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        #expect(aside.records.map(\.device) == ["a.b-c_1", "door", "door"])
        #expect(aside.records.map(\.body) == ["(", "{", "["])
        let kept = aside.records
        try aside.remove(kept[1])
        #expect(aside.records.map(\.path) == [kept[0].path, second])
        // Removed by its owner meanwhile.
        try aside.remove(kept[1])
        // One that stays would bring back what was deallocated meanwhile, so it must not pass unnoticed.
        try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: false)
        let stuck = RecordingFault.storage(path: first, .connections(.notRemoved(EISDIR)))
        #expect(throws: stuck) { try aside.remove(kept[1]) }
    }
}
