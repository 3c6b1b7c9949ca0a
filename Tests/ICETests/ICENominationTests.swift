import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// What a controlled agent makes of the nominations of a peer, played by hand.
@Suite struct ICENominationTests {
    private final class HandPlayedPeer {
        let peer: ICEPeer
        let remote: ICECredentials
        var now = Instant(nanoseconds: 1_000_000_000)
        private var id: UInt64 = 0

        init() throws {
            peer = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 5, reach: .everything)
            var random = RandomSource.seeded(1)
            remote = ICECredentials(using: &random)
            peer.agent.setRemote(credentials: remote)
        }

        /// Checks from `port`, and answers whatever the agent asks in return.
        func check(port: UInt16, nominates: Bool, priority: UInt32 = 0x6E00_00FF) throws {
            id += 1
            let source = TransportAddress(ipv4: 0xC633_6407, port: port)
            let bytes = try Message.request(
                to: peer.credentials, from: remote, id: id, nominates: nominates, priority: priority)
            bytes.withUnsafeBytes { _ = peer.agent.handle($0, from: source, to: peer.addresses[0], at: now) }
            try answer()
        }

        /// Answers all that the agent sends.
        func answer() throws {
            var waiting = peer.takeOutput(at: now)[...]
            for _ in 0..<100 {
                guard let sent = waiting.popFirst() else { return }
                guard sent.bytes[0] == 0 else { continue }
                let response = try Message.response(to: sent.bytes, password: remote.password)
                response.withUnsafeBytes {
                    _ = peer.agent.handle($0, from: sent.destination, to: peer.addresses[0], at: now)
                }
                waiting += peer.takeOutput(at: now)
            }
        }

        /// Lets time pass, all checks answered.
        func pass(_ duration: Duration) throws {
            let end = now + duration
            while let deadline = peer.nextDeadline, deadline <= end {
                now = max(now, deadline)
                peer.handleDeadline(at: now)
                try answer()
            }
            now = end
        }

        var selectedPort: UInt16? { peer.selectedRemote?.port }
    }

    @Test func aCheckWithoutANominationSelectsNothing() throws {
        let played = try HandPlayedPeer()
        try played.check(port: 1, nominates: false)
        #expect(played.selectedPort == nil)
        #expect(played.peer.agent.validRemoteAddress?.port == 1)
        try played.check(port: 1, nominates: true)
        #expect(played.selectedPort == 1)
    }

    @Test func amongAggressiveNominationsTheHighestPriorityWins() throws {
        let played = try HandPlayedPeer()
        try played.check(port: 1, nominates: true, priority: 200)
        try played.check(port: 2, nominates: true, priority: 100)
        #expect(played.selectedPort == 1)
        try played.check(port: 3, nominates: true, priority: 300)
        #expect(played.selectedPort == 3)
    }

    @Test func laterTheNewestNominationWins() throws {
        let played = try HandPlayedPeer()
        try played.check(port: 1, nominates: true, priority: 200)
        try played.pass(.seconds(20))
        try played.check(port: 2, nominates: true, priority: 100)
        #expect(played.selectedPort == 2)
        // And it stays for a while, so that a peer which nominates two pairs in turn does not make the path flap.
        try played.check(port: 1, nominates: true, priority: 100)
        #expect(played.selectedPort == 2)
        try played.pass(.seconds(3))
        try played.check(port: 1, nominates: true, priority: 100)
        #expect(played.selectedPort == 1)
    }

    @Test func checksThatKeepAPairInReserveMoveNothing() throws {
        let played = try HandPlayedPeer()
        try played.check(port: 1, nominates: true)
        for _ in 0..<20 {
            try played.pass(.seconds(3))
            try played.check(port: 2, nominates: false)
            #expect(played.selectedPort == 1)
        }
    }

    @Test func aNominationIsOnlyFollowedToAnAddressThatAnswers() throws {
        let played = try HandPlayedPeer()
        try played.check(port: 1, nominates: true)
        try played.pass(.seconds(20))
        // A recorded request that is sent again from a stranger's address: the stranger cannot answer.
        let stranger = TransportAddress(ipv4: 0xC000_0242, port: 666)
        let bytes = try Message.request(
            to: played.peer.credentials, from: played.remote, id: 4711, nominates: true)
        bytes.withUnsafeBytes {
            _ = played.peer.agent.handle($0, from: stranger, to: played.peer.addresses[0], at: played.now)
        }
        #expect(played.selectedPort == 1)
    }
}
