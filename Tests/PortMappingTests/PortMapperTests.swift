import PortMapping
import Testing
import Transport

@Suite struct PortMapperTests {
    @Test func aMappingByPCPIsMadeAndRenewedAtHalfOfItsLife() throws {
        var router = FakeRouter(.pcp)
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        #expect(router.mapper.mapping.method == .pcp)
        let request = try #require(router.requests.first).bytes
        #expect(request.count == 60)
        #expect(Array(request[..<8]) == [2, 1, 0, 0, 0, 0, 7, 8], "version, MAP, lifetime 1800")
        #expect(Array(request[8..<24]) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 168, 1, 10])
        #expect(Array(request[36..<44]) == [17, 0, 0, 0, 0x1F, 0xFD, 0x1F, 0xFD])
        router.run(for: .seconds(3600))
        #expect(router.gaps == [.seconds(900), .seconds(900), .seconds(900), .seconds(900)])
        // A renewal has the nonce of the mapping, and asks for the same outside address.
        #expect(router.requests.allSatisfy { $0.bytes[24..<36] == request[24..<36] })
        #expect(try #require(router.requests.last).bytes.suffix(6) == [255, 255, 203, 0, 113, 6])
    }

    @Test func aRouterThatKnowsOnlyNATPMPIsAskedByNATPMP() {
        var router = FakeRouter(.natPMP)
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        #expect(router.mapper.mapping.method == .natPMP)
        #expect(router.requests.map(\.bytes.count) == [60, 2, 12])
        #expect(router.requests[2].bytes == [0, 1, 0, 0, 0x1F, 0xFD, 0x1F, 0xFD, 0, 0, 7, 8])
        router.run(for: .seconds(901))
        #expect(router.requests.map(\.bytes.count) == [60, 2, 12, 2, 12])
        #expect(router.requests[3].at - router.requests[2].at == .seconds(900))
    }

    @Test func aSilentRouterIsAskedByAllAndThenLessAndLessOften() {
        var router = FakeRouter(.silent)
        router.run(for: .seconds(200))
        // RFC 6886, section 3.1: 250 ms, doubled with each request. Then two searches, and a pause of a minute.
        let expected: [Duration] =
            [.seconds(3), .seconds(6)] + (0..<4).map { .milliseconds(250 << $0) } + [
                .milliseconds(4000 + 6000 + 60_000)
            ]
        #expect(Array(router.gaps.prefix(7)) == expected)
        let first = router.searches.prefix(4).map { $0.at - router.requests[0].at }
        let begin = Duration.milliseconds(9000 + 7750)
        #expect(first == [begin, begin, begin + .seconds(3), begin + .seconds(3)])
        #expect(router.mapper.mapping.failure == .noAnswer)
        #expect(router.mapper.mapping.external == nil)
        let before = router.requests.count
        router.run(for: .seconds(86_400))
        #expect(router.requests.count - before < 7 * 60)
        // A router that learns a protocol later is found.
        router.kind = .natPMP
        router.run(for: .seconds(1900))
        #expect(router.mapper.mapping.external == FakeRouter.outside)
    }

    @Test func aMappingThatIsNotRenewedEnds() {
        var router = FakeRouter(.pcp)
        router.kind = .silent
        router.run(for: .seconds(1799))
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        #expect(router.mapper.mapping.failure == .noAnswer)
        router.run(for: .seconds(2))
        #expect(router.mapper.mapping.external == nil)
        router.kind = .pcp
        router.run(for: .seconds(1800))
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        #expect(router.mapper.mapping.failure == nil)
    }

    @Test func aRouterThatHasRestartedWithAnotherAddressIsFollowed() {
        var router = FakeRouter(.pcp)
        router.external = TransportAddress(ipv4: 0xCB00_7107, port: 9000)
        router.run(for: .seconds(901))
        #expect(router.mapper.mapping.external == router.external)
    }

