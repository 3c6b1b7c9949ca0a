import HTTPMedia
import Testing
import Transport

@testable import PortMapping

/// The firewall of an IPv6 router that is opened by UPnP (WANIPv6FirewallControl:1).
@Suite struct FirewallPinholeTests {
    private static let router = FakeIPv6Firewall.router
    private static let client = FakeIPv6Firewall.client
    private static let opened = ["description", "GetFirewallStatus", "AddPinhole"]

    /// A mapper and a router in virtual time.
    private struct World {
        var mapper = PortMapper(internalPort: 8189, random: .seeded(3))
        var firewall: FakeIPv6Firewall
        /// How it refuses by PCP; nil for silence.
        var pcpCode: UInt8?
        var now = Instant(nanoseconds: 1_000_000_000)
        var searches: [(at: Instant, message: RouterMessage)] = []
        var requests: [(at: Instant, message: RouterMessage)] = []

        /// The world 15 seconds after the first request: PCP has had nine of them, and the search six.
        init(_ firewall: FakeIPv6Firewall = FakeIPv6Firewall(), pcpCode: UInt8? = nil) {
            (self.firewall, self.pcpCode) = (firewall, pcpCode)
            mapper.setRouter(FirewallPinholeTests.router, client: FirewallPinholeTests.client, at: now)
            exchange()
            run(for: .seconds(15))
        }

        var names: [String] { requests.map { FakeIPv6Firewall.name(of: $0.message) } }

        /// An argument of the last request.
        func argument(_ name: String) -> String? {
            requests.last.flatMap { FakeUPnPDevice.argument(name, of: $0.message) }
        }

        mutating func deliver(_ answer: [UInt8], from source: TransportAddress = FirewallPinholeTests.router) {
            answer.withUnsafeBytes { mapper.handle($0, from: source, at: now) }
        }

        mutating func exchange() {
            for _ in 0..<100 {
                if let message = mapper.pollTransmit() {
                    if message.destination == FirewallPinholeTests.router {
                        guard let pcpCode else { continue }
                        deliver([2, 0x81, 0, pcpCode, 0, 0, 0, 30] + [UInt8](repeating: 0, count: 16))
                    } else {
                        searches.append((now, message))
                        guard firewall.answers(message) else { continue }
                        deliver(firewall.searchAnswer, from: FirewallPinholeTests.router.withPort(1900))
                    }
                } else if let message = mapper.pollRequest() {
                    requests.append((now, message))
                    mapper.handle(response: firewall.answer(to: message), at: now)
                } else {
                    return
                }
            }
            Issue.record("requests without end")
        }

        mutating func run(for duration: Duration) {
            let end = now + duration
            for _ in 0..<10_000 {
                guard let next = mapper.nextDeadline, next <= end else { break }
                now = max(now, next)
                mapper.handleDeadline(at: now)
                exchange()
            }
            now = end
        }
    }

    @Test func `a firewall that knows only UPnP is opened for the host's own address`() throws {
        let world = World()
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
        #expect(world.mapper.mapping.method == .upnp && world.mapper.mapping.failure == nil)
        #expect(world.mapper.mapping.lifetime == 1800)
        #expect(world.names == Self.opened)
        let search = try #require(world.searches.first).message
        #expect(search.destination == Self.router.withPort(1900), "the router alone, on its link")
        #expect(search.source == nil, "a link-local source makes the router answer from its link-local address")
        let searchLines = FakeUPnPDevice.text(search).split(separator: "\r\n").map(String.init)
        #expect(
            searchLines == [
                "M-SEARCH * HTTP/1.1", "HOST: [fe80::1]:1900", "MAN: \"ssdp:discover\"", "MX: 1",
                "ST: urn:schemas-upnp-org:device:InternetGatewayDevice:2",
            ])
        for request in world.requests {
            #expect(request.message.destination == Self.router.withPort(5000), "not the address that it names")
            #expect(request.message.source == Self.client, "a firewall refuses a pinhole for another address")
        }
        let text = FakeUPnPDevice.text(try #require(world.requests.last).message)
        #expect(text.hasPrefix("POST /ctl/IP6FCtl HTTP/1.1\r\nHost: [fe80::1]:5000\r\n"))
        let service = "urn:schemas-upnp-org:service:WANIPv6FirewallControl:1"
        #expect(text.contains("\r\nSOAPAction: \"\(service)#AddPinhole\"\r\n"))
        let arguments =
            "<RemoteHost></RemoteHost><RemotePort>0</RemotePort><InternalClient>2001:db8:1:2::10</InternalClient>"
            + "<InternalPort>8189</InternalPort><Protocol>17</Protocol><LeaseTime>1800</LeaseTime></u:AddPinhole>"
        #expect(text.contains(arguments), "the arguments of the standard, in its order")
    }

