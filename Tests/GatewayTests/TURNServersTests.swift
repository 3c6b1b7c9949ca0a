import DatagramPort
import Glibc
import Logging
import MediaRelay
import STUN
import StationFakes
import TURN
import Testing
import Transport

@testable import Gateway

/// Which of the config's TURN servers is used, and when one that failed is asked again.
@Suite(.timeLimit(.minutes(10))) struct TURNServersTests {
    private static let relayed = TransportAddress(ipv4: 0xCB00_7101, port: 50_000)

    /// What the gateway learns of a server, each time that it uses it.
    private enum Step {
        case relays
        case isSilent
        case fails(TURNFailure)

        func state(of server: TURNServer) -> TURNState {
            var state = TURNState(server: server.address, transport: server.transport)
            switch self {
            case .relays: state.record(allocated: [TURNServersTests.relayed], isSilent: false)
            case .isSilent: state.record(allocated: [TURNServersTests.relayed], isSilent: true)
            case .fails(let failure): state.record(failure)
            }
            return state
        }
    }

    /// What happened in some rounds.
    private struct Course: Sendable {
        /// The numbers of the servers, in the order in which they were used.
        var used: [Int] = []
        var pauses: [Duration] = []
    }

    private static func server(_ number: Int) throws -> GatewayConfiguration.Network.TURNServer {
        let url = try #require(ICEServerURL("turn:127.0.0.\(number):3478"))
        return .init(url: url, username: "gatehouse", password: "secret")
    }

    private static func seconds(_ counts: Int...) -> [Duration] { counts.map { .seconds($0) } }

    /// Uses `count` servers until `rounds` rounds are over. `steps` says what happens to a server, by its number and by
    /// how often it has been used, from 1 on; nil if the socket cannot be opened.
    private func run(
        _ count: Int, rounds: Int, lines: LogLines = LogLines(),
        _ steps: @escaping @Sendable (_ server: Int, _ attempt: Int) -> [Step]?
    ) async throws -> Course {
        let course = Locked(Course())
        let (pauses, continuation) = AsyncStream.makeStream(of: Void.self)
        let service = TURNServers(
            servers: try (1...count).map(Self.server), logger: lines.logger,
            sleep: { pause in
                let number = course.withLock { course in
                    course.pauses.append(pause)
                    return course.pauses.count
                }
                continuation.yield()
                // The test ends the task now.
                if number == rounds { try await Task.sleep(for: .seconds(86_400)) }
            },
            setServer: { server, changed throws(SystemCallError) in
                let number = Int(server.address.low & 0xFF)
                let attempt = course.withLock { course in
                    course.used.append(number)
                    return course.used.count { $0 == number }
                }
                guard let happening = steps(number, attempt) else {
                    throw SystemCallError(call: "socket", purpose: "test", errorNumber: EMFILE)
                }
                changed(TURNState(server: server.address, transport: server.transport))
                for step in happening { changed(step.state(of: server)) }
            })
        let running = Task { try await service.run() }
        var seen = 0
        for await _ in pauses {
            seen += 1
            if seen == rounds { break }
        }
        running.cancel()
        try await running.value
        return course.withLock { $0 }
    }

    @Test func `the first server that relays is used until it fails and then the next`() async throws {
        let course = try await run(3, rounds: 2) { server, _ in
            server == 1 ? [.fails(.noAnswer)] : [.relays, .fails(.disconnected)]
        }
        #expect(course.used == [1, 2, 3, 1, 2, 3])
        #expect(course.pauses == Self.seconds(5, 5))
    }

    @Test func `servers that all fail are asked less and less often`() async throws {
        let course = try await run(2, rounds: 8) { _, _ in [.fails(.wrongCredentials)] }
        #expect(course.used == (0..<16).map { $0 % 2 + 1 })
        #expect(course.pauses == Self.seconds(10, 20, 40, 80, 160, 240, 240, 240))
    }

    @Test func `a server that recovers makes the pauses short again`() async throws {
        let course = try await run(2, rounds: 5) { server, attempt in
            server == 2 && attempt == 4 ? [.relays, .fails(.noAnswer)] : [.fails(.noAnswer)]
        }
        #expect(course.pauses == Self.seconds(10, 20, 40, 5, 10))
    }

    @Test func `a server that is silent for a moment stays in use`() async throws {
        let lines = LogLines()
        let course = try await run(2, rounds: 1, lines: lines) { server, _ in
            server == 1 ? [.relays, .isSilent, .relays, .isSilent, .fails(.noAnswer)] : [.fails(.noAnswer)]
        }
        #expect(course.used == [1, 2])
        #expect(lines.lines.count { $0.level == .notice } == 1, "\(lines.lines)")
    }

    @Test(
        arguments: [
            .refused(code: 300), .refused(code: nil), .contradictory, .insecure(reason: "test"), .disconnected,
            .unreachable(reason: "test"),
        ] as [TURNFailure])
    func `a server that fails in any way gives way to the next`(failure: TURNFailure) async throws {
        let course = try await run(2, rounds: 1) { server, _ in
            server == 1 ? [.fails(failure)] : [.relays, .fails(.noAnswer)]
        }
        #expect(course.used == [1, 2] && course.pauses == Self.seconds(5))
    }

    @Test func `without a socket the next round is later`() async throws {
        let course = try await run(2, rounds: 2) { server, attempt in
            if attempt == 1 { return nil }
            return server == 2 ? [.relays, .fails(.noAnswer)] : [.fails(.noAnswer)]
        }
        #expect(course.used == [1, 2, 1, 2])
        #expect(course.pauses == Self.seconds(10, 5))
    }

    @Test func `a failure that lasts is logged once`() async throws {
        let lines = LogLines()
        _ = try await run(1, rounds: 6, lines: lines) { _, attempt in
            switch attempt {
            case 1...3: [.fails(.noAnswer)]
            case 4: [.fails(.wrongCredentials)]
            // After it has relayed, the same failure is news.
            case 5: [.relays, .fails(.wrongCredentials)]
            default: [.fails(.wrongCredentials)]
            }
        }
        #expect(lines.lines.count { $0.level == .warning } == 3, "\(lines.lines)")
    }

    /// The config names the servers (RFC 8656, section 7.4, would follow).
    @Test func `a server that redirects is not followed and the next one relays`() async throws {
        let elsewhere = try FakeICEServer()
        let first = try FakeICEServer(redirectingTo: elsewhere.address)
        let second = try FakeICEServer()
        defer { for server in [elsewhere, first, second] { server.close() } }
        let relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 1))
        defer { relay.stop() }
        let servers = try [first, second].map { server in
            GatewayConfiguration.Network.TURNServer(
                url: try #require(ICEServerURL("turn:\(server.address)")), username: "viewer", password: "secret")
        }
        let service = TURNServers(servers: servers, relay: relay, logger: LogLines().logger)
        let running = Task { try await service.run() }
        let relays = await eventually { relay.relayedAddresses == [FakeICEServer.relayed] }
        #expect(relays && relay.turnState?.server == second.address)
        #expect(Set(first.methods) == [TURN.Method.allocate] && elsewhere.methods.isEmpty)
        running.cancel()
        try await running.value
    }
}
