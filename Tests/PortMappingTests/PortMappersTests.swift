import PortMapping
import Testing
import Transport

/// The router forwards the media port and the TCP port of media.
@Suite struct PortMappersTests {
    /// Both mappers and a router in virtual time.
    private struct World {
        /// What the router answers.
        var router: FakeRouter
        var mappers = PortMappers(mediaPort: 8189, tcpPort: 8443, random: .seeded(5))
        var now = Instant(nanoseconds: 1_000_000_000)
        var requests: [[UInt8]] = []
        var actions: [String] = []

        init(_ kind: FakeRouter.Kind, upnp: FakeUPnPDevice? = nil, _ change: (inout FakeRouter) -> Void = { _ in }) {
            router = FakeRouter(kind, upnp: upnp)
            change(&router)
            mappers.setRouter(FakeRouter.address, client: FakeRouter.client, at: now)
            exchange()
        }

        mutating func exchange() {
            for _ in 0..<100 {
                if let message = mappers.pollTransmit() {
                    if message.destination != FakeRouter.address {
                        if message.destination.port == 1900, let upnp = router.upnp {
                            deliver(upnp.searchAnswer, from: FakeRouter.address.withPort(1900))
                        }
                    } else {
                        requests.append(message.bytes)
                        if let answer = router.answer(to: message.bytes) { deliver(answer, from: FakeRouter.address) }
                    }
                } else if let message = mappers.pollRequest() {
                    actions.append(Self.name(of: message))
                    mappers.handle(response: router.upnp?.answer(to: message), at: now)
                } else {
                    return
                }
            }
            Issue.record("requests without end")
        }

        private mutating func deliver(_ answer: [UInt8], from source: TransportAddress) {
            let now = now
            answer.withUnsafeBytes { mappers.handle($0, from: source, at: now) }
        }

        /// The action of a request by UPnP, with its protocol and its port.
        private static func name(of message: RouterMessage) -> String {
            let text = FakeUPnPDevice.text(message)
            if text.hasPrefix("GET ") { return "description" }
            let name = ["GetExternalIPAddress", "AddPortMapping", "DeletePortMapping"].first {
                text.contains("#\($0)\"")
            }
            let arguments = ["NewProtocol", "NewExternalPort"].compactMap {
                FakeUPnPDevice.argument($0, of: message)
            }
            return ([name ?? ""] + arguments).joined(separator: " ")
        }

        mutating func run(for duration: Duration) {
            let end = now + duration
            for _ in 0..<10_000 {
                guard let next = mappers.nextDeadline, next <= end else { break }
                now = max(now, next)
                mappers.handleDeadline(at: now)
                exchange()
            }
            now = end
        }
    }

    @Test func `PCP maps the media port and then the TCP port`() throws {
        var world = World(.pcp)
        #expect(world.mappers.mappings.media.external == FakeRouter.outside)
        #expect(world.mappers.mappings.tcp?.external == FakeRouter.outside)
        #expect(world.requests.map { $0[36] } == [17, 6], "UDP, then TCP")
        #expect(world.requests.map { Array($0[40..<42]) } == [[0x1F, 0xFD], [0x20, 0xFB]])
        #expect(world.requests[0][24..<36] != world.requests[1][24..<36], "each mapping has a nonce")
        world.run(for: .seconds(3601))
        #expect(world.requests.count == 10, "both are renewed every quarter of an hour")
        world.mappers.release()
        world.exchange()
        #expect(world.requests[10...].map { $0[36] } == [17, 17, 6, 6])
        #expect(world.requests[10...].allSatisfy { Array($0[4..<8]) == [0, 0, 0, 0] })
        #expect(world.mappers.nextDeadline == nil)
    }

    @Test func `NAT-PMP maps both without asking by PCP again`() {
        let world = World(.natPMP)
        #expect(world.mappers.mappings.tcp?.external == FakeRouter.outside)
        #expect(world.mappers.mappings.tcp?.method == .natPMP)
        #expect(world.requests.map(\.count) == [60, 2, 12, 2, 12])
        #expect(world.requests[4] == [0, 2, 0, 0, 0x20, 0xFB, 0x20, 0xFB, 0, 0, 7, 8])
    }

    @Test func `UPnP maps both at the service that is known`() {
        var world = World(.silent, upnp: FakeUPnPDevice())
        world.run(for: .seconds(18))
        #expect(world.mappers.mappings.tcp?.external == FakeRouter.outside.withPort(8443))
        let made = [
            "description", "GetExternalIPAddress", "AddPortMapping UDP 8189", "GetExternalIPAddress",
            "AddPortMapping TCP 8443",
        ]
        #expect(world.actions == made)
        world.mappers.release()
        world.exchange()
        #expect(world.actions == made + ["DeletePortMapping UDP 8189", "DeletePortMapping TCP 8443"])
    }

    @Test(arguments: [FakeRouter.Kind.pcp, .natPMP])
    func `a router that refuses the TCP port still forwards the media port`(kind: FakeRouter.Kind) {
        var world = World(kind) { $0.codeForTCP = 2 }
        world.run(for: .seconds(10))
        let mappings = world.mappers.mappings
        #expect(mappings.media.external == FakeRouter.outside && mappings.media.failure == nil)
        #expect(mappings.tcp?.external == nil)
        #expect(mappings.tcp?.failure == .refused(kind == .pcp ? .pcp : .natPMP, code: 2))
        world.router.codeForTCP = nil
        world.run(for: .seconds(1900))
        #expect(world.mappers.mappings.tcp?.external == FakeRouter.outside)
        #expect(world.mappers.mappings.media.failure == nil)
    }

    @Test func `the TCP port waits for the media port, and goes with the router`() {
        var world = World(.silent)
        world.run(for: .seconds(200))
        #expect(world.mappers.mappings.media.failure == .noAnswer)
        #expect(world.mappers.mappings.tcp == PortMapping(), "it is not asked for")
        world.router.kind = .pcp
        world.run(for: .seconds(1900))
        #expect(world.mappers.mappings.tcp?.external == FakeRouter.outside)
        world.mappers.setRouter(nil, client: nil, at: world.now)
        #expect(world.mappers.mappings.media.external == nil && world.mappers.mappings.tcp?.external == nil)
        #expect(world.mappers.nextDeadline == nil)
    }

    @Test func `a gateway without a TCP port asks for none`() {
        var mappers = PortMappers(mediaPort: 8189, tcpPort: nil, random: .seeded(1))
        mappers.setRouter(FakeRouter.address, client: FakeRouter.client, at: .zero)
        #expect(mappers.pollTransmit() != nil && mappers.pollTransmit() == nil)
        #expect(mappers.mappings.tcp == nil)
    }
}