    @Test func `the pinhole is extended after half of its lifetime, and closed when the gateway ends`() {
        var world = World(FakeIPv6Firewall(id: "65535"))
        world.run(for: .seconds(900))
        #expect(world.names == Self.opened + ["GetFirewallStatus", "UpdatePinhole"])
        #expect(world.requests[4].at - world.requests[2].at == .seconds(900))
        #expect(world.argument("UniqueID") == "65535" && world.argument("NewLeaseTime") == "1800")
        world.run(for: .seconds(900))
        #expect(world.names.suffix(2) == ["GetFirewallStatus", "UpdatePinhole"] && world.names.count == 7)
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
        world.mapper.release()
        world.exchange()
        #expect(world.names.last == "DeletePinhole" && world.argument("UniqueID") == "65535")
        #expect(world.requests.last?.message.source == Self.client)
        #expect(world.mapper.mapping.external == nil && world.mapper.nextDeadline == nil)
    }

    @Test(arguments: [402, 501, 606, 704] as [UInt16])
    func `a pinhole that the router has forgotten is opened again`(code: UInt16) {
        var world = World()
        world.firewall.codes["UpdatePinhole"] = code
        world.firewall.id = "7"
        world.run(for: .seconds(900))
        #expect(world.names == Self.opened + ["GetFirewallStatus", "UpdatePinhole", "AddPinhole"])
        #expect(world.mapper.mapping.external == Self.client.withPort(8189) && world.mapper.mapping.failure == nil)
        world.firewall.codes = [:]
        world.run(for: .seconds(900))
        #expect(world.names.last == "UpdatePinhole" && world.argument("UniqueID") == "7")
    }

    @Test func `a pinhole that has ended is opened again at a router that is back`() {
        var world = World()
        world.firewall.isSilent = true
        world.run(for: .seconds(1801))
        #expect(world.mapper.mapping.external == nil && world.mapper.mapping.failure == .noAnswer)
        world.firewall.isSilent = false
        world.firewall.location = "http://[2001:db8:1:2::1]:6000/d.xml"
        world.run(for: .seconds(200))
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
        #expect(world.requests.last?.message.destination.port == 6000)
        #expect(world.names == Self.opened + ["GetFirewallStatus"] + Self.opened, "its old number is forgotten")
    }

    @Test(arguments: [606, 701, 702, 703, 705, 706, 707, 708] as [UInt16])
    func `a refusal is reported`(code: UInt16) {
        var world = World(FakeIPv6Firewall(codes: ["AddPinhole": code]))
        #expect(world.mapper.mapping.external == nil)
        #expect(world.mapper.mapping.failure == .refused(.upnp, code: code))
        #expect(world.names == Self.opened, "it is not asked again at once")
        world.firewall.codes = [:]
        world.run(for: .seconds(100))
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
    }

