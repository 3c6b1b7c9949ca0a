import ICE
import PeerConnection
import SDP
import Testing
import Transport

@Suite struct CandidateLineTests {
    private let host = TransportAddress(ipv4: 0xC0A8_0102, port: 8189)

    private func lines(passive: [TransportAddress]) -> [ICECandidate] {
        ICECandidate.all(ICEAddresses(hosts: [host], passive: passive))
    }

    @Test func aPassiveCandidateAtThePortOfTLSIsNamedASecondTime() throws {
        let lines = lines(passive: [host.withPort(443), host.withPort(8189)])
        #expect(lines.map(\.transport) == [.udp, .tcp, .other("ssltcp"), .tcp])
        #expect(lines[1...].allSatisfy { $0.tcpType == "passive" && $0.host == "192.168.1.2" && $0.kind == .host })
        #expect(lines.map(\.port) == [8189, 443, 443, 8189])
        #expect(Set(lines.map(\.foundation)).count == 4)
        #expect(lines.map(\.priority) == lines.map(\.priority).sorted(by: >), "in the order of their priorities")
        #expect(Set(lines.map(\.priority)).count == 4)
        #expect(
            lines[2].text.hasPrefix(
                "\(lines[1].foundation)s 1 ssltcp \(lines[1].priority - 1) 192.168.1.2 443 typ host"))
    }

    @Test func atAnotherPortThereIsNoDisguise() {
        #expect(lines(passive: [host]).map(\.transport) == [.udp, .tcp])
        // Over UDP the port means nothing.
        #expect(ICECandidate.all(ICEAddresses(hosts: [host.withPort(443)])).map(\.transport) == [.udp])
    }
}
