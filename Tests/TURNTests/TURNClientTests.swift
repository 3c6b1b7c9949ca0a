import STUN
import TURNFakes
import Testing
import Transport

@testable import TURN

@Suite struct TURNClientTests {
    private let peer = TransportAddress(ipv4: 0xC633_6407, port: 5000)
    private let check: [UInt8] = [0, 1, 0, 0]
    private let media: [UInt8] = [0x80, 96, 0, 1, 2]

    @Test func anAllocationIsMadeWithTheServersChallenge() {
        let world = TURNWorld()
        #expect(world.events == [.allocated([FakeTURNServer.relayed])])
        #expect(world.client.relayedAddresses == [FakeTURNServer.relayed])
        #expect(world.client.mappedAddress == FakeTURNServer.mapped)
        #expect(world.server.requests == [TURN.Method.allocate, TURN.Method.allocate])
    }

    @Test func aServerWithBothVersionsOfTheInternetProtocolRelaysByBoth() {
        let both = [FakeTURNServer.relayed, FakeTURNServer.relayedIPv6]
        var world = TURNWorld { $0.addresses = both }
        #expect(world.events == [.allocated(both)])
        let other = TransportAddress(ipv6High: 0x2001_0DB8_0000_0002, low: 9, port: 5000)
        for peer in [peer, other] {
            world.send(check, to: peer)
            world.send(media, to: peer)
            #expect(world.server.sent.last?.peer == peer && world.server.sent.last?.bytes == media)
        }
        world.deliver(world.server.indication(from: other, [1, 2, 3]))
        #expect(world.received.map(\.peer) == [other])
    }

    @Test(arguments: [true, false])
    func aServerWithIPv6AloneRelaysByThat(knowsBothFamilies: Bool) {
        var world = TURNWorld {
            $0.addresses = [FakeTURNServer.relayedIPv6]
            $0.knowsBothFamilies = knowsBothFamilies
        }
        #expect(world.events == [.allocated([FakeTURNServer.relayedIPv6])])
        #expect(world.send(check, to: peer) == 0 && world.server.permissions.isEmpty, "there is no way to an IPv4 peer")
    }

    /// As coturn 4.6 answers after it has refused the request for both.
    @Test func anAddressThatNobodyCanReachIsLeftOut() {
        let world = TURNWorld { $0.addresses = [TransportAddress(ipv4: 0, port: 0), FakeTURNServer.relayedIPv6] }
        #expect(world.events == [.allocated([FakeTURNServer.relayedIPv6])])
        let none = TURNWorld { $0.addresses = [TransportAddress(ipv4: 0, port: 0)] }
        #expect(none.events == [.failed(.contradictory)])
    }

    @Test func aServerWithoutAnyAddressIsLeftAlone() {
        let world = TURNWorld { $0.addresses = [] }
        #expect(world.events == [.failed(.refused(code: 440))])
        #expect(world.server.requests.count == 3, "one for the challenge, one for both, one for IPv6")
    }

    @Test func twoAddressesOfOneVersionMakeNoSense() {
        let world = TURNWorld { $0.addresses = [FakeTURNServer.relayed, FakeTURNServer.relayed.withPort(7000)] }
        #expect(world.events == [.failed(.contradictory)])
    }

    @Test func theFirstDatagramForAHostWaitsForThePermission() {
        var world = TURNWorld()
        #expect(world.send(check, to: peer) == 0)
        #expect(world.server.permissions == [peer.withPort(0)])
        #expect(world.server.sent.map(\.bytes) == [check] && world.server.sent.map(\.peer) == [peer])
        // The next one goes at once, and so does one to another port of the host.
        #expect(world.send(check, to: peer) > 0)
        #expect(world.send(check, to: peer.withPort(6000)) > 0)
        #expect(world.server.sent.count == 3)
        #expect(world.server.channels.isEmpty)
    }

    @Test(arguments: [false, true])
    func aPeerThatGetsMediaGetsAChannel(isStream: Bool) {
        var world = TURNWorld(isStream: isStream)
        world.send(check, to: peer)
        world.send(media, to: peer)
        #expect(world.server.channels.values.map { $0 } == [peer])
        #expect(world.send(media, to: peer) == (isStream ? 12 : 9))
        #expect(world.server.sent.last?.bytes == media && world.server.sent.last?.inChannel == true)
        let number = world.server.channels.keys.first ?? 0
        world.deliver([UInt8(number >> 8), UInt8(number & 0xFF), 0, 3, 7, 8, 9])
        #expect(world.received.map(\.bytes) == [[7, 8, 9]] && world.received.map(\.peer) == [peer])
    }

    @Test func whatAPeerSendsComesOutAndWhatAStrangerSendsDoesNot() {
        var world = TURNWorld()
        world.send(check, to: peer)
        world.deliver(world.server.indication(from: peer.withPort(7), [1, 2, 3]))
        world.deliver(world.server.indication(from: TransportAddress(ipv4: 0xC633_6408, port: 5000), [4]))
        world.deliver([0x40, 0, 0, 1, 5])
        #expect(world.received.map(\.bytes) == [[1, 2, 3]])
        #expect(world.received.map(\.peer) == [peer.withPort(7)])
    }

