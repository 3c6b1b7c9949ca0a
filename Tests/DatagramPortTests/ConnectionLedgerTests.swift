import DatagramPort
import Testing
import Transport

/// Which connections are closed when there are too many.
@Suite struct ConnectionLedgerTests {
    /// One connection, which records that it was closed.
    final class Connection: Sendable {
        let isClosed = Locked(false)
        var hasGivenWay: Bool { isClosed.withLock { $0 } }
    }

    func address(_ text: String) throws -> TransportAddress {
        try #require(TransportAddress(text, port: 40_000))
    }

    func enter(_ ledger: ConnectionLedger, _ host: String) throws -> Connection? {
        let connection = Connection()
        let isAdmitted = ledger.enter(connection, from: try address(host)) {
            connection.isClosed.withLock { $0 = true }
        }
        return isAdmitted ? connection : nil
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2"), ("::ffff:192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8:0:1::1"),
    ])
    func aHostHasItsShareAndItsOldestStrangerIsReplaced(host: String, other: String) throws {
        let ledger = ConnectionLedger(limits: .init(total: 100, perHost: 3, perPrincipal: 10))
        let held = try (0..<3).map { _ in try #require(try enter(ledger, host)) }
        let foreign = try #require(try enter(ledger, other))
        ledger.vouch(for: held[0], principal: "owner")
        // Those that have signed in do not count for the host: a proxy's clients are many.
        let fourth = try #require(try enter(ledger, host))
        #expect(held.allSatisfy { !$0.hasGivenWay })
        _ = try #require(try enter(ledger, host))
        #expect(held.map(\.hasGivenWay) == [false, true, false])
        #expect(!foreign.hasGivenWay)
        for connection in [held[2], fourth] { ledger.vouch(for: connection, principal: "owner") }
        #expect(try enter(ledger, host) != nil)
        #expect(ledger.counts.gaveWay == 1 && ledger.counts.refused == 0)
        #expect(ledger.counts.connections == 6 && ledger.counts.signedIn == 3)
    }

    @Test func `connections of a principal that may do nothing any more give way, the oldest first`() throws {
        let ledger = ConnectionLedger(limits: .init(total: 4, perHost: 4, perPrincipal: 2))
        let held = try (0..<3).map { _ in try #require(try enter(ledger, "192.0.2.1")) }
        let other = try #require(try enter(ledger, "192.0.2.3"))
        ledger.vouch(for: other, principal: "owner")
        // The newer one signs in first.
        for connection in [held[1], held[0]] { ledger.vouch(for: connection, principal: "guest") }
        #expect(!ledger.vouch(for: held[2], principal: "guest"))
        ledger.disown("guest")
        #expect(ledger.counts.signedIn == 1)
        var later: [Connection] = []
        for given in 1...2 {
            later.append(try #require(try enter(ledger, "192.0.2.2")))
            #expect(held.map(\.hasGivenWay) == [true, given > 1, false])
        }
        #expect(!other.hasGivenWay)
        // Somebody signs in again under this name.
        #expect(ledger.vouch(for: held[2], principal: "guest"))
        for connection in [held[2], other] { ledger.leave(connection) }
        #expect(ledger.counts.signedIn == 0 && ledger.counts.connections == 2)
        #expect(later.allSatisfy { !$0.hasGivenWay })
    }

    @Test func `A full server takes the place from the hosts with the most strangers`() throws {
        let (few, many) = (try address("192.0.2.1"), try address("192.0.2.2"))
        let strangers = [few, many, many]
        func yielding(to peer: TransportAddress, isFull: Bool, perHost: Int = 3) -> [TransportAddress]? {
            ConnectionLedger.yielding(to: peer, among: strangers, isFull: isFull, perHost: perHost, from: { $0 })
        }
        #expect(yielding(to: few, isFull: false) == nil)
        #expect(yielding(to: few, isFull: true) == [many, many])
        // A host that has its share replaces its own, and no other.
        #expect(yielding(to: few, isFull: true, perHost: 1) == [few])
        #expect(yielding(to: many.withPort(9), isFull: false, perHost: 2) == [many, many])
        let none = [TransportAddress]()
        let nobody = ConnectionLedger.yielding(to: few, among: none, isFull: true, perHost: 1, from: { $0 })
        #expect(nobody == none)
    }

    @Test func thousandsOfSignedInConnectionsLeaveTheStrangersTheirPlaces() throws {
        let ledger = ConnectionLedger(limits: .init(total: 2_000, strangers: 40, perHost: 20, perPrincipal: 1_500))
        var kept: [Connection] = []
        for _ in 0..<1_500 {
            let connection = try #require(try enter(ledger, "192.0.2.1"))
            ledger.vouch(for: connection, principal: "owner")
            kept.append(connection)
        }
        // Strangers replace one another long before the connections run out.
        for number in 0..<200 { kept.append(try #require(try enter(ledger, "198.51.100.\(number)"))) }
        #expect(kept[..<1_500].allSatisfy { !$0.hasGivenWay })
        #expect(ledger.counts.connections == 1_540 && ledger.counts.gaveWay == 160)
        // Beyond its share, a principal's connections are like a stranger's.
        let more = try #require(try enter(ledger, "192.0.2.1"))
        #expect(!ledger.vouch(for: more, principal: "owner"))
    }

    @Test func theOldestOfTheHostWithTheMostStrangersIsReplacedFirst() throws {
        let ledger = ConnectionLedger(limits: .init(total: 6, perHost: 6, perPrincipal: 6))
        let owner = try #require(try enter(ledger, "192.0.2.1"))
        let small = try #require(try enter(ledger, "192.0.2.2"))
        let large = try (0..<4).map { _ in try #require(try enter(ledger, "192.0.2.3")) }
        ledger.vouch(for: owner, principal: "owner")
        let new = try #require(try enter(ledger, "192.0.2.4"))
        #expect(large.map(\.hasGivenWay) == [true, false, false, false])
        #expect(!owner.hasGivenWay && !small.hasGivenWay && !new.hasGivenWay)
        // The attacker's own new connections replace its old ones.
        for _ in 0..<20 { _ = try #require(try enter(ledger, "192.0.2.3")) }
        #expect(large.allSatisfy { $0.hasGivenWay })
        #expect(!owner.hasGivenWay && !small.hasGivenWay && !new.hasGivenWay)
    }

    @Test func aHostThatOpensConnectionsWithoutEndDisplacesFewAndTheOthersGetIn() throws {
        let ledger = ConnectionLedger(limits: .init(total: 200, perHost: 100, perPrincipal: 100))
        let start = Instant.zero
        let hosts = try ["192.0.2.1", "192.0.2.2"].map { try address($0) }
        var kept: [Connection] = []
        func enter(_ host: TransportAddress, at now: Instant) -> Bool {
            kept.append(Connection())
            return ledger.enter(kept[kept.count - 1], from: host, at: now, close: {})
        }
        var admitted = 0
        for number in 0..<5_000 where enter(hosts[number % 2], at: start) { admitted += 1 }
        // The free places, and a burst from each.
        #expect(admitted == 180 + 2 * 64)
        // Others find the last tenth free, and then replace the attackers' connections.
        for number in 1...64 {
            let isAdmitted = enter(try address("198.51.100.\(number)"), at: start)
            #expect(isAdmitted)
        }
        let later = start + .seconds(1)
        admitted = 0
        for _ in 0..<1_000 where enter(hosts[0], at: later) { admitted += 1 }
        #expect(admitted == 10)
    }

    @Test func aPrincipalsShareIsItsOwn() throws {
        let ledger = ConnectionLedger(limits: .init(total: 4, perHost: 4, perPrincipal: 2))
        let guests = try (0..<4).map { _ in try #require(try enter(ledger, "192.0.2.1")) }
        for guest in guests { ledger.vouch(for: guest, principal: "guest") }
        #expect(!ledger.isFull)
        let owner = try #require(try enter(ledger, "192.0.2.2"))
        #expect(guests.map(\.hasGivenWay) == [false, false, true, false])
        ledger.vouch(for: owner, principal: "owner")
        #expect(ledger.counts.signedIn == 3)
    }

    @Test func thisMachineHasNoHostLimitButCountsInTheTotal() throws {
        let ledger = ConnectionLedger(limits: .init(total: 4, perHost: 1, perPrincipal: 4))
        let local = try (0..<4).map { _ in try #require(try enter(ledger, "127.0.0.1")) }
        _ = try #require(try enter(ledger, "192.0.2.1"))
        #expect(local.map(\.hasGivenWay) == [true, false, false, false])
    }

    @Test func replacedConnectionsMayStillLeave() throws {
        let ledger = ConnectionLedger(limits: .init(total: 8, perHost: 8, perPrincipal: 8))
        let held = try (0..<3).map { _ in try #require(try enter(ledger, "192.0.2.1")) }
        ledger.vouch(for: held[1], principal: "owner")
        #expect(ledger.shed(5) == 2)
        #expect(held.map(\.hasGivenWay) == [true, false, true])
        for connection in held { ledger.leave(connection) }
        #expect(ledger.counts.connections == 0 && ledger.counts.signedIn == 0)
    }

    @Test func withoutDescriptorsTheLimitDropsForAWhile() throws {
        let ledger = ConnectionLedger(limits: .init(total: 200, perHost: 200, perPrincipal: 50))
        let start = Instant.zero + .seconds(100)
        var kept: [Connection] = []
        func enter(_ host: String, at now: Instant) throws -> Bool {
            kept.append(Connection())
            return ledger.enter(kept[kept.count - 1], from: try address(host), at: now, close: {})
        }
        for number in 0..<100 { _ = try enter("192.0.2.\(number % 4)", at: start) }
        #expect(ledger.shed(16, at: start) == 16)
        // The strangers replace each other, and somebody else finds a place.
        for number in 0..<20 { _ = try enter("192.0.2.\(number % 4)", at: start) }
        let isAdmitted = try enter("198.51.100.1", at: start)
        #expect(isAdmitted && ledger.counts.connections == 84)
        // Later it is tried whether there are more.
        let later = start + .seconds(10)
        for number in 0..<20 { _ = try enter("192.0.2.\(number % 4)", at: later) }
        #expect(ledger.counts.connections == 104)
    }

    @Test func aProcessWithFewDescriptorsKeepsSomeForItsCameras() {
        let plenty = ConnectionLedger.Limits(descriptors: 16_384)
        #expect(plenty.total == 4_096 && plenty.strangers == 640 && plenty.perHost == 128)
        #expect(ConnectionLedger.Limits(descriptors: 1_024).total == 640)
        #expect(ConnectionLedger.Limits(descriptors: 512).total == 128)
        #expect(ConnectionLedger.Limits(descriptors: 64).total == 32)
    }

    @Test func theDescriptorLimitIsRaisedAsFarAsItGoes() {
        let raised = DescriptorLimit.raise()
        #expect(raised >= 256)
        // What holds is never lowered.
        #expect(DescriptorLimit.raise(to: 16) == raised)
    }
}
