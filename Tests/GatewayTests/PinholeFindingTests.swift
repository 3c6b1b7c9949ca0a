import MediaRelay
import PortMapping
import Testing
import Transport

@testable import Gateway

/// What the doctor says of the firewall of the IPv6 router.
@Suite struct PinholeFindingTests {
    private func findings(_ change: (inout PortMapping) -> Void) -> [DoctorFinding] {
        let own = TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 0x10, port: 0)
        var facts = NetworkFacts(port: 8189, hostAddresses: [own])
        var pinhole = PortMapping()
        pinhole.router = TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 5351, scope: 2)
        change(&pinhole)
        facts.pinhole = pinhole
        return DoctorFinding.network(facts, GatewayConfiguration()).filter { $0.subject == .portMapping }
    }

    @Test func `an open pinhole is good`() {
        let found = findings {
            $0.external = TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 0x10, port: 8189)
        }
        #expect(found.map(\.state) == [.good])
        #expect(found.first?.message.contains("[2001:db8:1:2::10]:8189") == true)
        #expect(found.first?.message.contains("(PCP)") == true)
    }

    @Test func `a pinhole says by which protocol it was opened`() {
        let found = findings {
            $0.external = TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 0x10, port: 8189)
            $0.method = .upnp
        }
        #expect(found.first?.message.contains("(UPnP)") == true)
    }

    @Test func `a firewall that is off lets everything through`() {
        let found = findings { $0.failure = .firewallOff }
        #expect(found.map(\.state) == [.good])
        #expect(found.first?.message.contains("its IPv6 firewall is off") == true && found.first?.advice == nil)
    }

    @Test func `a router that opens nothing is worth a note that names the port`() {
        let silent = findings { $0.failure = .noAnswer }
        #expect(silent.map(\.state) == [.note])
        #expect(silent.first?.message.contains("it answers neither PCP nor UPnP over IPv6") == true)
        #expect(silent.first?.message.contains("NAT-PMP") == false)
        #expect(silent.first?.advice?.contains("8189") == true)
        let refused = findings { $0.failure = .refused(.pcp, code: 2) }
        #expect(refused.first?.message.contains("it is not allowed") == true)
        let closed = findings { $0.failure = .refused(.upnp, code: 703) }
        #expect(closed.map(\.state) == [.note])
        #expect(closed.first?.message.contains("its IPv6 firewall opens nothing on request") == true)
        let other = findings { $0.failure = .unusableService }
        #expect(other.first?.message.contains("no service that opens its IPv6 firewall") == true)
    }

    @Test func `without an IPv6 router, and before its answer, there is nothing to say`() {
        #expect(findings { $0.router = nil }.isEmpty)
        #expect(findings { _ in }.isEmpty)
    }
}
