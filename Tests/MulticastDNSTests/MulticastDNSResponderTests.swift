import MulticastDNS
import Testing
import Transport

@Suite struct MulticastDNSResponderTests {
    @Test func aNameIsProbedThriceThenAnnouncedTwice() throws {
        var link = VirtualLink()
        link.add(1)
        link.run(for: .seconds(30))
        #expect(link.sent.map(\.message.isResponse) == [false, false, false, true, true])
        let times = link.sent.map(\.at)
        #expect(
            zip(times.dropFirst(), times).map { $0 - $1 } == [
                .milliseconds(250), .milliseconds(250), .milliseconds(250), .seconds(1),
            ])
        let probe = try #require(link.sent.first).message
        #expect(probe.questions.map(\.type) == [DNSType.any])
        #expect(probe.authorities.map(\.address) == [VirtualLink.address(1)])
        let announcement = try #require(link.sent.last).message
        #expect(announcement.answers.map(\.address) == [VirtualLink.address(1)])
        #expect(announcement.answers.allSatisfy { $0.flushesCache && $0.timeToLive == 120 })
        #expect(link.hosts[0].isAnnounced)
        #expect(link.hosts[0].nextDeadline == nil)
    }

    @Test func aHostThatComesLaterTakesTheNextName() {
        var link = VirtualLink()
        for number: UInt32 in 1...3 {
            link.add(number)
            link.run(for: .seconds(10))
        }
        #expect(link.hosts.map(\.name.description) == ["gatehouse.local", "gatehouse-2.local", "gatehouse-3.local"])
        #expect(link.hosts.allSatisfy { $0.isAnnounced })
        #expect(link.hosts.map(\.isRenamed) == [false, true, true])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func hostsThatStartTogetherEndWithDifferentNames(seed: UInt64) {
        var link = VirtualLink()
        link.add(1, seed: seed)
        link.add(2, seed: seed / 2)
        link.run(for: .seconds(20))
        #expect(link.hosts.allSatisfy { $0.isAnnounced })
        #expect(Set(link.hosts.map(\.name)).count == 2)
    }

    @Test func theLaterAddressWinsASimultaneousProbe() {
        // Both send their first probe at the same moment, because both have the same random numbers.
        var link = VirtualLink()
        link.add(1, seed: 7)
        link.add(2, seed: 7)
        link.run(for: .seconds(20))
        #expect(link.hosts.map(\.name.description) == ["gatehouse-2.local", "gatehouse.local"])
    }

    @Test func questionsAreAnsweredWithWhatThereIs() throws {
        var link = VirtualLink()
        link.add(1)
        link.run(for: .seconds(10))
        let answer = try #require(try link.query(DNSType.a).first)
        #expect(answer.destination == nil)
        #expect(answer.message.answers.map(\.address) == [VirtualLink.address(1)])
        // The name has no other types, so nobody waits for an IPv6 address.
        #expect(answer.message.additionals.map(\.type) == [DNSType.nsec])
        link.run(for: .seconds(2))
        let negative = try #require(try link.query(DNSType.aaaa).first)
        #expect(negative.message.answers.map(\.type) == [DNSType.nsec])
        #expect(negative.message.answers[0].data.suffix(3) == [0, 1, 0x40])
        #expect(negative.message.additionals.map(\.type) == [DNSType.a])
    }

    @Test func anAnswerIsNotRepeatedWithinASecondNorToThoseWhoKnowIt() throws {
        var link = VirtualLink()
        link.add(1)
        link.run(for: .seconds(10))
        #expect(try link.query(DNSType.a).count == 1)
        #expect(try link.query(DNSType.a).isEmpty)
        link.run(for: .seconds(1))
        #expect(try link.query(DNSType.a).count == 1)
        link.run(for: .seconds(1))
        let name = try #require(VirtualLink.name)
        let known = DNSRecord(name, VirtualLink.address(1), timeToLive: 60)
        #expect(try link.query(DNSType.a, knowing: [known]).isEmpty)
        let old = DNSRecord(name, VirtualLink.address(1), timeToLive: 59)
        #expect(try link.query(DNSType.a, knowing: [old]).count == 1)
    }

    @Test func ordinaryResolversAreAnsweredAlone() throws {
        var link = VirtualLink()
        link.add(1)
        link.run(for: .seconds(10))
        let (message, destination) = try #require(try link.query(DNSType.a, port: 40_000, id: 9).first)
        #expect(destination == VirtualLink.address(200).withPort(40_000))
        #expect(message.id == 9)
        #expect(message.questions.count == 1)
        #expect(message.answers.allSatisfy { !$0.flushesCache && $0.timeToLive == 10 })
        // The sender may be forged, so their number is bounded.
        for _ in 0..<100 { _ = try link.query(DNSType.a, port: 40_000) }
        #expect(link.sent.filter { $0.destination != nil }.count == 20)
    }

    @Test func anAnswerThatMayGoToTheQuestionerDoesWhileTheGroupKnowsIt() throws {
        var link = VirtualLink()
        link.add(1)
        link.run(for: .seconds(20))
        let alone = try #require(try link.query(DNSType.a, wantsUnicast: true).first)
        #expect(alone.destination == VirtualLink.address(200).withPort(MulticastDNS.port))
        link.run(for: .seconds(60))
        let all = try #require(try link.query(DNSType.a, wantsUnicast: true).first)
        #expect(all.destination == nil)
    }

    @Test func aGoodbyeEndsTheRecords() throws {
        var link = VirtualLink()
        link.add(1)
        link.run(for: .seconds(10))
        link.hosts[0].sayGoodbye()
        link.deliver()
        let goodbye = try #require(link.sent.last).message
        #expect(goodbye.answers.map(\.timeToLive) == [0])
        #expect(goodbye.answers.map(\.address) == [VirtualLink.address(1)])
        #expect(try link.query(DNSType.a).isEmpty)
    }

    @Test func otherAddressesAreAnnouncedAndANewLinkIsProbed() throws {
        var link = VirtualLink()
        link.add(1)
        link.run(for: .seconds(10))
        let before = link.sent.count
        link.hosts[0].setLinks([.init(id: 1, addresses: [VirtualLink.address(9)])], at: link.now)
        link.run(for: .seconds(10))
        #expect(
            link.sent[before...].map(\.message.answers).map { $0.map(\.address) } == [
                [VirtualLink.address(9)], [VirtualLink.address(9)],
            ])
        link.hosts[0].setLinks(
            [.init(id: 1, addresses: [VirtualLink.address(9)]), .init(id: 2, addresses: [VirtualLink.address(10)])],
            at: link.now)
        #expect(!link.hosts[0].isAnnounced)
        link.run(for: .seconds(10))
        #expect(link.hosts[0].isAnnounced)
        #expect(link.hosts[0].name.description == "gatehouse.local")
        link.hosts[0].setLinks([], at: link.now)
        #expect(link.hosts[0].nextDeadline == nil)
    }

    @Test func aHostThatClaimsEveryNameIsAskedLessOften() throws {
        var link = VirtualLink()
        link.add(1)
        let claimed = TransportAddress(ipv4: 0xC000_02FE, port: 0)
        for _ in 0..<600 {
            let before = link.sent.count
            link.run(for: .milliseconds(100))
            for entry in link.sent[before...] where !entry.message.isResponse {
                guard let name = entry.message.questions.first?.name else { continue }
                var claim = MulticastDNSMessage(isResponse: true)
                claim.answers = [DNSRecord(name, claimed, timeToLive: 120)]
                link.hosts[0].handle(claim, on: 1, from: claimed.withPort(MulticastDNS.port), at: link.now)
            }
        }
        #expect(!link.hosts[0].isAnnounced)
        // In a minute: 14 at once, then one each five seconds.
        #expect(link.sent.count < 40, "\(link.sent.count)")
        // An answer from another port is none (RFC 6762, section 6).
        var other = VirtualLink()
        other.add(1)
        other.run(for: .milliseconds(400))
        var claim = MulticastDNSMessage(isResponse: true)
        claim.answers = [DNSRecord(try #require(VirtualLink.name), claimed, timeToLive: 120)]
        other.hosts[0].handle(claim, on: 1, from: claimed.withPort(1024), at: other.now)
        other.run(for: .seconds(5))
        #expect(!other.hosts[0].isRenamed)
    }
}
