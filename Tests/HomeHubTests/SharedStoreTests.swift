import Foundation
import GRDB
import Testing

@testable import HomeHub

@Suite struct SharedStoreTests {
    static let stores: [String] = ["memory", "file"]

    private func withStore(_ name: String, _ body: (any SharedStore) async throws -> Void) async throws {
        guard name == "file" else { return try await body(MemorySharedStore()) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "shared-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(SQLiteSharedStore(path: folder.appending(path: SQLiteSharedStore.fileName).path))
    }

    @Test(arguments: stores) func onlyTheExpectedVersionIsReplaced(_ name: String) async throws {
        try await withStore(name) { store async throws -> Void in
            #expect(try store.write("room", "a", "1", expecting: 0) == 1)
            #expect(try store.write("room", "a", "2", expecting: 0) == nil)
            #expect(try store.write("room", "a", "2", expecting: 1) == 2)
            #expect(try store.write("room", "a", "3", expecting: 1) == nil)
            #expect(try store.object("room", "a") == SharedObject(id: "a", version: 2, body: "2"))
            #expect(try store.objects("other").isEmpty)
        }
    }

    @Test(arguments: stores) func anObjectThatWasRemovedCannotBeChangedByAStaleWrite(_ name: String) async throws {
        try await withStore(name) { store async throws -> Void in
            #expect(try store.write("room", "a", "1", expecting: 0) == 1)
            #expect(try store.delete("room", "a", expecting: 2) == nil)
            #expect(try store.delete("room", "b", expecting: 0) == nil)
            #expect(try store.delete("room", "a", expecting: 1) == 2)
            #expect(try store.delete("room", "a", expecting: 2) == nil)
            #expect(try store.object("room", "a") == nil)
            #expect(try store.objects("room").isEmpty)
            #expect(try store.write("room", "a", "2", expecting: 1) == nil)
            #expect(try store.write("room", "a", "2", expecting: 2) == nil)
            // Made again, it goes on counting.
            #expect(try store.write("room", "a", "2", expecting: 0) == 3)
            #expect(try store.objects("room").map(\.version) == [3])
        }
    }

    @Test(arguments: stores) func aWatcherIsWokenOnceForWhatItHasNotSeen(_ name: String) async throws {
        try await withStore(name) { store async throws -> Void in
            var rooms = store.watch("room").makeAsyncIterator()
            for version in 0..<5 { _ = try store.write("room", "a", "\(version)", expecting: Int64(version)) }
            _ = try store.write("structure", "s", "x", expecting: 0)
            #expect(await rooms.next() != nil)
            // Nothing is left of the five, so this one is the next.
            _ = try store.delete("room", "a", expecting: 5)
            #expect(await rooms.next() != nil)
        }
    }

    @Test func aChangeSurvivesAPowerCut() async throws {
        try await withStore("file") { store async throws -> Void in
            #expect(try #require(store as? SQLiteSharedStore).durability() == 2)
        }
    }

    @Test func aFileOfAnEarlierVersionIsRead() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shared-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: SQLiteSharedStore.fileName).path
        try DatabaseQueue(path: path).write { database in
            try database.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('objects');
                    CREATE TABLE objects (
                        kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
                        PRIMARY KEY (kind, id)) WITHOUT ROWID;
                    INSERT INTO objects VALUES ('home', 'home', 1, 'abc'), ('recordingConnections', 'door', 4, '{}');
                    """)
        }
        let store = try SQLiteSharedStore(path: path)
        #expect(store.home == "abc")
        #expect(try store.object("recordingConnections", "door")?.version == 4)
    }
}
