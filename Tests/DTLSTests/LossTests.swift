import DTLS
import Testing
import Transport

@Suite struct LossTests {
    @Test func anyOneLostDatagramCostsAtMostOneRetransmission() throws {
        var clean = try Handshake(maximumDatagramSize: 400)
        clean.run()
        let counts = [true, false].map { toServer in clean.sent.count { $0.toServer == toServer } }
        #expect(counts[0] >= 3 && counts[1] >= 2)
        for (direction, count) in zip([true, false], counts) {
            for lost in 0..<count {
                var handshake = try Handshake(maximumDatagramSize: 400)
                handshake.fate = { toServer, number in toServer == direction && number == lost ? .drop : .deliver }
                handshake.run()
                #expect(handshake.client.state == .connected, "\(direction) \(lost)")
                #expect(handshake.server.state == .connected, "\(direction) \(lost)")
                #expect(handshake.keys.client?.localMasterKey == handshake.keys.server?.remoteMasterKey)
                #expect(handshake.client.retransmissions <= 1)
                #expect(handshake.now - Instant(nanoseconds: 1_000_000_000) < .seconds(61))
            }
        }
    }

    @Test(arguments: [1, 5, 20]) func lossReorderingAndCopiesDoNotStopAHandshake(percent: Int) throws {
        for seed in 0..<60 {
            var handshake = try Handshake(maximumDatagramSize: 500)
            let random = SharedRandom(seed: UInt64(seed * 100 + percent))
            handshake.fate = { _, _ in
                switch random.next(below: 100) {
                case 0..<percent: .drop
                case 90..<95: .duplicate
                case 95...: .delay(random.next(below: 150))
                default: .deliver
                }
            }
            handshake.run(limit: .seconds(30))
            #expect(handshake.client.state == .connected, "seed \(seed)")
            #expect(handshake.server.state == .connected, "seed \(seed)")
            #expect(handshake.keys.client?.localMasterKey == handshake.keys.server?.remoteMasterKey)
            #expect(handshake.sent.allSatisfy { $0.bytes.count <= 500 })
        }
    }

    @Test func everyDatagramTwiceChangesNothing() throws {
        var handshake = try Handshake()
        handshake.fate = { _, _ in .duplicate }
        handshake.run()
        #expect(handshake.client.state == .connected && handshake.server.state == .connected)
    }

    @Test func aSilentPeerEndsTheHandshakeAfterABoundedTime() throws {
        var handshake = try Handshake()
        handshake.fate = { _, _ in .drop }
        handshake.run(limit: .seconds(600))
        #expect(handshake.client.state == .failed(.timedOut(retransmissions: 10)))
        let deadline = handshake.client.nextDeadline
        #expect(deadline == nil)
        #expect(handshake.sent.count == 11)
        #expect(handshake.steps < 20)
        let elapsed = handshake.now - Instant(nanoseconds: 1_000_000_000)
        #expect(elapsed > .seconds(15) && elapsed < .seconds(30))
        // Each wait is twice the one before, up to a limit.
        let waits = zip(handshake.sent, handshake.sent.dropFirst()).map { $1.arrival - $0.arrival }
        #expect(waits.first == .milliseconds(100))
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $1 == min($0 * 2, .milliseconds(3_200)) })
        // The failed endpoint is inert.
        #expect(throws: Never.self) { try handshake.client.handleDeadline(at: .distantFuture) }
    }

    @Test func aServerWhoseClientVanishesGivesUpAsWell() throws {
        var handshake = try Handshake()
        handshake.fate = { toServer, number in toServer && number > 0 ? .drop : .deliver }
        handshake.run(limit: .seconds(600))
        #expect(handshake.server.state == .failed(.timedOut(retransmissions: 10)))
        #expect(handshake.steps < 100)
    }

    @Test func aCallBeforeTheDeadlineRepeatsNothing() throws {
        var handshake = try Handshake()
        handshake.client.start(at: .zero)
        #expect(handshake.client.drain().count == 1)
        let firstDeadline = handshake.client.nextDeadline
        let deadline = try #require(firstDeadline)
        #expect(deadline == .zero + .milliseconds(100))
        try handshake.client.handleDeadline(at: .zero + .milliseconds(99))
        #expect(handshake.client.drain().isEmpty)
        try handshake.client.handleDeadline(at: deadline)
        #expect(handshake.client.drain().count == 1)
        #expect(handshake.client.deadline == deadline + .milliseconds(200))
    }
}

/// A seeded sequence that closures share.
final class SharedRandom {
    private var source: RandomSource

    init(seed: UInt64) {
        source = .seeded(seed)
    }

    func next(below limit: Int) -> Int {
        Int.random(in: 0..<limit, using: &source)
    }
}