    @Test func theAllocationIsKeptForHours() {
        var world = TURNWorld()
        world.run(for: .seconds(7200))
        #expect(world.events == [.allocated([FakeTURNServer.relayed])])
        let refreshes = world.server.requests.count { $0 == TURN.Method.refresh }
        // Every 10 s, so that no router forgets the path, and a lost server is noticed.
        #expect((715...725).contains(refreshes))
    }

    @Test func permissionsAndChannelsAreKeptWhileTheyAreUsed() {
        var world = TURNWorld()
        world.send(check, to: peer)
        world.send(media, to: peer)
        for _ in 0..<60 {
            world.run(for: .seconds(60))
            world.send(media, to: peer)
        }
        // Each period of 240 s renews the channel, and the permission with it.
        let binds = world.server.requests.count { $0 == TURN.Method.channelBind }
        #expect((14...18).contains(binds))
        #expect(world.server.sent.filter(\.inChannel).count == 60)
        world.run(for: .seconds(1200))
        let before = world.server.requests.count { $0 != TURN.Method.refresh }
        world.run(for: .seconds(3600))
        #expect(world.server.requests.count { $0 != TURN.Method.refresh } == before)
        #expect(world.send(check, to: peer) == 0)
    }

    @Test func anotherNonceIsTakenUp() {
        var world = TURNWorld()
        world.server.nonce = "second"
        world.send(check, to: peer)
        #expect(world.server.permissions == [peer.withPort(0)])
        world.server.nonce = "third"
        world.run(for: .seconds(1000))
        #expect(world.events == [.allocated([FakeTURNServer.relayed])])
    }

    @Test func aServerThatChangesItsNonceWithoutEndIsLeftAlone() {
        var world = TURNWorld(settles: false) { $0.isSilent = true }
        for number in 0..<10 {
            guard let message = world.transmit() else { break }
            let id = message.withUnsafeBytes { try? STUNMessage(parsing: $0).transactionID }
            guard let id else {
                Issue.record("no request")
                return
            }
            world.deliver(
                FakeTURNServer.message(.errorResponse, TURN.Method.allocate, id) { builder in
                    builder.addErrorCode(438)
                    for (type, text) in [
                        (STUNAttributeType.realm, "realm"), (STUNAttributeType.nonce, "nonce \(number)"),
                    ] {
                        Array(text.utf8).withUnsafeBytes { builder.addAttribute(type, $0) }
                    }
                })
        }
        world.settle()
        #expect(world.events == [.failed(.contradictory)])
    }

    @Test func aChallengeWithoutARealmEndsTheClient() {
        let world = TURNWorld { $0.realm = "" }
        #expect(world.events == [.failed(.contradictory)])
    }

    @Test func aWrongPasswordEndsTheClient() {
        var world = TURNWorld { $0.password = "another" }
        #expect(world.events == [.failed(.wrongCredentials)])
        let before = world.server.requests.count
        world.run(for: .seconds(3600))
        #expect(world.server.requests.count == before && world.client.nextDeadline == nil)
    }

    @Test func aSilentServerEndsTheClient() {
        var world = TURNWorld { $0.isSilent = true }
        world.run(for: .seconds(40))
        #expect(world.events == [.failed(.noAnswer)])
        #expect(world.server.requests.count == 5)
    }

    @Test func anAllocationThatTheServerStillHasIsGivenBackFirst() {
        let world = TURNWorld { $0.isAllocated = true }
        #expect(world.events == [.allocated([FakeTURNServer.relayed])])
        #expect(world.server.requests.contains(TURN.Method.refresh))
    }

    @Test func aServerThatAlwaysHasAnotherAllocationIsLeftAlone() {
        let world = TURNWorld { $0.refusal = 437 }
        #expect(world.events == [.failed(.refused(code: 437))])
        #expect(world.server.requests.count < 10)
    }

    @Test func aLostAllocationIsNoticed() {
        var world = TURNWorld()
        world.server.isAllocated = false
        world.run(for: .seconds(30))
        #expect(world.events.last == .failed(.refused(code: 437)))
    }

    @Test(arguments: [486, 508, 400, 441] as [UInt16])
    func aRefusalEndsTheClient(code: UInt16) {
        var world = TURNWorld { $0.refusal = code }
        #expect(world.events == [.failed(code == 441 ? .wrongCredentials : .refused(code: code))])
        #expect(world.client.nextDeadline == nil && world.transmit() == nil)
    }