    @Test func `a firewall that is off or opens nothing is not asked for a pinhole`() {
        let off = World(FakeIPv6Firewall(isOn: "0"))
        #expect(off.mapper.mapping.failure == .firewallOff && off.names == ["description", "GetFirewallStatus"])
        let closed = World(FakeIPv6Firewall(opensPinholes: "false"))
        #expect(closed.mapper.mapping.failure == .refused(.upnp, code: 703))
        #expect(closed.names == ["description", "GetFirewallStatus"])
        let words = "refuses (UPnP code 703: its IPv6 firewall opens nothing on request)"
        #expect(closed.mapper.mapping.failure?.description == words)
    }

    @Test func `a router that refuses by PCP may open its firewall by UPnP`() {
        #expect(World(pcpCode: 2).mapper.mapping.external == Self.client.withPort(8189))
        let closed = World(FakeIPv6Firewall(isSilent: true), pcpCode: 2)
        #expect(closed.mapper.mapping.failure == .refused(.pcp, code: 2), "that says more than that UPnP is silent")
    }

    @Test func `a device of version 1 is found by the second search`() {
        let world = World(FakeIPv6Firewall(versions: [1]))
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
        #expect(world.searches.map { $0.at - world.searches[0].at } == [.zero, .seconds(3)])
    }

    @Test(arguments: ["http://[fe80::1]:5000/d", "http://[fd00::1]:5000/d", "http://[2001:db8:9::9]:5000/d"])
    func `whichever address the router names, requests go to the one on its link`(location: String) {
        let world = World(FakeIPv6Firewall(location: location, control: "http://[2001:db8:1:2::1]:5000/c?x=1"))
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
        #expect(world.requests.allSatisfy { $0.message.destination == Self.router.withPort(5000) })
        let lines = world.requests.map { FakeUPnPDevice.text($0.message).prefix { $0 != "\r\n" } }
        #expect(lines == ["GET /d HTTP/1.1", "POST /c?x=1 HTTP/1.1", "POST /c?x=1 HTTP/1.1"])
    }

    @Test(arguments: [
        FakeIPv6Firewall(location: "http://[fe80::2]:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://[fe80::1%25eth0]:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://[::1]:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://[::]:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://[ff02::c]:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://[::ffff:192.168.1.1]:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://192.168.1.1:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://router.local:5000/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://[2001:db8:1:2::1]@example.org/rootDesc.xml"),
        FakeIPv6Firewall(location: "https://[2001:db8:1:2::1]/rootDesc.xml"),
        FakeIPv6Firewall(location: "http://[2001:db8:1:2::1]:5000/ HTTP/1.1"),
        FakeIPv6Firewall(serviceType: "urn:schemas-upnp-org:service:WANIPConnection:1"),
        FakeIPv6Firewall(control: "http://[fe80::2]:5000/ctl"),
        FakeIPv6Firewall(control: "http://192.168.1.1:5000/ctl"),
        FakeIPv6Firewall(control: "/ctl HTTP/1.1\r\nX: y"),
    ])
    func `only a firewall service at the router itself is used`(firewall: FakeIPv6Firewall) {
        let world = World(firewall)
        #expect(world.mapper.mapping.external == nil && world.mapper.mapping.failure == .unusableService)
        #expect(world.requests.allSatisfy { $0.message.destination == Self.router.withPort(5000) })
        #expect(world.names.allSatisfy { $0 == "description" })
    }

    @Test(arguments: ["", "-1", "-0", "+1", "65536", "1 2", "0x1", "x"])
    func `a pinhole whose number cannot be read does not count, because nobody could close it`(id: String) {
        let world = World(FakeIPv6Firewall(id: id))
        #expect(world.mapper.mapping.external == nil && world.mapper.mapping.failure == .unusableService)
    }

    @Test(arguments: ["", "2", "on", "TRUE "])
    func `a state that cannot be read opens nothing`(state: String) {
        for firewall in [FakeIPv6Firewall(isOn: state), FakeIPv6Firewall(opensPinholes: state)] {
            let world = World(firewall)
            #expect(world.mapper.mapping.failure == .unusableService && !world.names.contains("AddPinhole"))
        }
    }

