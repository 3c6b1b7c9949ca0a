import DatagramPort
import Testing
import Transport

@Suite struct TCPReachTests {
    @Test func eachAddressIsReachedOrSaysWhyNot() throws {
        let loopback = TransportAddress(ipv4: 0x7F00_0001, port: 0)
        let listener = try TCPListener(on: loopback)
        let open = try #require(listener.localAddress)
        // The port of a listener that has ended.
        let closed = try #require(try TCPListener(on: loopback).localAddress)
        let found = tryConnecting(to: [open, closed, open], within: .seconds(600))
        #expect(found.map(\.address) == [open, closed, open])
        #expect(found.map(\.failure) == [nil, "connection refused", nil])
        #expect(tryConnecting(to: [], within: .seconds(1)).isEmpty)
    }
}