    @Test func aServerThatRefusesChannelsIsAskedForOneOnceAMinute() {
        var world = TURNWorld { $0.refusesChannels = true }
        world.send(check, to: peer)
        for _ in 0..<600 {
            world.send(media, to: peer)
            world.run(for: .milliseconds(100))
        }
        #expect((1...2).contains(world.server.requests.count { $0 == TURN.Method.channelBind }))
        // Media goes on without one.
        #expect(world.server.sent.count == 601)
    }

    @Test func overAStreamNothingIsSentTwice() {
        var world = TURNWorld(isStream: true) { $0.isSilent = true }
        world.run(for: .milliseconds(14_900))
        #expect(world.server.requests.count == 1 && world.events.isEmpty)
        // The next server is not held up for longer.
        world.run(for: .milliseconds(200))
        #expect(world.server.requests.count == 1 && world.events == [.failed(.noAnswer)])
    }

    /// What hangs after the challenge, as a process that is stopped then, holds up the next server no longer.
    @Test func aServerThatHangsAfterItsChallengeIsGivenUpAsSoon() {
        var world = TURNWorld(isStream: true, settles: false)
        guard let first = world.transmit(), let challenge = world.server.handle(first) else {
            Issue.record("no challenge")
            return
        }
        world.server.isSilent = true
        world.run(for: .seconds(1))
        world.deliver(challenge)
        world.settle()
        world.run(for: .seconds(14))
        #expect(world.events.isEmpty)
        world.run(for: .seconds(2))
        #expect(world.events == [.failed(.noAnswer)])
    }

    @Test func aRedirectionIsARefusal() {
        let world = TURNWorld { $0.refusal = 300 }
        #expect(world.events == [.failed(.refused(code: 300))])
    }

    @Test func anUnsignedAnswerIsIgnored() {
        var world = TURNWorld { $0.signs = false }
        #expect(world.events.isEmpty)
        world.run(for: .seconds(40))
        #expect(world.events == [.failed(.noAnswer)])
    }

    @Test func aRelayedAddressThatNobodyCanReachIsRefused() {
        var world = TURNWorld(settles: false) { $0.isSilent = true }
        guard let message = world.transmit(),
            let id = message.withUnsafeBytes({ try? STUNMessage(parsing: $0).transactionID })
        else {
            Issue.record("no request")
            return
        }
        world.deliver(
            FakeTURNServer.message(.successResponse, TURN.Method.allocate, id) { builder in
                builder.addAddress(TURN.Attribute.xorRelayedAddress, TransportAddress(ipv4: 0, port: 9))
            })
        world.settle()
        #expect(world.events == [.failed(.contradictory)])
    }

    @Test func closingGivesTheAllocationBack() {
        var world = TURNWorld()
        #expect(world.server.isAllocated)
        world.client.close(at: world.now)
        world.settle()
        #expect(!world.server.isAllocated)
        #expect(world.client.nextDeadline == nil)
        // An allocation that was given back must not be offered.
        #expect(world.client.relayedAddresses.isEmpty && world.client.mappedAddress == nil)
    }

    @Test func hostsThatAreNamedInMassesDoNotDisplaceOnesThatAnswer() {
        var world = TURNWorld()
        world.send(check, to: peer)
        world.deliver(world.server.indication(from: peer, [1]))
        for number in 0..<2000 as Range<UInt32> {
            world.send(check, to: TransportAddress(ipv4: 0xC633_0000 + number, port: 5000))
        }
        #expect(world.client.peers.permissionCount == TURNLimits.permissions)
        #expect(world.send(check, to: peer) > 0)
        let late = TransportAddress(ipv4: 0xC633_FFFF, port: 5000)
        world.send(check, to: late)
        #expect(world.server.permissions.contains(late.withPort(0)))
    }

    @Test func hostsThatAllAnswerAreBounded() {
        var world = TURNWorld()
        for number in 0..<300 as Range<UInt32> {
            let host = TransportAddress(ipv4: 0xC633_0000 + number, port: 5000)
            world.send(check, to: host)
            world.deliver(world.server.indication(from: host, [1]))
        }
        #expect(world.server.permissions.count == TURNLimits.permissions)
        // Those that nothing is sent to make room.
        world.run(for: .seconds(600))
        world.send(check, to: peer)
        #expect(world.server.permissions.contains(peer.withPort(0)))
    }

    @Test func aRefusedHostIsForgotten() {
        var world = TURNWorld()
        world.server.refusal = 403
        #expect(world.send(check, to: peer) == 0)
        #expect(world.server.sent.isEmpty && world.events.count == 1)
        world.server.refusal = nil
        world.send(check, to: peer)
        #expect(world.server.sent.map(\.bytes) == [check])
    }

    @Test func theAllocationDoesNotCarryWhatItCannot() {
        var world = TURNWorld()
        #expect(world.send([], to: peer) == 0)
        #expect(world.send([UInt8](repeating: 0x80, count: 2000), to: peer) == 0)
        #expect(world.send(check, to: TransportAddress(ipv6High: 1 << 60, low: 1, port: 5)) == 0)
        #expect(world.server.permissions.isEmpty)
    }
}
