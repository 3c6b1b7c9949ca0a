import SDP
import Testing

@Suite struct TrickleFragmentTests {
    struct Fragment: Decodable {
        var problems: [Expectation.Problem]
        var usernameFragment: String
        var candidates: Int
        var ends: Bool
        var mids: [String]
    }

    @Test(arguments: Samples.paths(in: "fragments"))
    func fragmentIsUnderstood(path: String) throws {
        let expected: Fragment = try Expectation.read(path)
        let fragment = try TrickleFragment(parsing: Samples.text(path))
        expect(fragment.problems, are: expected.problems, path)
        #expect(fragment.credentials?.usernameFragment == expected.usernameFragment)
        #expect(fragment.allCandidates.count == expected.candidates)
        #expect(fragment.endsCandidates == expected.ends)
        #expect(fragment.sections.compactMap(\.mid) == expected.mids)
    }

    @Test func fragmentIsReadAsItWasWritten() throws {
        let candidate = ICECandidate(foundation: "1", priority: 77, host: "192.0.2.1", port: 8189)
        let fragment = TrickleFragment(
            usernameFragment: "next", password: "0123456789abcdefghijkl", iceOptions: ["trickle"],
            sections: [.init(mid: "audio", candidates: [candidate], isComplete: true)])
        let text = fragment.encoded()
        #expect(
            text == """
                a=ice-ufrag:next\r
                a=ice-pwd:0123456789abcdefghijkl\r
                a=ice-options:trickle\r
                m=audio 9 UDP/TLS/RTP/SAVPF 0\r
                a=mid:audio\r
                a=candidate:1 1 udp 77 192.0.2.1 8189 typ host\r
                a=end-of-candidates\r

                """)
        #expect(try TrickleFragment(parsing: text) == fragment)
    }

    @Test func candidateOfTwoSectionsCountsOnce() throws {
        let candidate = ICECandidate(foundation: "1", priority: 77, host: "192.0.2.1", port: 8189)
        let second = ICECandidate(foundation: "1", component: 2, priority: 76, host: "192.0.2.1", port: 8190)
        let fragment = TrickleFragment(
            sections: [.init(mid: "0", candidates: [candidate, second]), .init(mid: "1", candidates: [candidate])])
        #expect(fragment.allCandidates == [candidate])
    }

    @Test func emptyFragmentIsRefused() {
        #expect(throws: SDPError.empty) { try TrickleFragment(parsing: "") }
        let json = "{\"candidate\":\"\"}"
        #expect(throws: SDPError.notADescription(line: 1, text: json)) { try TrickleFragment(parsing: json) }
    }
}
