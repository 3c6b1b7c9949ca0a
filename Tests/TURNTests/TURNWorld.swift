import TURN
import TURNFakes
import Transport

/// A client and its server.
struct TURNWorld: ~Copyable {
    var client: TURNClient
    var server = FakeTURNServer()
    var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var events: [TURNEvent] = []
    /// What has come from peers.
    private(set) var received: [(peer: TransportAddress, bytes: [UInt8])] = []

    /// - Parameter settles: whether client and server talk at once.
    init(isStream: Bool = false, settles: Bool = true, _ change: (inout FakeTURNServer) -> Void = { _ in }) {
        change(&server)
        var configuration = TURNConfiguration(username: "gatehouse", password: "secret")
        configuration.isStream = isStream
        client = TURNClient(configuration: configuration, random: .seeded(3), now: now)
        if settles { settle() }
    }

    /// Lets client and server talk until neither has anything left to say. The client's output is taken before its next
    /// input, as every driver does.
    mutating func settle() {
        var sent = takeOutput()[...]
        for _ in 0..<1000 {
            guard let message = sent.popFirst() else { break }
            guard let answer = server.handle(message) else { continue }
            deliver(answer)
            sent += takeOutput()
        }
    }

    private mutating func takeOutput() -> [[UInt8]] {
        var messages: [[UInt8]] = []
        while messages.count < 1000, let message = transmit() { messages.append(message) }
        while let event = client.pollEvent() { events.append(event) }
        return messages
    }

    mutating func transmit() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let now = now
        guard let count = buffer.withUnsafeMutableBytes({ client.pollTransmit(into: $0, at: now) }) else { return nil }
        return Array(buffer.prefix(count))
    }

    mutating func deliver(_ bytes: [UInt8]) {
        let now = now
        guard case .data(let peer, let range) = bytes.withUnsafeBytes({ client.handle($0, at: now) }) else { return }
        received.append((peer, Array(bytes[range])))
    }

    /// The server reads what came while it was silent, and answers it.
    mutating func readOn() {
        for message in server.takeUnread() {
            if let answer = server.handle(message) { deliver(answer) }
            settle()
        }
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        for _ in 0..<10_000 {
            guard let next = client.nextDeadline, next <= end else { break }
            now = max(now, next)
            client.handleDeadline(at: now)
            settle()
        }
        now = end
    }

    /// Sends a datagram to a peer; the number of bytes on the way to the server.
    @discardableResult
    mutating func send(_ bytes: [UInt8], to peer: TransportAddress) -> Int {
        var buffer = [UInt8](repeating: 0, count: bytes.count + 64)
        let now = now
        let count = buffer.withUnsafeMutableBytes { buffer in
            bytes.withUnsafeBytes { client.send($0, to: peer, into: buffer, at: now) }
        }
        if count > 0 { _ = server.handle(Array(buffer.prefix(count))) }
        settle()
        return count
    }
}
