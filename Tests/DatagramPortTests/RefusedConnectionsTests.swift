import Glibc
import Testing
import Transport

@testable import DatagramPort

/// What a server reports of the connections that it refuses, and whom it ignores.
@Suite struct RefusedConnectionsTests {
    private let start = Instant.zero + .seconds(10)

    @Test func `refused connections are reported at once, and then once a minute`() throws {
        var refused = RefusedConnections(listeners: [])
        let hosts = try ["192.0.2.1", "192.0.2.2"].map { text in try #require(TransportAddress(text, port: 40_000)) }
        var reports: [Bool] = []
        for host in hosts { reports.append(refused.record(host, at: start)) }
        reports.append(refused.record(hosts[0], at: start + .seconds(59)))
        reports.append(refused.record(hosts[0], at: start + .seconds(60)))
        reports.append(refused.record(hosts[1], at: start + .seconds(61)))
        #expect(reports == [true, false, false, true, false])
        #expect(refused.nextDeadline == nil)
    }

    /// How many instructions the kernel's filter of a socket has; 0 if it has none. `SO_GET_FILTER` has the same number.
    private func filterLength(of descriptor: Int32) -> socklen_t {
        var length: socklen_t = 0
        getsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, nil, &length)
        return length
    }

    @Test func `a host that is refused too often is ignored for a moment`() throws {
        let listener = try TCPListener(on: TransportAddress(ipv4: 0x7F00_0001, port: 0))
        var refused = RefusedConnections(listeners: [listener.descriptor])
        let host = try #require(TransportAddress("192.0.2.1", port: 40_000))
        for _ in 1..<FloodFilter.threshold { _ = refused.record(host, at: start) }
        #expect(refused.nextDeadline == nil && filterLength(of: listener.descriptor) == 0)
        _ = refused.record(host, at: start)
        let end = start + FloodFilter.period
        #expect(refused.nextDeadline == end && filterLength(of: listener.descriptor) > 0)
        refused.expire(at: start + FloodFilter.period / 2)
        #expect(refused.nextDeadline == end && filterLength(of: listener.descriptor) > 0)
        refused.expire(at: end)
        #expect(refused.nextDeadline == nil && filterLength(of: listener.descriptor) == 0)
    }
}
