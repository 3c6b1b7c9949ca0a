import HTTPMedia
import Testing
import Transport

@testable import PortMapping

@Suite struct UPnPMappingTests {
    /// A router that knows neither PCP nor NAT-PMP, after it was asked by UPnP.
    private func router(_ device: FakeUPnPDevice = FakeUPnPDevice()) -> FakeRouter {
        var router = FakeRouter(.silent, upnp: device)
        router.run(for: .seconds(18))
        return router
    }

    private func names(_ router: FakeRouter) -> [String] {
        router.httpRequests.map { request in
            let text = FakeUPnPDevice.text(request.message)
            if text.hasPrefix("GET ") { return "description" }
            return ["GetExternalIPAddress", "AddPortMapping", "DeletePortMapping"].first { text.contains("#\($0)\"") }
                ?? ""
        }
    }

    @Test func aRouterThatKnowsOnlyUPnPForwardsThePort() throws {
        var router = router()
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        #expect(router.mapper.mapping.method == .upnp)
        #expect(names(router) == ["description", "GetExternalIPAddress", "AddPortMapping"])
        let message = try #require(router.httpRequests.last).message
        #expect(message.destination == TransportAddress(ipv4: 0xC0A8_0101, port: 5000))
        let text = FakeUPnPDevice.text(message)
        #expect(text.hasPrefix("POST /ctl/IPConn HTTP/1.1\r\nHost: 192.168.1.1:5000\r\n"))
        #expect(text.contains("\r\nSOAPAction: \"urn:schemas-upnp-org:service:WANIPConnection:1#AddPortMapping\"\r\n"))
        let body = try #require(text.firstRange(of: "\r\n\r\n"))
        #expect(text.contains("\r\nContent-Length: \(text[body.upperBound...].utf8.count)\r\n"))
        let arguments: [(String, String)] = [
            ("NewRemoteHost", ""), ("NewExternalPort", "8189"), ("NewProtocol", "UDP"), ("NewInternalPort", "8189"),
            ("NewInternalClient", "192.168.1.10"), ("NewEnabled", "1"), ("NewLeaseDuration", "1800"),
        ]
        for (name, value) in arguments { #expect(FakeUPnPDevice.argument(name, of: message) == value) }
        // It is renewed at half of its life, at the service that is known.
        router.run(for: .seconds(1801))
        let renewals = ["GetExternalIPAddress", "AddPortMapping"]
        #expect(names(router) == ["description"] + renewals + renewals + renewals)
        #expect(router.httpRequests[3].at - router.httpRequests[2].at == .seconds(900))
    }

    @Test func aPortThatAnotherHostHasIsReplaced() throws {
        var router = router(FakeUPnPDevice(taken: [8189]))
        let external = try #require(router.mapper.mapping.external)
        #expect(external.port != 8189 && external.port >= 1024)
        #expect(external.withPort(8189) == FakeRouter.outside)
        router.run(for: .seconds(901))
        #expect(router.mapper.mapping.external == external, "the renewal keeps the port")
        router.mapper.release()
        router.exchange()
        let last = try #require(router.httpRequests.last).message
        #expect(FakeUPnPDevice.argument("NewExternalPort", of: last) == "\(external.port)")
        #expect(names(router).last == "DeletePortMapping")
        #expect(router.mapper.nextDeadline == nil)
    }

    @Test func aRouterWithoutLeasesGetsAMappingThatDoesNotEndByItself() throws {
        var router = router(FakeUPnPDevice(knowsLeases: false))
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        #expect(names(router).suffix(2) == ["AddPortMapping", "AddPortMapping"])
        router.run(for: .seconds(901))
        #expect(FakeUPnPDevice.argument("NewLeaseDuration", of: try #require(router.httpRequests.last).message) == "0")
        #expect(names(router).suffix(2) == ["GetExternalIPAddress", "AddPortMapping"])
    }

    @Test func aRefusalIsReported() {
        let router = router(FakeUPnPDevice(code: 606))
        #expect(router.mapper.mapping.failure == .refused(.upnp, code: 606))
        #expect(router.mapper.mapping.failure?.description == "refuses (UPnP code 606: it is not allowed)")
        #expect(
            self.router(FakeUPnPDevice(taken: Set(0...65_535))).mapper.mapping.failure == .refused(.upnp, code: 718))
    }

    @Test func aRouterThatRestartedAtAnotherPortIsFoundAgain() {
        var router = router()
        router.upnp?.isSilent = true
        router.run(for: .seconds(901))
        #expect(router.mapper.mapping.external == FakeRouter.outside, "the mapping may still be there")
        #expect(router.mapper.mapping.failure == .noAnswer)
        router.upnp = FakeUPnPDevice(location: "http://192.168.1.1:6000/d.xml")
        router.run(for: .seconds(300))
        #expect(router.mapper.mapping.failure == nil)
        #expect(router.httpRequests.last?.message.destination.port == 6000)
    }

