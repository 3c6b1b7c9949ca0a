import Testing
import Transport

@testable import PortMapping

/// A mapper and a router in virtual time. The router's answers are written byte by byte, by the RFCs.
struct FakeRouter {
    static let address = TransportAddress(ipv4: 0xC0A8_0101, port: 5351)
    static let client = TransportAddress(ipv4: 0xC0A8_010A, port: 0)
    static let outside = TransportAddress(ipv4: 0xCB00_7106, port: 8189)

    /// What the router understands.
    enum Kind { case pcp, natPMP, silent }

    var kind: Kind
    var mapper = PortMapper(internalPort: 8189, random: .seeded(3))
    var now = Instant(nanoseconds: 1_000_000_000)
    var lifetime: UInt32 = PortMapper.wantedLifetime
    var code: UInt8 = 0
    /// The code for a port that carries TCP.
    var codeForTCP: UInt8?
    var external = outside
    /// Every request, and when it came.
    var requests: [(at: Instant, bytes: [UInt8])] = []
    /// What it does by UPnP; nil for nothing.
    var upnp: FakeUPnPDevice?
    var searches: [(at: Instant, message: RouterMessage)] = []
    var httpRequests: [(at: Instant, message: RouterMessage)] = []

    init(_ kind: Kind, upnp: FakeUPnPDevice? = nil) {
        (self.kind, self.upnp) = (kind, upnp)
        mapper.setRouter(Self.address, client: Self.client, at: now)
        exchange()
    }

    private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    /// What the router says to a request.
    func answer(to request: [UInt8]) -> [UInt8]? {
        switch (kind, request[0]) {
        case (.silent, _): return nil
        case (.pcp, 2):
            let code = request[36] == 6 ? codeForTCP ?? code : code
            // Header: version, response and operation, reserved, code, lifetime, epoch, reserved.
            let header =
                [2, 0x81, 0, code] + Self.bytes(UInt64(lifetime), 4) + Self.bytes(77, 4)
                + [UInt8](repeating: 0, count: 12)
            return header + request[24..<42] + Self.bytes(UInt64(external.port), 2)
                + Self.bytes(external.high, 8) + Self.bytes(0xFFFF_0000_0000 | external.low, 8)
        case (.pcp, _): return nil
        case (.natPMP, 0) where request.count == 2:
            return [0, 128, 0, code] + Self.bytes(77, 4) + Self.bytes(external.low, 4)
        case (.natPMP, 0):
            let code = request[1] == 2 ? codeForTCP ?? code : code
            return [0, 128 + request[1], 0, code] + Self.bytes(77, 4) + request[4..<6]
                + Self.bytes(UInt64(external.port), 2)
                + Self.bytes(UInt64(lifetime), 4)
        case (.natPMP, _): return [0, 129, 0, 1] + Self.bytes(77, 4)
        }
    }

    mutating func deliver(_ answer: [UInt8], from source: TransportAddress = address) {
        answer.withUnsafeBytes { mapper.handle($0, from: source, at: now) }
    }

    mutating func exchange() {
        for _ in 0..<100 {
            if let message = mapper.pollTransmit() {
                if message.destination != Self.address {
                    search(message)
                } else {
                    requests.append((now, message.bytes))
                    if let answer = answer(to: message.bytes) { deliver(answer) }
                }
            } else if let message = mapper.pollRequest() {
                httpRequests.append((now, message))
                mapper.handle(response: upnp?.answer(to: message), at: now)
            } else {
                return
            }
        }
        Issue.record("requests without end")
    }

    /// Answers a search as a device does.
    mutating func search(_ message: RouterMessage) {
        searches.append((now, message))
        guard let upnp, message.destination == SSDPSearch.group else { return }
        deliver(upnp.searchAnswer, from: Self.address.withPort(1900))
    }

    /// Lets time pass from deadline to deadline.
    mutating func run(for duration: Duration) {
        let end = now + duration
        for _ in 0..<10_000 {
            guard let next = mapper.nextDeadline, next <= end else { break }
            now = max(now, next)
            mapper.handleDeadline(at: now)
            exchange()
        }
        now = end
    }

    /// How long after each other the requests came.
    var gaps: [Duration] { zip(requests.dropFirst(), requests).map { $0.at - $1.at } }
}
