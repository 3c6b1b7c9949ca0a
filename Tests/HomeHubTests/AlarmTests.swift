import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

/// Alarms in the event stream.
@Suite struct AlarmTests {
    // Changes are kept for a week, and their times are written in whole seconds.
    private let time = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    private func hub(_ log: ChangeLog = ChangeLog()) -> HomeHub {
        HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services, log: log, now: { self.time })
    }

    private func alarm(_ state: HomeAlarm.State, _ reason: String = "no room") -> HomeAlarm {
        HomeAlarm(.recordingStopped, state, of: "door", reason: reason, at: time)
    }

    @Test func watchersGetAlarmsAndLaterOnesGetThoseThatLast() async throws {
        let hub = self.hub()
        var early = try await hub.changes(principal: "phone").makeAsyncIterator()
        await hub.take(self.alarm(.raised))
        await hub.take(self.alarm(.raised))
        await hub.take(HomeAlarm(.segmentsLost, .occurred, of: "door", reason: "missing", segments: 3, at: time))
        var late = try await hub.changes(principal: "phone").makeAsyncIterator()
        await hub.take(self.alarm(.cleared, "it is recorded again"))
        await hub.take(self.alarm(.cleared, "it is recorded again"))
        await hub.take(HomeAlarm(.uploadQueueFull, .raised, reason: "full", at: time))
        func next(_ events: inout HomeEvents.Iterator) async -> String {
            var event = await events.next()
            while event?.name == "structure" { event = await events.next() }
            guard let event, case .alarm(let alarm)? = event.change else {
                return "another event"
            }
            #expect(event.name == "alarm")
            return "\(alarm.kind) \(alarm.state)"
        }
        for expected in [
            "recordingStopped raised", "segmentsLost occurred", "recordingStopped cleared", "uploadQueueFull raised",
        ] {
            let received = await next(&early)
            #expect(received == expected)
        }
        for expected in ["recordingStopped raised", "recordingStopped cleared", "uploadQueueFull raised"] {
            let received = await next(&late)
            #expect(received == expected)
        }
    }

    @Test
    func `the alarm of an automation is for its owner, for administrators, and for those who read the whole home`()
        async throws
    {
        var alarm = HomeAlarm(.automationPaused, .raised, automation: "a1", reason: "too often", at: time)
        alarm.structureID = "s1"
        alarm.owner = "app/1"
        func grant(_ scopes: Set<Caller.Scope>, in structure: String? = "s1") -> Access {
            Access([.init(scopes, structureID: structure)])
        }
        let watchers: [(principal: String, access: Access, sees: Bool)] = [
            ("app/1", grant([.automate]), true), ("app/1", grant([.read]), false),
            ("app/1", grant([.automate], in: "s2"), false), ("app", grant([.automate, .read]), false),
            ("app/2", grant([.automate, .read, .control]), false), ("boss", grant([.automate, .admin]), true),
            ("boss", grant([.admin]), false), ("reader", grant([.read], in: nil), true),
        ]
        for watcher in watchers {
            let hub = self.hub()
            let early = try await hub.changes(principal: watcher.principal, access: watcher.access)
            await hub.take(alarm)
            let late = try await hub.changes(principal: watcher.principal, access: watcher.access)
            await hub.take(alarm.cleared(because: "it was deleted", at: time))
            await hub.finishChanges()
            var seen: [[HomeAlarm.State]] = []
            for events in [early, late] {
                var states: [HomeAlarm.State] = []
                for await event in events {
                    if case .alarm(let alarm)? = event.change { states.append(alarm.state) }
                }
                seen.append(states)
            }
            let expected: [HomeAlarm.State] = watcher.sees ? [.raised, .cleared] : []
            #expect(seen == [expected, expected], "\(watcher.principal) \(watcher.access)")
        }
    }

    @Test func anAlarmOfAnEarlierRunIsOver() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/local-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        var cursor = ""
        do {
            let hub = self.hub(ChangeLog(try SQLiteLocalStore(path: path)))
            var events = try await hub.changes(principal: "phone").makeAsyncIterator()
            await hub.take(alarm(.raised))
            _ = await events.next()
            cursor = await events.next()?.id ?? ""
            hub.log.flush()
        }
        let hub = self.hub(ChangeLog(try SQLiteLocalStore(path: path)))
        var events = try await hub.changes(principal: "phone", after: cursor).makeAsyncIterator()
        let change = await events.next()?.change
        #expect(change == .alarm(alarm(.cleared, "the gateway was restarted")))
        #expect(await hub.lastingAlarms.isEmpty)
    }
}
