import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// What waits between a broker and the home.
@Suite struct MQTTUpdatesTests {
    private func report(_ isOn: Bool, endpoint: UInt16 = 1) -> DeviceUpdate {
        .report(endpoint: endpoint, TraitCollection([Matter.OnOffTrait(attributes: .init(onOff: isOn))]))
    }

    private func all(_ pending: inout PendingUpdates) -> [DeviceUpdate] {
        var result: [DeviceUpdate] = []
        while let update = pending.takeFirst() { result.append(update) }
        return result
    }

    @Test func `updates keep their order while there is room`() {
        var pending = PendingUpdates()
        let updates = (0..<PendingUpdates.limit).map { report($0.isMultiple(of: 2)) }
        for update in updates { pending.add(update) }
        #expect(all(&pending) == updates)
    }

    @Test func `states are put together when too many wait, and the newest of each counts`() {
        var pending = PendingUpdates()
        let (online, offline) = (
            SourceConnectivity(connectivityState: .online, dataSourceLocality: .localPeer),
            SourceConnectivity(connectivityState: .offline, dataSourceLocality: .localPeer)
        )
        pending.add(
            .report(endpoint: 2, TraitCollection([Matter.LevelControlTrait(attributes: .init(currentLevel: 7))])))
        pending.add(.connectivity(endpoint: 2, offline))
        pending.add(.connectivity(endpoint: nil, offline))
        pending.add(.together([.connectivity(endpoint: 1, online), report(true, endpoint: 2)]))
        for number in 0..<100_000 {
            pending.add(report(number.isMultiple(of: 2)))
            #expect(pending.count <= PendingUpdates.limit + 1)
        }
        var wanted = TraitCollection([Matter.LevelControlTrait(attributes: .init(currentLevel: 7))])
        wanted.set(Matter.OnOffTrait(attributes: .init(onOff: true)))
        let rest = all(&pending)
        guard case .together(let sum)? = rest.first else {
            Issue.record("nothing was put together")
            return
        }
        #expect(
            sum.prefix(2) == [.connectivity(endpoint: nil, offline), .connectivity(endpoint: 1, online)]
                && sum.contains(.report(endpoint: 2, wanted)))
        #expect(rest.last == report(false))
        #expect(pending.dropped == 0)
    }

    @Test func `a new description replaces what waits, and of events the oldest give way`() {
        var pending = PendingUpdates()
        for _ in 0..<10 { pending.add(report(true)) }
        let parts = [EndpointDescription(id: 1, types: [OnOffLightDeviceType.self])]
        pending.add(.endpoints(parts))
        for number in 0..<PendingUpdates.limit {
            pending.add(.doorbellPressed(.init(priority: Int64(number))))
        }
        let rest = all(&pending)
        #expect(rest.first == .together([.endpoints(parts)]))
        #expect(rest.last == .doorbellPressed(.init(priority: Int64(PendingUpdates.limit - 1))))
        #expect(pending.dropped > 0 && pending.dropped + rest.count - 1 == PendingUpdates.limit)
    }

    @Test func `a reader gets everything that was added before the end`() async {
        let updates = MQTTUpdates()
        updates.add(report(true))
        updates.add(report(false))
        updates.finish()
        updates.add(report(true))
        var read: [DeviceUpdate] = []
        for await update in updates.stream { read.append(update) }
        #expect(read == [report(true), report(false)])
    }

    @Test func `a writer of a full mailbox waits until its reader has taken something`() async {
        let mailbox = Mailbox<Int>(capacity: 3)
        let source = Task {
            for number in 0..<1_000 {
                await mailbox.waitForRoom()
                mailbox.add(number)
            }
        }
        var read: [Int] = []
        for await _ in mailbox.arrivals {
            let taken = mailbox.takeAll()
            #expect(taken.count <= 3)
            read += taken
            if read.count == 1_000 { break }
        }
        #expect(read == Array(0..<1_000))
        await source.value
        // A source does not wait for a reader that has left.
        for number in 0..<3 { mailbox.add(number) }
        let waiting = Task { await mailbox.waitForRoom() }
        mailbox.finish()
        await waiting.value
        mailbox.add(1)
        #expect(mailbox.takeAll().isEmpty)
    }
}
