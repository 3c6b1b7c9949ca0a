import ICE
import Testing
import Transport

/// A host that has one version of the Internet Protocol, and a TURN server that also has the other.
@Suite struct RelayedFamilyTests {
    private let host = "2001:db8::5"
    private let relay = "203.0.113.1"

    private func address(_ host: String, _ port: UInt16 = 8189) throws -> TransportAddress {
        try #require(TransportAddress(host, port: port))
    }

    @Test func relayedAddressesOfBothVersionsAreCandidates() throws {
        let relayed = [try address(relay), try address("2001:db8:1::1")]
        let candidates = ICELocalCandidate.all(ICEAddresses(hosts: [try address(host)], relayed: relayed))
        #expect(candidates.filter { $0.type == .relayed }.map(\.address) == relayed)
        #expect(candidates.filter { $0.type == .relayed }.map(\.base) == [try address(host), try address(host)])
        #expect(Set(candidates.map(\.foundation)).count == candidates.count)
    }

    @Test func aReflexiveAddressNeedsAHostOfItsVersion() throws {
        let candidates = ICELocalCandidate.all(
            ICEAddresses(hosts: [try address(host)], reflexive: [try address(relay)]))
        #expect(candidates.map(\.address) == [try address(host)])
    }

    /// The only way to an IPv4 peer is the TURN server's.
    @Test func aPeerOfTheOtherVersionIsReachedThroughTheServerOnly() throws {
        let peer = try ICEPeer(.controlled, at: [host], seed: 5, relayedAt: relay)
        peer.agent.setRemote(
            credentials: ICECredentials(usernameFragment: "viewer", password: "a password of 22 bytes"))
        let global = try address("198.51.100.7")
        #expect(peer.agent.addRemoteCandidate(RemoteCandidate(address: global, priority: 1)) == .accepted)
        // In the server's network a private address means another host.
        let local = try address("192.168.1.7")
        #expect(
            peer.agent.addRemoteCandidate(RemoteCandidate(address: local, priority: 1)) == .familyNotAvailable)
        var now = Instant(nanoseconds: 1_000_000_000)
        var destinations: Set<TransportAddress> = []
        var buffer = [UInt8](repeating: 0, count: 1_500)
        for _ in 0..<100 {
            now += .milliseconds(20)
            peer.agent.handleDeadline(at: now)
            while let transmit = buffer.withUnsafeMutableBytes({ peer.agent.pollTransmit(into: $0, at: now) }) {
                destinations.insert(transmit.destination)
            }
        }
        #expect(destinations == [global.by(.relayed)])
    }
}
