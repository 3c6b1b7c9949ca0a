import Foundation
import HomeFakes
import HomeTypes
import PushAvStreamTransport
import Testing

@testable import HomeHub

/// Recording connections that cannot be read, because a disk has damaged them or a newer version has written them.
extension TransportTests {
    private static let upload = """
        {"transportOptions":{"streamUsage":"recording","videoStreamID":null,"tlsEndpointID":0,\
        "url":"https://ingest.example/","triggerOptions":{"triggerType":"continuous"},"ingestMethod":"cmafIngest",\
        "containerOptions":{"containerType":"cmaf","cmafContainerOptions":\
        {"cmafInterface":"interface1","segmentDuration":4000,"chunkDuration":1000}}}}
        """
    private static let newer = #"{"connections":"of a newer version"}"#

    private func shown(_ hub: HomeHub) async throws -> [String] {
        try #require(try await hub.device("door").traits[Push.self]?.currentConnections)
            .map { "\($0.connectionID) \($0.transportStatus.rawValue)" }
    }

    private func overwrite(_ store: any SharedStore, with body: String) throws {
        let version = try store.object(SharedConnectionStorage.kind, "door")?.version ?? 0
        let written = try store.write(SharedConnectionStorage.kind, "door", body, expecting: version)
        #expect(written != nil)
    }

    @Test func `connections that cannot be read are set aside, and the camera begins switched off`() async throws {
        let folder = TestFolder()
        let aside = ConnectionsAside(folder: folder.path)
        let store = MemorySharedStore()
        try overwrite(store, with: Self.newer)
        let first = SharedConnectionStorage(store, aside: aside)
        let hub = try await self.hub(first)
        let off = try await shown(hub)
        #expect(off == ["1 inactive"])
        let path = try #require(aside.records.first?.path)
        #expect(aside.records.map(\.body) == [Self.newer])
        #expect(first.losses.map(\.device) == ["door"])
        #expect(first.losses.first?.reason.contains(path) == true)
        // What is switched now is kept, and the record is still there.
        try await send("setTransportStatus", #"{"transportStatus":"active"}"#, to: hub)
        let second = SharedConnectionStorage(store, aside: aside)
        let on = try await shown(self.hub(second))
        #expect(on == ["1 active"])
        #expect(aside.records.map(\.body) == [Self.newer] && second.losses.map(\.device) == ["door"])
        // The owner gives them up.
        try FileManager.default.removeItem(atPath: path)
        let third = SharedConnectionStorage(store, aside: aside)
        let left = try await shown(self.hub(third))
        #expect(left == ["1 active"] && third.losses.isEmpty)
    }

    @Test func `connections come back when they can be read again`() async throws {
        let folder = TestFolder()
        let aside = ConnectionsAside(folder: folder.path)
        let store = MemorySharedStore()
        do {
            let hub = try await self.hub(SharedConnectionStorage(store, aside: aside))
            await hub.apply(FakeCamera.flowing, deviceID: "door")
            try await send("allocatePushTransport", Self.upload, to: hub)
            try await send("setTransportStatus", #"{"transportStatus":"active","connectionID":2}"#, to: hub)
        }
        let sound = try #require(store.object(SharedConnectionStorage.kind, "door")?.body)
        try overwrite(store, with: Self.newer)
        do {
            let hub = try await self.hub(SharedConnectionStorage(store, aside: aside))
            try await send("setTransportStatus", #"{"transportStatus":"active"}"#, to: hub)
        }
        // As if the version that runs now could read it.
        let path = try #require(aside.records.first?.path)
        try Data(sound.utf8).write(to: URL(fileURLWithPath: path))
        for _ in 1...2 {
            let storage = SharedConnectionStorage(store, aside: aside)
            let all = try await shown(self.hub(storage))
            #expect(all == ["1 active", "2 active"])
            #expect(storage.losses.isEmpty && aside.records.isEmpty)
        }
    }

    /// The number of a new connection.
    private func allocate(in hub: HomeHub) async throws -> UInt16 {
        await hub.apply(FakeCamera.flowing, deviceID: "door")
        try await send("allocatePushTransport", Self.upload, to: hub)
        let shown = try #require(try await hub.device("door").traits[Push.self]?.currentConnections)
        return try #require(shown.map(\.connectionID).max())
    }

    @Test(arguments: [true, false])
    func `no number is used again when connections are lost repeatedly`(isFileThere: Bool) async throws {
        let folder = TestFolder()
        let aside = ConnectionsAside(folder: folder.path)
        let store = MemorySharedStore()
        var made: [UInt16] = []
        for run in 0..<3 {
            let numbers = ConnectionNumbers(folder: folder.path)
            let storage = SharedConnectionStorage(store, aside: aside, numbers: numbers)
            let number = try await allocate(in: hub(storage))
            made.append(number)
            if run > 0 { #expect(storage.losses.map(\.device) == ["door"]) }
            // Either the file with the numbers is lost as well, or the owner gives up what is set aside.
            try overwrite(store, with: "damage \(run)")
            if isFileThere {
                for record in aside.records { try aside.remove(record) }
            } else {
                try FileManager.default.removeItem(atPath: folder.path + "/" + ConnectionNumbers.fileName)
            }
        }
        #expect(Set(made).count == 3 && made == made.sorted() && made[0] == 2)
    }

    @Test func `no number is used again with an older copy of the store, or without a store`() async throws {
        let folder = TestFolder()
        func storage(_ store: any SharedStore) -> SharedConnectionStorage {
            SharedConnectionStorage(store, numbers: ConnectionNumbers(folder: folder.path))
        }
        let store = MemorySharedStore()
        let first = try await allocate(in: hub(storage(store)))
        let copy = try #require(store.object(SharedConnectionStorage.kind, "door")?.body)
        let second = try await allocate(in: hub(storage(store)))
        try overwrite(store, with: copy)
        let third = try await allocate(in: hub(storage(store)))
        let fourth = try await allocate(in: hub(storage(MemorySharedStore())))
        #expect([first, second, third, fourth] == [2, 3, 4, 5])
    }

    @Test func `a record that cannot be set aside is not overwritten`() async throws {
        let folder = TestFolder()
        let missing = folder.path + "/missing"
        let aside = ConnectionsAside(folder: missing)
        let store = MemorySharedStore()
        try overwrite(store, with: Self.newer)
        let storage = SharedConnectionStorage(store, aside: aside)
        let hub = try await self.hub(storage)
        let off = try await shown(hub)
        #expect(off == ["1 inactive"])
        #expect(storage.losses.map(\.device) == ["door"])
        let refusal = await #expect(throws: HomeError.self) {
            try await send("setTransportStatus", #"{"transportStatus":"active"}"#, to: hub)
        }
        #expect(refusal?.code == .unavailable)
        let body = store.object(SharedConnectionStorage.kind, "door")?.body
        #expect(body == Self.newer)
        // As soon as it can be, changes are kept.
        try FileManager.default.createDirectory(atPath: missing, withIntermediateDirectories: true)
        try await send("setTransportStatus", #"{"transportStatus":"active"}"#, to: hub)
        #expect(aside.records.map(\.body) == [Self.newer])
        let again = try await shown(self.hub(SharedConnectionStorage(store, aside: aside)))
        #expect(again == ["1 active"])
    }
}
