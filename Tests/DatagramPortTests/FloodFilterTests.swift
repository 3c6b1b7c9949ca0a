import Glibc
import Testing
import Transport

@testable import DatagramPort

/// A host that keeps opening connections is ignored for a moment, and the kernel enforces it.
@Suite struct FloodFilterTests {
    func address(_ text: String) throws -> TransportAddress { try #require(TransportAddress(text, port: 40_000)) }

    @Test func aHostThatIsRefusedTooOftenIsIgnoredForAMoment() throws {
        var filter = FloodFilter()
        let (host, other) = (try address("192.0.2.1"), try address("192.0.2.2"))
        let start = Instant.zero + .seconds(10)
        var changes: [Bool] = []
        for _ in 1..<FloodFilter.threshold { changes.append(filter.recordRefusal(of: host, at: start)) }
        changes.append(filter.recordRefusal(of: other, at: start))
        #expect(!changes.contains(true))
        let isIgnored = filter.recordRefusal(of: host, at: start)
        #expect(isIgnored && filter.hosts == [host.withPort(0)])
        // Those that were on their way change nothing.
        let isIgnoredAgain = filter.recordRefusal(of: host, at: start)
        #expect(!isIgnoredAgain)
        #expect(filter.nextDeadline == start + FloodFilter.period)
        let isHeardEarly = filter.expire(at: start + FloodFilter.period / 2)
        #expect(!isHeardEarly)
        let isHeard = filter.expire(at: start + FloodFilter.period)
        #expect(isHeard && filter.hosts.isEmpty && filter.nextDeadline == nil)
    }

    @Test func rareRefusalsThisMachineAndTooManyHostsChangeNothing() throws {
        var filter = FloodFilter()
        for second in 0..<100 {
            let isChanged = filter.recordRefusal(of: try address("192.0.2.1"), at: .zero + .seconds(second))
            #expect(!isChanged)
        }
        for local in ["127.0.0.1", "::1"] {
            for _ in 0..<100 {
                let isChanged = filter.recordRefusal(of: try address(local), at: .zero + .seconds(200))
                #expect(!isChanged)
            }
        }
        for number in 0..<400 {
            let host = TransportAddress(ipv6High: 0x2001_0DB8_0000_0000 + UInt64(number), low: 1, port: 1)
            for _ in 0..<FloodFilter.threshold { _ = filter.recordRefusal(of: host, at: .zero + .seconds(300)) }
        }
        #expect(filter.hosts.count == FloodFilter.maximumHosts)
    }

    /// A listening socket of this machine, and whether it accepts connections from an address of the loopback network.
    @Test func theKernelHearsEverybodyElse() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16 in
                guard bind(listener, address, length) == 0, listen(listener, 16) == 0,
                    getsockname(listener, address, &length) == 0
                else { return 0 }
                return 1
            } == 1 ? UInt16(bigEndian: pointer.pointee.sin_port) : 0
        }
        try #require(port != 0)

        /// The kernel completes the handshake by itself; a host that is ignored gets no answer.
        func connects(from source: UInt32) -> Bool {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            defer { close(client) }
            func call(
                _ host: UInt32, _ port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
            ) {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = host.bigEndian
                withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = body(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
            }
            call(source, 0, bind)
            call(0x7F00_0001, port, connect)
            // Over loopback the handshake is over before connect returns, if it ever is.
            var ready = pollfd(fd: client, events: Int16(POLLOUT), revents: 0)
            return poll(&ready, 1, 0) == 1 && ready.revents & Int16(POLLHUP | POLLERR) == 0
        }

        let sources: [UInt32] = [0x7F00_0002, 0x7F00_0003]
        #expect(sources.allSatisfy(connects))
        // More than one conditional jump can reach, and of both families.
        var filter = FloodFilter()
        let strangers = (0..<FloodFilter.maximumHosts - 1).map { number in
            number % 2 == 0
                ? TransportAddress(ipv4: 0xC000_0200 + UInt32(number), port: 0)
                : TransportAddress(ipv6High: 0x2001_0DB8_0000_0000 + UInt64(number), low: 0, port: 0)
        }
        filter.ignore(strangers + [TransportAddress(ipv4: sources[0], port: 0)])
        #expect(filter.apply(to: listener))
        #expect(sources.map(connects) == [false, true])
        #expect(FloodFilter().apply(to: listener))
        #expect(sources.allSatisfy(connects))
        // Clearing the filter twice is not a failure.
        #expect(FloodFilter().apply(to: listener))
    }
}