    @Test func aRefusalIsReportedAndAskedAboutLater() {
        var router = FakeRouter(.natPMP)
        router.code = 2
        router.run(for: .seconds(901))
        #expect(router.mapper.mapping.failure == .refused(.natPMP, code: 2))
        #expect(
            "\(router.mapper.mapping.failure.map { "\($0)" } ?? "")" == "refuses (NAT-PMP code 2: it is not allowed)")
        var pcp = FakeRouter(.silent)
        (pcp.kind, pcp.code, pcp.lifetime) = (.pcp, 8, 600)
        // Three seconds until the second request, and six in which nobody answers by UPnP.
        pcp.run(for: .seconds(10))
        #expect(pcp.mapper.mapping.failure == .refused(.pcp, code: 8))
        let before = pcp.requests.count
        pcp.run(for: .seconds(590))
        #expect(pcp.requests.count == before, "the router has said for how long the refusal lasts")
    }

    @Test(arguments: [FakeRouter.Kind.pcp, .natPMP], [2, 3, 5, 8] as [UInt8])
    func `a router that refuses by one protocol is asked by UPnP`(kind: FakeRouter.Kind, code: UInt8) {
        var router = FakeRouter(.silent, upnp: FakeUPnPDevice())
        (router.kind, router.code, router.lifetime) = (kind, code, 1800)
        router.run(for: .seconds(4))
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        #expect(router.mapper.mapping.method == .upnp && router.mapper.mapping.failure == nil)
        #expect(!router.searches.isEmpty)
        // It is renewed by the protocol that works.
        let before = router.requests.count
        router.run(for: .seconds(1801))
        #expect(router.requests.count == before && router.mapper.mapping.failure == nil)
    }

    @Test(arguments: [FakeRouter.Kind.pcp, .natPMP])
    func `where UPnP is off the refusal is reported, and where UPnP refuses too its refusal`(kind: FakeRouter.Kind) {
        func failure(_ device: FakeUPnPDevice?) -> PortMappingFailure? {
            var router = FakeRouter(.silent, upnp: device)
            (router.kind, router.code) = (kind, 2)
            router.run(for: .seconds(10))
            #expect(router.mapper.mapping.external == nil)
            return router.mapper.mapping.failure
        }
        let refusal = PortMappingFailure.refused(kind == .pcp ? .pcp : .natPMP, code: 2)
        #expect(failure(nil) == refusal)
        #expect(failure(FakeUPnPDevice(serviceType: "urn:schemas-upnp-org:service:AVTransport:1")) == refusal)
        #expect(failure(FakeUPnPDevice(code: 606)) == .refused(.upnp, code: 606))
    }

    @Test func `a refusal of a renewal does not give the mapping up`() {
        var router = FakeRouter(.pcp, upnp: FakeUPnPDevice())
        router.code = 8
        router.run(for: .seconds(1799))
        #expect(router.mapper.mapping.external == FakeRouter.outside && router.searches.isEmpty)
        #expect(router.mapper.mapping.failure == .refused(.pcp, code: 8))
        router.run(for: .seconds(70))
        #expect(router.mapper.mapping.method == .upnp, "it has ended, so UPnP is asked")
        #expect(router.mapper.mapping.external == FakeRouter.outside)
    }

    @Test(arguments: [
        TransportAddress(ipv4: 0, port: 8189), TransportAddress(ipv4: 0x7F00_0001, port: 8189),
        TransportAddress(ipv4: 0xE000_0001, port: 8189), TransportAddress(ipv4: 0xCB00_7106, port: 0),
    ])
    func addressesAtWhichNobodyIsReachedAreRefused(external: TransportAddress) {
        for kind in [FakeRouter.Kind.pcp, .natPMP] {
            var router = FakeRouter(.silent)
            (router.kind, router.external) = (kind, external)
            router.run(for: .seconds(4))
            #expect(router.mapper.mapping.external == nil)
            #expect(router.mapper.mapping.failure == .unusableAddress)
        }
    }

    @Test func answersOfOthersAreIgnored() throws {
        var router = FakeRouter(.silent)
        let request = try #require(router.requests.first).bytes
        router.kind = .pcp
        let answer = try #require(router.answer(to: request))
        router.deliver(answer, from: TransportAddress(ipv4: 0xC0A8_0102, port: 5351))
        router.deliver(answer, from: FakeRouter.address.withPort(5350))
        for index in [24, 35, 36, 40] {
            // Another nonce, protocol or port.
            var other = answer
            other[index] ^= 1
            router.deliver(other)
        }
        #expect(router.mapper.mapping.external == nil)
        router.deliver(answer)
        #expect(router.mapper.mapping.external == FakeRouter.outside)
    }

    @Test func shortLivesDoNotMakeAFlood() {
        var router = FakeRouter(.silent)
        (router.kind, router.lifetime) = (.pcp, 1)
        router.run(for: .seconds(100))
        #expect(router.requests.count < 30)
        #expect(router.mapper.mapping.external == FakeRouter.outside)
    }

    @Test func theMappingEndsWithTheGateway() throws {
        for kind in [FakeRouter.Kind.pcp, .natPMP] {
            var router = FakeRouter(kind)
            let before = router.requests.count
            router.mapper.release()
            router.exchange()
            let ends = router.requests[before...].map(\.bytes)
            #expect(ends.count == 2)
            for end in ends {
                let lifetime = kind == .pcp ? end[4..<8] : end[8..<12]
                #expect(Array(lifetime) == [0, 0, 0, 0])
            }
            #expect(router.mapper.nextDeadline == nil)
            #expect(router.mapper.mapping.external == nil)
        }
        var none = PortMapper(internalPort: 1, random: .seeded(1))
        none.release()
        #expect(none.pollTransmit() == nil)
    }

    @Test func anotherRouterIsAskedAtOnce() {
        var router = FakeRouter(.pcp)
        router.mapper.setRouter(nil, client: nil, at: router.now)
        #expect(router.mapper.mapping.external == nil)
        #expect(router.mapper.nextDeadline == nil)
        let before = router.requests.count
        router.mapper.setRouter(FakeRouter.address, client: FakeRouter.client, at: router.now)
        router.mapper.setRouter(FakeRouter.address, client: FakeRouter.client, at: router.now)
        router.exchange()
        #expect(router.requests.count == before + 1)
        #expect(router.mapper.mapping.external == FakeRouter.outside)
    }

    @Test func mutatedAnswersNeverTrapAndNeverGiveAnUnusableAddress() throws {
        var random = RandomSource.seeded(6887)
        var mapped = 0
        for round in 0..<20_000 {
            var router = FakeRouter(.silent)
            if round.isMultiple(of: 2) {
                router.kind = .pcp
            } else {
                // On to the requests of NAT-PMP.
                router.deliver([0, 129, 0, 1, 0, 0, 0, 0])
                router.exchange()
                router.kind = .natPMP
                if round % 4 == 1 {
                    router.deliver([0, 128, 0, 0, 0, 0, 0, 9, 203, 0, 113, 6])
                    router.exchange()
                }
            }
            let request = try #require(router.requests.last).bytes
            var bytes = try #require(router.answer(to: request))
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where !bytes.isEmpty:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                case 1 where !bytes.isEmpty:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.removeLast(Int.random(in: 0...min(8, bytes.count), using: &random))
                default:
                    bytes += (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                        UInt8(truncatingIfNeeded: random.next())
                    }
                }
            }
            router.deliver(bytes)
            if let external = router.mapper.mapping.external {
                mapped += 1
                #expect(external.isUsableDestination)
            }
            #expect(router.mapper.nextDeadline != nil)
        }
        // Some must get through, or the mutations reach nothing behind the header.
        #expect(mapped > 1000)
    }
}