    @Test(arguments: [
        FakeUPnPDevice(location: "http://192.168.1.2:5000/rootDesc.xml"),
        FakeUPnPDevice(location: "http://router.local:5000/rootDesc.xml"),
        FakeUPnPDevice(location: "http://192.168.1.1@192.168.1.2/rootDesc.xml"),
        FakeUPnPDevice(location: "https://192.168.1.1/rootDesc.xml"),
        FakeUPnPDevice(location: "file:///etc/passwd"),
        FakeUPnPDevice(location: "http://192.168.1.1:5000/ HTTP/1.1"),
        FakeUPnPDevice(serviceType: "urn:schemas-upnp-org:service:AVTransport:1"),
        FakeUPnPDevice(control: "http://192.168.1.2/ctl"),
        FakeUPnPDevice(control: "ftp://192.168.1.1/ctl"),
        FakeUPnPDevice(control: "/ctl HTTP/1.1\r\nX: y"),
    ])
    func onlyAServiceAtTheRouterItselfIsUsed(device: FakeUPnPDevice) {
        var router = router(device)
        router.run(for: .seconds(6))
        #expect(router.mapper.mapping.external == nil)
        #expect(router.mapper.mapping.failure == .unusableService)
        #expect(router.httpRequests.allSatisfy { $0.message.destination.withPort(5351) == FakeRouter.address })
        #expect(
            router.httpRequests.allSatisfy {
                FakeUPnPDevice.text($0.message).hasPrefix("GET /rootDesc.xml HTTP/1.1\r\n")
            })
    }

    @Test(arguments: [
        ("ctl/IPConn", "", "/ctl/IPConn", UInt16(5000)),
        ("http://192.168.1.1:7000/c?x=1", "", "/c?x=1", 7000),
        ("/ctl", "<URLBase>http://192.168.1.1:8080/</URLBase>", "/ctl", 8080),
        ("/ctl", "<URLBase>http://192.168.1.9:8080/</URLBase>", "/ctl", 5000),
    ])
    func theServiceIsWhereTheDescriptionSays(control: String, base: String, path: String, port: UInt16) throws {
        let router = router(FakeUPnPDevice(control: control, base: base))
        #expect(router.mapper.mapping.external == FakeRouter.outside)
        let last = try #require(router.httpRequests.last).message
        #expect(FakeUPnPDevice.text(last).hasPrefix("POST \(path) HTTP/1.1\r\n"))
        #expect(last.destination.port == port)
    }

    @Test func anotherHostThatAnswersTheSearchIsIgnored() {
        var router = FakeRouter(.silent)
        router.run(for: .seconds(17))
        #expect(!router.searches.isEmpty)
        router.deliver(FakeUPnPDevice().searchAnswer, from: TransportAddress(ipv4: 0xC0A8_0102, port: 1900))
        router.exchange()
        #expect(router.httpRequests.isEmpty)
        router.deliver(FakeUPnPDevice().searchAnswer, from: TransportAddress(ipv4: 0xC0A8_0101, port: 40_000))
        router.exchange()
        #expect(router.httpRequests.count == 1)
    }

    @Test func anAnswerThatLeadsElsewhereDoesNotEndTheSearch() {
        var router = FakeRouter(.silent)
        router.run(for: .seconds(17))
        let source = TransportAddress(ipv4: 0xC0A8_0101, port: 1900)
        router.deliver(FakeUPnPDevice(location: "http://192.168.1.2:5000/rootDesc.xml").searchAnswer, from: source)
        router.upnp = FakeUPnPDevice()
        router.deliver(FakeUPnPDevice().searchAnswer, from: source)
        router.exchange()
        #expect(router.mapper.mapping.external == FakeRouter.outside)
    }

    @Test(arguments: ["0.0.0.0", "127.0.0.1", "224.0.0.1", "", "x", "203.0.113.6; DROP"])
    func addressesAtWhichNobodyIsReachedAreRefused(outside: String) {
        let router = router(FakeUPnPDevice(outside: outside))
        #expect(router.mapper.mapping.external == nil)
        #expect(router.mapper.mapping.failure == .unusableAddress)
    }

    @Test func mutatedAnswersNeverTrapAndNeverLeadElsewhere() throws {
        var random = RandomSource.seeded(29_341)
        var mapped = 0
        for _ in 0..<2000 {
            var router = FakeRouter(.silent)
            router.run(for: .seconds(17))
            let device = FakeUPnPDevice()
            var answer = device.searchAnswer
            answer.damage(using: &random)
            router.deliver(answer, from: TransportAddress(ipv4: 0xC0A8_0101, port: 1900))
            for _ in 0..<20 {
                guard let request = router.mapper.pollRequest() else { break }
                #expect(request.destination.withPort(5351) == FakeRouter.address)
                var response = try #require(device.answer(to: request))
                response.body.damage(using: &random)
                router.mapper.handle(response: response, at: router.now)
            }
            if let external = router.mapper.mapping.external {
                mapped += 1
                #expect(external.isUsableDestination)
            }
            #expect(router.mapper.nextDeadline != nil)
        }
        #expect(mapped > 100)
    }
}

extension [UInt8] {
    /// Changes a byte, or cuts the end, in one of three cases.
    fileprivate mutating func damage(using random: inout RandomSource) {
        guard !isEmpty else { return }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: self[Int.random(in: 0..<count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        case 1: removeLast(Int.random(in: 0...Swift.min(40, count), using: &random))
        default: break
        }
    }
}
