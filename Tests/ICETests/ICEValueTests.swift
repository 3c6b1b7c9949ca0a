import ICE
import STUN
import Testing
import Transport

@Suite struct ICEValueTests {
    @Test func theDemultiplexerFindsTheNameOfASession() throws {
        var random = RandomSource.seeded(1)
        let local = ICECredentials(using: &random)
        let remote = ICECredentials(using: &random)
        let request = try Message.request(to: local, from: remote, id: 1)
        func name(_ bytes: [UInt8]) -> String? {
            bytes.withUnsafeBytes { raw in
                ICE.localUsernameFragment(inBindingRequest: raw).map { String(decoding: $0, as: UTF8.self) }
            }
        }
        #expect(name(request) == local.usernameFragment)
        #expect(name(try Message.response(to: request, password: "")) == nil)
        #expect(name([]) == nil)
        for count in 0..<request.count {
            let found = name(Array(request.prefix(count)))
            #expect(found == nil || found == local.usernameFragment)
        }
        var withoutColon = request
        while let colon = withoutColon.firstIndex(of: UInt8(ascii: ":")) { withoutColon[colon] = 0x20 }
        #expect(name(withoutColon) == nil)
    }

    @Test func prioritiesAreThoseOfTheStandard() {
        #expect(ICE.candidatePriority(type: .host, localPreference: 65_535) == 2_130_706_431)
        #expect(ICE.candidatePriority(type: .serverReflexive, localPreference: 65_535) == 1_694_498_815)
        #expect(ICE.candidatePriority(type: .relayed, localPreference: 0, component: 2) == 254)
    }

    @Test func credentialsHaveTheLengthsOfTheStandard() {
        var random = RandomSource.system
        let credentials = ICECredentials(using: &random)
        #expect(credentials.hasStandardLengths)
        #expect(!ICECredentials(usernameFragment: "abc", password: credentials.password).hasStandardLengths)
        #expect(!ICECredentials(usernameFragment: "abcd", password: "short").hasStandardLengths)
    }

    @Test func localCandidatesAreOrderedByTheirPlace() throws {
        let peer = try ICEPeer(.controlled, at: ["2001:db8::5", "203.0.113.5", "203.0.113.6"], seed: 1)
        let candidates = peer.agent.localCandidates
        #expect(candidates.map(\.address) == peer.addresses)
        #expect(zip(candidates, candidates.dropFirst()).allSatisfy { $0.priority > $1.priority })
        #expect(Set(candidates.map(\.foundation)).count == 3)
    }

    /// Whatever the local preference of the peer's candidate is, the pairs of the reached addresses come first.
    @Test(arguments: [30, 40, 0x7E00, 65_535] as [UInt16])
    func thePairsOfTheReachedAddressesComeBeforeAllOthers(viewersPreference: UInt16) throws {
        let addresses = try ["203.0.113.5", "203.0.113.6", "203.0.113.7", "2001:db8::5"].map {
            try #require(TransportAddress($0, port: 8189))
        }
        let candidates = ICELocalCandidate.all(ICEAddresses(hosts: addresses, reachedHosts: 2))
        #expect(candidates.map(\.address) == addresses)
        #expect(Set(candidates.map(\.priority)).count == 4)
        #expect(zip(candidates, candidates.dropFirst()).allSatisfy { $0.priority > $1.priority })
        // The lower one of both priorities decides on a pair (RFC 8445, section 6.1.2.3).
        let viewers = ICE.candidatePriority(type: .host, localPreference: viewersPreference)
        let leastOfAViewer = ICE.candidatePriority(type: .host, localPreference: 30)
        #expect(candidates[..<2].allSatisfy { min($0.priority, viewers) >= leastOfAViewer })
        #expect(candidates[2...].allSatisfy { $0.priority < leastOfAViewer })
        // Every host candidate comes before the reflexive ones.
        #expect(
            candidates.allSatisfy {
                $0.priority > ICE.candidatePriority(type: .serverReflexive, localPreference: 65_535)
            })
    }

    @Test func anAgentIsSmall() {
        #expect(MemoryLayout<ICEAgent>.size <= 1024, "\(MemoryLayout<ICEAgent>.size)")
        #expect(MemoryLayout<ICEEvent>.size <= 64, "\(MemoryLayout<ICEEvent>.size)")
    }
}
