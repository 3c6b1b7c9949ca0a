import Testing
import Transport

@testable import Gateway

/// When the STUN servers are asked again because the network has changed.
@Suite struct NetworkWatchTests {
    private static let home = TransportAddress(ipv4: 0xC0A8_010A, port: 0)
    private static let other = TransportAddress(ipv4: 0x0A00_0002, port: 0)

    /// A watch that sees the network in virtual time.
    private struct World {
        var watch = NetworkWatch()
        var now = Instant(nanoseconds: 1_000_000_000)

        mutating func sees(
            _ hosts: Set<TransportAddress>, hasReturned: Bool = false, after wait: Duration = .seconds(5)
        ) -> Bool {
            now += wait
            return watch.asks(hosts: hosts, hasReturned: hasReturned, at: now)
        }
    }

    @Test func anotherAddressOfThisHostIsAReasonAndTheSameOneIsNot() {
        var world = World()
        let looks: [Set<TransportAddress>] = [[Self.home], [Self.home], [Self.other], [Self.other]]
        let asked = looks.map { world.sees($0) }
        #expect(asked == [false, false, true, false])
    }

    @Test func aNetworkThatIsAwayIsAReasonOnceItIsBack() {
        var world = World()
        let looks: [Set<TransportAddress>] = [[Self.home], [], [], [Self.home]]
        let asked = looks.map { world.sees($0) }
        #expect(asked == [false, false, false, true])
    }

    @Test func namesThatHaveAddressesAgainAreAReason() {
        var world = World()
        let asked = [world.sees([Self.home]), world.sees([Self.home], hasReturned: true), world.sees([Self.home])]
        #expect(asked == [false, true, false])
    }

    @Test func anInterfaceThatComesAndGoesTroublesNoServer() {
        var world = World()
        var asked = [world.sees([Self.home])]
        for _ in 0..<12 {
            asked.append(world.sees([Self.home, Self.other], after: .seconds(1)))
            asked.append(world.sees([Self.home], after: .seconds(1)))
        }
        // 24 changes within 24 seconds: the first one, and one after 15 seconds.
        #expect(asked.count { $0 } == 2)
        // The last change is not forgotten.
        let isAskedLater = world.sees([Self.home], after: .seconds(15))
        #expect(isAskedLater)
    }
}
