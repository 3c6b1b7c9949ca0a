import DatagramPort
import Logging
import NIOConcurrencyHelpers
import Testing
import Transport

@testable import Gateway

/// What the log says about hosts that guess tokens or keep opening connections.
@Suite struct SignInRefusalsTests {
    @Test func aHostIsLoggedAtOnceAndThenOncePerMinute() {
        let refusals = SignInRefusals()
        for _ in 0..<3 { refusals.record("192.0.2.1", at: .http) }
        refusals.record("192.0.2.2", at: .rtsp)
        #expect(
            refusals.lines(at: 10) == [
                .init(host: "192.0.2.1", door: .http, count: 3), .init(host: "192.0.2.2", door: .rtsp, count: 1),
            ])
        for second in UInt64(11)..<70 {
            refusals.record("192.0.2.1", at: .http)
            #expect(refusals.lines(at: second).isEmpty)
        }
        #expect(refusals.lines(at: 70) == [.init(host: "192.0.2.1", door: .http, count: 59)])
        #expect(refusals.lines(at: 71).isEmpty)
        #expect(refusals.total(at: .http) == 62 && refusals.total(at: .rtsp) == 1)
        // A host that was quiet for a minute is news again.
        #expect(refusals.lines(at: 200).isEmpty)
        refusals.record("192.0.2.1", at: .http)
        #expect(refusals.lines(at: 201) == [.init(host: "192.0.2.1", door: .http, count: 1)])
    }

    @Test func manyHostsCostABoundedNumberOfLines() {
        let refusals = SignInRefusals()
        for number in 0..<10_000 { refusals.record("host-\(number)", at: .http) }
        let lines = refusals.lines(at: 0)
        #expect(lines.count == SignInRefusals.maximumHosts + 1)
        #expect(lines.last == .init(host: SignInRefusals.otherHosts, door: .http, count: 10_000 - 256))
        #expect(refusals.lines(at: 1).isEmpty)
    }

    @Test func replacedConnectionsAreLoggedOncePerMinute() throws {
        let lines = NIOLockedValueBox<[String]>([])
        let redactor = Redactor(secrets: [], showsAddresses: true)
        let logger = Logger(label: "test") {
            GatewayLogHandler(label: $0, format: .text, redactor: redactor) { line in
                lines.withLockedValue { $0.append(line) }
            }
        }
        let shared = ConnectionGuard(
            connections: ConnectionLedger(limits: .init(total: 4, perHost: 1, perPrincipal: 1)))
        var reporter = ConnectionReporter(shared: shared, logger: logger)
        let peer = try #require(TransportAddress("192.0.2.1", port: 1))
        final class Connection {}
        let connections = (0...61).map { _ in Connection() }
        for second in UInt64(1)...61 {
            let isAdmitted = shared.connections.enter(connections[Int(second)], from: peer, close: {})
            #expect(isAdmitted)
            reporter.report(at: second)
        }
        reporter.report(at: 63)
        let written = lines.withLockedValue { $0 }
        #expect(written.count == 2)
        #expect(written.last?.contains("closed=") == true && written.last?.contains("192.0.2.1") == true)
    }
}
