import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

/// The event that the config, or the settings of the cameras, have changed.
@Suite struct ConfigurationChangeTests {
    // Changes are kept for a week, and their times are written in whole seconds.
    private let time = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    private var summary: ConfigurationSummary { ConfigurationSummary(loadedAt: time, problems: 2, needsRestart: 1) }

    private func hub(_ log: ChangeLog = ChangeLog()) -> HomeHub {
        HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services, log: log, now: { self.time })
    }

    @Test func `only administrators of the whole home get it`() async throws {
        let everythingElse = Set(Caller.Scope.allCases).subtracting([.admin])
        let watchers: [(grants: [Access.Grant], sees: Bool)] = [
            (Access.everything.grants, true), ([.init([.admin])], true), ([.init([.read])], false),
            ([.init(everythingElse)], false), ([.init([.read]), .init([.admin], structureID: "s1")], false),
            ([.init([.admin, .read], structureID: "s1")], false), ([.init([.admin, .read], deviceID: "door")], false),
            ([], false),
        ]
        for watcher in watchers {
            let hub = self.hub()
            let events = try await hub.changes(principal: "phone", access: Access(watcher.grants))
            await hub.take(summary)
            await hub.finishChanges()
            var seen: [HomeChange] = []
            for await event in events where event.name == "configuration" { seen += [event.change].compactMap { $0 } }
            #expect(seen == (watcher.sees ? [.configuration(summary)] : []), "\(watcher.grants)")
        }
    }

    @Test func `a client that continues after a restart gets it, and a new one reads the config itself`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/local-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        var cursor = ""
        do {
            let hub = self.hub(ChangeLog(try SQLiteLocalStore(path: path)))
            var events = try await hub.changes(principal: "phone").makeAsyncIterator()
            cursor = await events.next()?.id ?? ""
            await hub.take(summary)
            hub.log.flush()
        }
        let hub = self.hub(ChangeLog(try SQLiteLocalStore(path: path)))
        var events = try await hub.changes(principal: "phone", after: cursor).makeAsyncIterator()
        let change = await events.next()?.change
        #expect(change == .configuration(summary))
        let fresh = try await hub.changes(principal: "phone")
        await hub.finishChanges()
        for await event in fresh { #expect(event.name != "configuration") }
    }
}
