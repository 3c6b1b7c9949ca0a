import STUN
import Testing
import Transport

@Suite struct ReflexiveAddressFinderTests {
    private let server = TransportAddress(ipv4: 0xC633_6401, port: 3478)
    private let other = TransportAddress(ipv4: 0xC633_6402, port: 3478)
    private let outside = TransportAddress(ipv4: 0xCB00_7107, port: 40_000)

    /// A finder that asks two servers, in virtual time.
    private struct World {
        var finder: ReflexiveAddressFinder
        var now = Instant(nanoseconds: 1_000_000_000)
        var sent: [(at: Instant, server: TransportAddress, id: STUNTransactionID)] = []

        init(_ servers: [TransportAddress], mark: UInt8? = nil) {
            finder = ReflexiveAddressFinder(mark: mark, random: .seeded(5))
            finder.setServers(servers, at: now)
            drain()
        }

        private var hasChanged = false

        /// Whether anything has changed since the last call.
        mutating func takeChange() -> Bool {
            defer { hasChanged = false }
            return finder.pollEvent() != nil || hasChanged
        }

        mutating func drain() {
            withUnsafeTemporaryAllocation(byteCount: STUN.sufficientBufferSize, alignment: 8) { buffer in
                while let transmit = finder.pollTransmit(into: buffer, at: now) {
                    let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<transmit.byteCount])
                    guard let message = try? STUNMessage(parsing: bytes), message.hasValidFingerprint else {
                        Issue.record("the request cannot be read")
                        return
                    }
                    sent.append((now, transmit.destination, message.transactionID))
                }
            }
        }

        /// Lets time pass from deadline to deadline.
        mutating func run(for duration: Duration) {
            let end = now + duration
            for _ in 0..<10_000 {
                guard let next = finder.nextDeadline, next <= end else { break }
                #expect(next > now)
                now = max(now, next)
                drain()
            }
            now = end
        }

        /// Answers the newest request to a server.
        mutating func answer(
            _ server: TransportAddress, from source: TransportAddress? = nil, id: STUNTransactionID? = nil,
            kind: STUNMessageClass = .successResponse, _ fill: (inout STUNMessageBuilder) -> Void
        ) throws -> Bool {
            let id = try id ?? #require(sent.last { $0.server == server }).id
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = bytes.withUnsafeMutableBytes { buffer in
                var builder = STUNMessageBuilder(into: buffer, messageClass: kind, transactionID: id)
                fill(&builder)
                return builder.finish()
            }
            bytes.removeLast(bytes.count - (try #require(count)))
            if finder.pollEvent() != nil { hasChanged = true }
            return bytes.withUnsafeBytes { finder.handle($0, from: source ?? server, at: now) }
        }
    }

    @Test func theAddressThatAServerSeesIsKnownAndAskedForAgain() throws {
        var world = World([server])
        #expect(world.sent.count == 1)
        #expect(world.takeChange() == true)
        world.now += .milliseconds(30)
        #expect(try world.answer(server) { $0.addMappedAddress(outside) })
        #expect(
            world.finder.observations == [
                .init(server: server, address: outside, roundTripTime: .milliseconds(30))
            ])
        #expect(world.takeChange() == true)
        #expect(world.takeChange() == false)
        world.run(for: .seconds(14))
        #expect(world.sent.count == 1)
        world.run(for: .seconds(1))
        #expect(world.sent.count == 2 && world.sent[0].id != world.sent[1].id)
        // The same address again changes nothing.
        #expect(try world.answer(server) { $0.addMappedAddress(outside) })
        #expect(world.takeChange() == false)
    }

    @Test func anotherAddressIsNews() throws {
        var world = World([server])
        #expect(try world.answer(server) { $0.addMappedAddress(outside) })
        _ = world.takeChange()
        world.run(for: .seconds(15))
        #expect(try world.answer(server) { $0.addMappedAddress(outside.withPort(1234)) })
        #expect(world.takeChange() == true)
        #expect(world.finder.observations.map(\.address) == [outside.withPort(1234)])
    }

    @Test func aLostRequestIsSentAgainLessAndLessOften() {
        var world = World([server])
        world.run(for: .seconds(31))
        let pauses = zip(world.sent, world.sent.dropFirst()).map { $1.at - $0.at }
        #expect(pauses == [500, 1000, 2000, 4000, 8000].map { .milliseconds($0) })
        #expect(Set(world.sent.map(\.id)).count == 1)
        world.run(for: .seconds(1))
        #expect(world.finder.observations == [.init(server: server, failure: .noAnswer)])
    }

    @Test func aSilentServerLosesItsAddressAndIsLeftAloneLongerAndLonger() throws {
        var world = World([server, other])
        #expect(try world.answer(server) { $0.addMappedAddress(outside) })
        #expect(try world.answer(other) { $0.addMappedAddress(outside) })
        world.run(for: .seconds(60))
        #expect(world.finder.observations.allSatisfy { $0.address == nil && $0.failure == .noAnswer })
        world.run(for: .seconds(3600))
        let requests = Set(world.sent.filter { $0.server == server && $0.at > world.now - .seconds(1800) }.map(\.id))
        #expect((5...8).contains(requests.count))
        // It comes back.
        for _ in 0..<10 {
            if try world.answer(server, { $0.addMappedAddress(outside) }) { break }
            world.run(for: .seconds(60))
        }
        #expect(world.finder.observations[0].address == outside && world.finder.observations[0].failure == nil)
    }

    @Test func onlyTheServersAnswerToTheNewestRequestCounts() throws {
        var world = World([server, other])
        #expect(try !world.answer(server, from: other) { $0.addMappedAddress(outside) })
        #expect(try !world.answer(server, from: outside) { $0.addMappedAddress(outside) })
        #expect(try !world.answer(server, id: STUNTransactionID(high: 1, low: 2)) { $0.addMappedAddress(outside) })
        let first = try #require(world.sent.first)
        #expect(try world.answer(server) { $0.addMappedAddress(outside) })
        #expect(try !world.answer(server, id: first.id) { $0.addMappedAddress(other) })
        #expect(world.finder.observations.map(\.address) == [outside, nil])
    }

    @Test func aRedirectionIsARefusal() throws {
        var world = World([server])
        #expect(
            try world.answer(server, kind: .errorResponse) { builder in
                builder.addErrorCode(300)
                // ALTERNATE-SERVER.
                [0, 1, 0x0D, 0x96, 10, 0, 0, 1].withUnsafeBytes { builder.addAttribute(0x8023, $0) }
            })
        #expect(world.finder.observations == [.init(server: server, failure: .refused(code: 300))])
        world.run(for: .seconds(120))
        #expect(world.sent.allSatisfy { $0.server == server })
    }

    @Test(arguments: ["0.0.0.0", "224.0.0.1", "127.0.0.1", "169.254.169.254", "255.255.255.255", "2001:db8::1"])
    func anAddressAtWhichNobodyCanBeReachedIsRefused(host: String) throws {
        var world = World([server])
        let address = try #require(TransportAddress(host, port: 5000))
        #expect(try world.answer(server) { $0.addMappedAddress(address) })
        #expect(world.finder.observations == [.init(server: server, failure: .unusableAddress)])
        world.run(for: .seconds(15))
        #expect(try world.answer(server) { _ in })
        #expect(world.finder.observations == [.init(server: server, failure: .unusableAddress)])
    }

    @Test func serversThatStayKeepWhatIsKnown() throws {
        var world = World([server])
        #expect(try world.answer(server) { $0.addMappedAddress(outside) })
        world.finder.setServers([other, server, other, outside.withPort(0)], at: world.now)
        world.drain()
        #expect(world.sent.map(\.server) == [server, other])
        #expect(world.finder.observations.map(\.server) == [other, server])
        #expect(world.finder.observations.map(\.address) == [nil, outside])
        world.finder.setServers([], at: world.now)
        #expect(world.finder.nextDeadline == nil && world.finder.observations.isEmpty)
        #expect(try !world.answer(other) { $0.addMappedAddress(outside) })
    }

    @Test func aServerThatIsLeftAloneIsAskedAtOnceWhenTheServersAreSetAgain() throws {
        var world = World([server])
        // After its fourth request, it is left alone for two minutes.
        world.run(for: .seconds(300))
        #expect(world.sent.count == 4 * 6)
        world.finder.setServers([server], at: world.now)
        world.drain()
        #expect(world.sent.count == 4 * 6 + 1)
        #expect(world.finder.observations == [.init(server: server, failure: .noAnswer)])
        let isTaken = try world.answer(server) { $0.addMappedAddress(outside) }
        #expect(isTaken && world.finder.observations.first?.address == outside)
    }

    @Test func aRequestThatWaitsLongForItsAnswerIsSentAgainWhenTheServersAreSetAgain() throws {
        var world = World([server])
        world.run(for: .seconds(20))
        let before = world.sent.count
        world.finder.setServers([server], at: world.now)
        world.drain()
        #expect(world.sent.count == before + 1)
        // The waits begin short again.
        world.run(for: .milliseconds(500))
        #expect(world.sent.count == before + 2)
    }

    /// An interface that comes and goes makes the caller set the servers again every 15 seconds, before a request is given up.
    @Test func aSilentServerIsReportedHoweverOftenTheServersAreSetAgain() throws {
        var world = World([server])
        let isKnown = try world.answer(server) { $0.addMappedAddress(outside) }
        #expect(isKnown)
        // The next request is sent now. Nobody answers it.
        world.run(for: .seconds(15))
        for _ in 0..<2 {
            world.run(for: .seconds(15))
            world.finder.setServers([server], at: world.now)
            world.drain()
        }
        #expect(world.finder.observations.map(\.address) == [outside])
        _ = world.takeChange()
        world.run(for: .seconds(2))
        #expect(world.finder.observations == [.init(server: server, failure: .noAnswer)])
        let hasChanged = world.takeChange()
        #expect(hasChanged)
        // The newest request still counts.
        let isTaken = try world.answer(server) { $0.addMappedAddress(outside) }
        #expect(isTaken)
        #expect(world.finder.observations.map(\.address) == [outside])
        #expect(world.finder.observations.map(\.failure) == [nil])
    }

    @Test func anAnswerEndsTheSilence() throws {
        var world = World([server])
        for _ in 0..<4 {
            // It is asked again, and answers late.
            world.run(for: .seconds(16))
            #expect(world.finder.observations.map(\.failure) == [nil])
            let isTaken = try world.answer(server) { $0.addMappedAddress(outside) }
            #expect(isTaken)
            world.run(for: .seconds(15))
            world.finder.setServers([server], at: world.now)
            world.drain()
        }
    }

    @Test func transactionsBearTheMark() {
        let world = World([server, other], mark: 9)
        #expect(world.sent.map(\.id.mark) == [9, 9])
    }
}
