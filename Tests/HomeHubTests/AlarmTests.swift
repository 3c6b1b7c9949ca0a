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
        HomeAlarm(.recordingStopped, state, of: "door", reason: reason, at: self.time)
    }

    @Test func watchersGetAlarmsAndLaterOnesGetThoseThatLast() async throws {
        let hub = self.hub()
        var early = try await hub.changes(principal: "phone").makeAsyncIterator()
        await hub.take(self.alarm(.raised))
        await hub.take(self.alarm(.raised))
        await hub.take(HomeAlarm(.segmentsLost, .occurred, of: "door", reason: "missing", segments: 3, at: self.time))
        var late = try await hub.changes(principal: "phone").makeAsyncIterator()
        await hub.take(self.alarm(.cleared, "it is recorded again"))
        await hub.take(self.alarm(.cleared, "it is recorded again"))
        await hub.take(HomeAlarm(.uploadQueueFull, .raised, reason: "full", at: self.time))
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

    @Test func anAlarmOfAnEarlierRunIsOver() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/local-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        var cursor = ""
        do {
            let hub = self.hub(ChangeLog(try SQLiteLocalStore(path: path)))
            var events = try await hub.changes(principal: "phone").makeAsyncIterator()
            await hub.take(self.alarm(.raised))
            _ = await events.next()
            cursor = await events.next()?.id ?? ""
            hub.log.flush()
        }
        let hub = self.hub(ChangeLog(try SQLiteLocalStore(path: path)))
        var events = try await hub.changes(principal: "phone", after: cursor).makeAsyncIterator()
        let change = await events.next()?.change
        #expect(change == .alarm(self.alarm(.cleared, "the gateway was restarted")))
        #expect(await hub.lastingAlarms.isEmpty)
    }
}
