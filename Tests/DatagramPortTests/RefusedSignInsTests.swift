import DatagramPort
import Testing
import Transport

@Suite("wrong passwords")
struct RefusedSignInsTests {
    @Test("the delay doubles up to a bound, for all connections of a host together")
    func delays() {
        var signIns = RefusedSignIns()
        let host = TransportAddress(ipv4: 0xC000_0201, port: 1)
        var last = Instant.zero
        for attempt in 0..<8 {
            let until = signIns.refuse(host.withPort(UInt16(attempt + 1)), at: .zero)
            #expect(until > last)
            last = until
        }
        #expect(last == .zero + .milliseconds(100 + 200 + 400 + 800 + 1600 + 3200 + 5000 + 5000))
        for _ in 0..<20 { last = signIns.refuse(host, at: .zero) }
        #expect(last == Instant.zero + RefusedSignIns.maximumWait)
        // Another host is not affected, and this one starts again after a while.
        #expect(signIns.refuse(TransportAddress(ipv4: 0xC000_0202, port: 1), at: .zero) == .zero + .milliseconds(100))
        let later = Instant.zero + .seconds(700)
        #expect(signIns.refuse(host, at: later) == later + .milliseconds(100))
    }
}