    @Test func `another host that answers the search is ignored`() {
        var world = World(FakeIPv6Firewall(isSilent: true))
        world.run(for: .seconds(70))
        #expect(world.searches.count > 2 && world.mapper.step == .upnpSearch)
        let answer = FakeIPv6Firewall().searchAnswer
        // The router's global address, the same address on another link, another host, and IPv4.
        for source in [
            TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 1, port: 1900),
            TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 1900, scope: 5),
            TransportAddress(ipv6High: 0xFE80 << 48, low: 2, port: 1900, scope: 4),
            TransportAddress(ipv4: 0xC0A8_0101, port: 1900),
        ] { world.deliver(answer, from: source) }
        world.exchange()
        #expect(world.requests.isEmpty)
        world.deliver(answer, from: Self.router.withPort(40_000))
        world.exchange()
        #expect(world.requests.count == 1)
    }

    @Test func `the TCP port gets a pinhole after the media port, at the service that is known`() {
        var mappers = PortMappers(mediaPort: 8189, tcpPort: 8443, random: .seeded(5))
        var now = Instant(nanoseconds: 1_000_000_000)
        var firewall = FakeIPv6Firewall()
        var actions: [String] = []
        mappers.setRouter(Self.router, client: Self.client, at: now)
        func exchange() {
            for _ in 0..<100 {
                if let message = mappers.pollTransmit() {
                    guard message.destination.port == 1900 else { continue }
                    firewall.searchAnswer.withUnsafeBytes { mappers.handle($0, from: message.destination, at: now) }
                } else if let message = mappers.pollRequest() {
                    let about = ["Protocol", "InternalPort", "UniqueID"].compactMap {
                        FakeUPnPDevice.argument($0, of: message)
                    }
                    actions.append(([FakeIPv6Firewall.name(of: message)] + about).joined(separator: " "))
                    let response = firewall.answer(to: message)
                    // Each pinhole has a number of its own.
                    if about.count == 2 { firewall.id = "2" }
                    mappers.handle(response: response, at: now)
                } else {
                    return
                }
            }
        }
        exchange()
        for _ in 0..<3 {
            now += .seconds(5)
            mappers.handleDeadline(at: now)
            exchange()
        }
        #expect(mappers.mappings.media.external == Self.client.withPort(8189))
        #expect(mappers.mappings.tcp?.external == Self.client.withPort(8443))
        mappers.release()
        exchange()
        #expect(
            actions == [
                "description", "GetFirewallStatus", "AddPinhole 17 8189", "GetFirewallStatus", "AddPinhole 6 8443",
                "DeletePinhole 1", "DeletePinhole 2",
            ])
    }

    @Test func `mutated answers never trap and never lead elsewhere`() throws {
        var random = RandomSource.seeded(29_341)
        var opened = 0
        for _ in 0..<2000 {
            var world = World(FakeIPv6Firewall(isSilent: true))
            world.run(for: .seconds(70))
            let firewall = FakeIPv6Firewall()
            world.deliver(Self.damaged(firewall.searchAnswer, using: &random), from: Self.router.withPort(1900))
            for _ in 0..<20 {
                guard let request = world.mapper.pollRequest() else { break }
                #expect(request.destination.withPort(5351) == Self.router && request.source == Self.client)
                var response = try #require(firewall.answer(to: request))
                response.body = Self.damaged(response.body, using: &random)
                world.mapper.handle(response: response, at: world.now)
            }
            if let external = world.mapper.mapping.external {
                opened += 1
                #expect(external == Self.client.withPort(8189))
            }
            #expect(world.mapper.nextDeadline != nil)
        }
        #expect(opened > 100)
    }

    /// The bytes with one changed, or with their end cut off, in one of three cases.
    private static func damaged(_ bytes: [UInt8], using random: inout RandomSource) -> [UInt8] {
        var bytes = bytes
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeLast(Int.random(in: 0...min(40, bytes.count), using: &random))
        default: break
        }
        return bytes
    }
}
