import SDP
import Testing
import Transport

@Suite struct ICECandidateTests {
    @Test(arguments: [
        "1 1 udp 2130706431 192.0.2.1 8189 typ host",
        "842163049 1 udp 1677729535 203.0.113.5 60000 typ srflx raddr 192.0.2.1 rport 60000 generation 0 ufrag EsAw",
        "3 2 tcp 1518214911 2001:db8::1 9 typ host tcptype active network-id 1",
        "4 1 ssltcp 99 192.0.2.1 443 typ relay raddr 0.0.0.0 rport 0",
        "5 1 udp 1 5e30b055-3c3c-47ca-be02-f9ce2f974636.local 42858 typ host",
    ])
    func candidateIsWrittenAsItWasRead(text: String) throws {
        #expect(try #require(ICECandidate(parsing: text)).text == text)
        #expect(ICECandidate(parsing: "candidate:" + text) == ICECandidate(parsing: text))
        #expect(ICECandidate(parsing: "a=candidate:" + text) == ICECandidate(parsing: text))
    }

    @Test func missingFoundationIsSupplied() throws {
        for text in [
            " 1 udp 2113939711 192.0.2.1 19305 typ host", "candidate: 1 udp 2113939711 192.0.2.1 19305 typ host",
        ] {
            let candidate = try #require(ICECandidate(parsing: text))
            #expect(candidate.component == 1)
            #expect(candidate.priority == 2_113_939_711)
            #expect(candidate.host == "192.0.2.1")
            #expect(candidate.text == "0 1 udp 2113939711 192.0.2.1 19305 typ host")
        }
    }

    @Test func namesAreNotAddresses() throws {
        let local = try #require(ICECandidate(parsing: "1 1 UDP 1 ABC.Local 5 typ host"))
        #expect(local.address == nil)
        #expect(local.isMulticastDNSName)
        let literal = try #require(ICECandidate(parsing: "1 1 UDP 1 192.0.2.7 5 typ host ufrag abcd"))
        #expect(literal.address == TransportAddress("192.0.2.7", port: 5))
        #expect(!literal.isMulticastDNSName)
        #expect(literal.usernameFragment == "abcd")
    }

    @Test(arguments: [
        "", "1", "1 1 udp", "1 1 udp 1 192.0.2.1 5", "1 1 udp 1 192.0.2.1 70000 typ host",
        "1 1 udp -1 192.0.2.1 5 typ host", "1 1 udp 99999999999 192.0.2.1 5 typ host",
        "1 0 udp 1 192.0.2.1 5 typ host", "1 300 udp 1 192.0.2.1 5 typ host", "candidate:",
    ])
    func nonsenseIsNotACandidate(text: String) {
        #expect(ICECandidate(parsing: text) == nil)
    }
}
