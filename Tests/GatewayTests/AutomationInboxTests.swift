import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

struct AutomationInboxTests {
    @Test func `changes that are too many bytes, or come when others have waited too long, are read again`() {
        let time = Locked(Instant(nanoseconds: 0))
        let inbox = AutomationInbox(now: { time.withLock { $0 } })
        let report = HomeObservation.event(
            deviceID: "sensor", endpoint: 1, trait: "Switch", name: "InitialPress",
            fields: ["text": .text(String(repeating: "x", count: 65_536))])
        var count = 0
        while inbox.dropped == 0, count < 1_000 {
            inbox.take(report)
            count += 1
        }
        // 16 MiB in pieces of a little more than 64 KiB.
        #expect((230...256).contains(count))
        var batch = inbox.drain()
        #expect(batch.items.count == count - 1 && batch.missed == ["sensor"])
        #expect(inbox.drain().missed.isEmpty)

        inbox.take(.deviceRemoved(id: "lamp"))
        time.withLock { $0 += .seconds(59) }
        inbox.take(.deviceRemoved(id: "lamp"))
        time.withLock { $0 += .seconds(1) }
        inbox.take(.deviceRemoved(id: "other"))
        batch = inbox.drain()
        #expect(batch.items.count == 2 && batch.missed == ["other"] && inbox.dropped == 2)
        inbox.take(.deviceRemoved(id: "other"))
        #expect(inbox.drain().items.count == 1)
    }
}
