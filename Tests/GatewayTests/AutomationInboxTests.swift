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
        #expect(batch.items.count == count - 1 && batch.missed.devices == ["sensor"])
        #expect(inbox.drain().missed.isEmpty)

        inbox.take(.deviceRemoved(id: "lamp"))
        time.withLock { $0 += .seconds(59) }
        inbox.take(.deviceRemoved(id: "lamp"))
        time.withLock { $0 += .seconds(1) }
        inbox.take(.deviceRemoved(id: "other"))
        batch = inbox.drain()
        #expect(batch.items.count == 2 && batch.missed.devices == ["other"] && inbox.dropped == 2)
        inbox.take(.deviceRemoved(id: "other"))
        #expect(inbox.drain().items.count == 1)
    }

    @Test func `what was dropped is read again: structures, and devices that have left`() async throws {
        let rig = try await AutomationServiceRig()
        let structure = try #require(await rig.hub.structures().first)
        let time = Locked(Instant(nanoseconds: 0))
        let full = AutomationInbox(now: { time.withLock { $0 } })
        full.take(.deviceRemoved(id: "other"))
        time.withLock { $0 += .seconds(60) }
        full.take(.structure(structure))
        #expect(full.drain().missed == .init(devices: [], structures: true))
        #expect(full.drain().missed.isEmpty)

        let service = rig.makeService()
        await service.readMissed(.init(devices: ["lamp", "gone"], structures: true))
        let reported = service.inbox.drain().items.map { item in
            switch item {
            case .home(.structure(let structure)): structure.id
            case .home(.device(let device)): device.id
            case .home(.deviceRemoved(let id)): "\(id) has left"
            default: "something else"
            }
        }
        #expect(reported == [structure.id, "gone has left", "lamp"])
        await service.readMissed(.init())
        #expect(service.inbox.drain().items.isEmpty)
    }

    @Test func `a pause ends when every device is in the home and not offline`() async throws {
        let rig = try await AutomationServiceRig()
        let (inbox, pause) = (AutomationInbox(), EndablePause())
        /// Whether a pause that nobody has ended goes on.
        func goesOn(_ pause: EndablePause) async -> Bool { await pause.sleep(until: .now) }
        let lamp = try await rig.hub.device("lamp")
        var away = try await rig.hub.device("other")
        let other = away
        away.connectivityState = .offline
        inbox.end(pause, whenPresent: ["lamp", "other"])
        for report: HomeObservation in [
            .device(lamp), .device(away), .deviceRemoved(id: "lamp"), .device(other), .deviceRemoved(id: "sensor"),
        ] {
            inbox.take(report)
            #expect(await goesOn(pause))
        }
        inbox.take(.device(lamp))
        #expect(await !goesOn(pause))

        let (nobody, stopped) = (EndablePause(), EndablePause())
        inbox.end(nobody, whenPresent: [])
        #expect(await !goesOn(nobody))
        inbox.end(stopped, whenPresent: ["lamp"])
        inbox.stopAwaiting()
        inbox.take(.device(lamp))
        #expect(await goesOn(stopped))
    }
}
