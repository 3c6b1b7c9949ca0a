import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

@Suite struct UpdateInboxTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func state(_ reason: String = "") -> CameraUpdate {
        .source(CameraSourceStatus(state: .backingOff, reason: reason))
    }

    private func until(_ isSo: () -> Bool) async {
        let isTrue = await becomesTrue { isSo() }
        #expect(isTrue, "it did not become so")
    }

    private func all(_ inbox: UpdateInbox) async -> [CameraUpdate] {
        let end = CameraUpdate.eventSource(EventSourceStatus(state: .stopped, reason: "the end of this test"))
        inbox.add(end, at: start)
        var result: [CameraUpdate] = []
        while let update = await inbox.next(), update != end { result.append(update) }
        return result
    }

    @Test func thousandsOfStatesCostNoPress() async {
        let inbox = UpdateInbox()
        let press = CameraUpdate.doorbellPressed(.init())
        inbox.add(press, at: start)
        for number in 0..<5_000 { inbox.add(state("attempt \(number)"), at: start) }
        let updates = await all(inbox)
        #expect(updates.first == press)
        #expect(updates.last == state("attempt 4999"))
        // More than the hundred of before, in 64 KiB.
        #expect(updates.count > 150 && updates.count + inbox.dropped == 5_001)
    }

    @Test func bytesBoundHugeUpdates() async {
        let inbox = UpdateInbox()
        let long = String(repeating: "x", count: 30_000)
        for number in 0..<9 { inbox.add(state("\(number)\(long)"), at: start) }
        #expect(await all(inbox) == [state("7\(long)"), state("8\(long)")])
        // One that is larger than everything is the present state nevertheless.
        let huge = state(String(repeating: "x", count: 1 << 20))
        inbox.add(huge, at: start)
        #expect(await inbox.next() == huge)
    }

    @Test func unreadEventsExpireAfterAMinute() async {
        let inbox = UpdateInbox()
        let press = CameraUpdate.doorbellPressed(.init())
        inbox.add(state("old"), at: start)
        inbox.add(press, at: start)
        inbox.add(state("newer"), at: start + .seconds(59))
        inbox.add(press, at: start + .seconds(61))
        #expect(await all(inbox) == [state("newer"), press])
        #expect(inbox.dropped == 2)
        // An old state is the present one nevertheless, and costs no later press.
        inbox.add(state("newest"), at: start)
        inbox.add(press, at: start + .seconds(500))
        #expect(await inbox.next() == state("newest"))
        #expect(await inbox.next() == press)
    }

    @Test func aWaitingReaderGetsTheNextUpdateAndTheEnd() async {
        let inbox = UpdateInbox()
        async let first = inbox.next()
        inbox.add(state("one"))
        #expect(await first == state("one"))
        async let second = inbox.next()
        inbox.finish()
        #expect(await second == nil)
        inbox.add(state("two"))
        #expect(await inbox.next() == nil)
    }

    @Test func `what was added is applied when the reader comes back for more`() async {
        let inbox = UpdateInbox()
        inbox.add(state("one"))
        inbox.add(state("two"))
        #expect(await inbox.next() == state("one"))
        let log = Locked<[String]>([])
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await inbox.applied()
                log.withLock { $0.append("applied") }
            }
            // The wait has begun: the reader has the first update and has not come back.
            await until { inbox.waits > 0 }
            #expect(await inbox.next() == state("two"))
            log.withLock { $0.append("read") }
            // Coming back for the third applies the second.
            group.addTask { _ = await inbox.next() }
            await group.next()
            inbox.finish()
        }
        #expect(log.withLock { $0 } == ["read", "applied"])
    }

    @Test func `a wait for updates to be applied ends with an idle reader, and at the end`() async {
        let idle = UpdateInbox()
        async let next = idle.next()
        await until { idle.isIdle }
        await idle.applied()
        idle.finish()
        #expect(await next == nil)

        let ended = UpdateInbox()
        ended.add(state("one"))
        ended.add(state("two"))
        _ = await ended.next()
        async let applied: Void = ended.applied()
        await until { ended.waits > 0 }
        ended.finish()
        await applied
        await ended.applied()
    }
}
