import ICE
import PeerConnection
import PeerFakes
import Testing
import Transport

// Tests of a process's end need Swift 6.2.
#if compiler(>=6.2) && DEBUG
    @Suite struct DrainingTests {
        /// Hands the first check of a peer to a gateway, as often as asked, and drains it in between or not.
        private static func deliver(times: Int, drains: Bool) throws -> PeerConnection.Event? {
            var random = RandomSource.seeded(5)
            let (viewer, gateway) = (
                TransportAddress(ipv4: 0xC633_6401, port: 5000), TransportAddress(ipv4: 0xC633_6402, port: 8189)
            )
            let pair = try PeerPair(
                from: viewer, ICECredentials(using: &random), to: gateway, ICECredentials(using: &random))
            var offerer = try PeerConnection(configuration: pair.offerer, random: .seeded(6), now: .zero)
            var answerer = try PeerConnection(configuration: pair.answerer, random: .seeded(7), now: .zero)
            var buffer = [UInt8](repeating: 0, count: 1500)
            let check = buffer.withUnsafeMutableBytes { offerer.pollTransmit(into: $0, at: .zero) }
            let count = try #require(check).byteCount
            var first: PeerConnection.Event?
            for _ in 0..<times {
                var datagram = Array(buffer[..<count])
                _ = datagram.withUnsafeMutableBytes { answerer.handle($0, from: viewer, to: gateway, at: .zero) }
                guard drains else { continue }
                var output = [UInt8](repeating: 0, count: 1500)
                while output.withUnsafeMutableBytes({ answerer.pollTransmit(into: $0, at: .zero) }) != nil {}
                while let event = answerer.pollEvent() { first = first ?? event }
            }
            return first
        }

        @Test func `a driver that does not drain a connection between two datagrams is a mistake`() async {
            await #expect(processExitsWith: .failure) { _ = try DrainingTests.deliver(times: 2, drains: false) }
        }

        @Test func `a driver that drains it may go on`() throws {
            #expect(try Self.deliver(times: 2, drains: true) == .firstCheck)
        }
    }
#endif
