import Testing
import Transport

@testable import DatagramPort

@Suite("The host's addresses")
struct HostAddressTests {
    @Test("include loopback only when asked")
    func filtersLoopback() {
        var filter = HostAddressFilter()
        #expect(hostAddresses(filter).allSatisfy { !$0.address.isLoopback && $0.address.port == 0 })
        filter.includesLoopback = true
        let all = hostAddresses(filter)
        #expect(all.contains { $0.address == TransportAddress(ipv4: 0x7F00_0001, port: 0) && !$0.interface.isEmpty })
        #expect(Set(all).count == all.count)
        let families = all.map(\.address.family.rawValue)
        #expect(families == families.sorted())
    }

    @Test(
        "leave out addresses that no other host reaches",
        arguments: [
            ("eth0", "192.0.2.2", true), ("wlan0", "fd00::2", true), ("br0", "192.168.1.2", true),
            ("lo", "127.0.0.1", false), ("lo", "::1", false), ("eth0", "fe80::1", false),
            ("eth0", "169.254.3.4", false), ("docker0", "172.17.0.1", false), ("br-0a1b2c", "172.18.0.1", false),
            ("veth12", "10.0.0.1", false), ("virbr0", "192.168.122.1", false), ("eth0", "0.0.0.0", false),
        ])
    func filters(interface: String, text: String, isAccepted: Bool) throws {
        let address = try #require(TransportAddress(text, port: 0))
        let host = HostAddress(interface: interface, address: address)
        #expect(HostAddressFilter().accepts(host) == isAccepted)
        var everything = HostAddressFilter()
        everything.includesLoopback = true
        everything.includesLinkLocal = true
        everything.includesContainerBridges = true
        #expect(everything.accepts(host) == !address.isUnspecified)
    }
}

@Suite("The clocks")
struct ClockTests {
    @Test("the monotonic one never goes back")
    func isMonotonic() {
        var last = MonotonicClock.now
        for _ in 0..<1000 {
            let now = MonotonicClock.now
            #expect(now >= last)
            last = now
        }
    }

    @Test("the wall clock counts from 1970")
    func countsFrom1970() {
        // 2025 to 2200.
        #expect((1_735_689_600_000_000_000...7_258_118_400_000_000_000).contains(WallClock.now))
    }
}
