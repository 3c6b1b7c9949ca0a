import MulticastDNS
import Testing
import Transport

/// Responders on one link, in virtual time. Everybody hears everything, themselves included.
struct VirtualLink {
    static let name = DNSName("gatehouse.local")

    var now = Instant(nanoseconds: 1_000_000_000)
    var hosts: [MulticastDNSResponder] = []
    var sources: [TransportAddress] = []
    /// What each host has to send.
    var waiting: [[MulticastDNSTransmit]] = []
    /// What has gone to the group, and to one receiver.
    var sent: [(at: Instant, host: Int, message: MulticastDNSMessage, destination: TransportAddress?)] = []

    static func address(_ number: UInt32) -> TransportAddress { TransportAddress(ipv4: 0xC000_0200 + number, port: 0) }

    static func message(_ bytes: [UInt8]) -> MulticastDNSMessage? {
        bytes.withUnsafeBytes { try? MulticastDNSMessage(parsing: $0) }
    }

    /// Adds a host with the last byte of its address.
    mutating func add(_ number: UInt32, named name: String = "gatehouse", seed: UInt64? = nil) {
        var host = MulticastDNSResponder(name: name, random: .seeded(seed ?? UInt64(number)))
        host.setLinks([.init(id: 1, addresses: [Self.address(number)])], at: now)
        hosts.append(host)
        waiting.append([])
        sources.append(Self.address(number).withPort(MulticastDNS.port))
    }

    /// Takes what a host has to send.
    private mutating func drain(_ index: Int) {
        while let transmit = hosts[index].pollTransmit() { waiting[index].append(transmit) }
    }

    /// Delivers everything that waits.
    mutating func deliver() {
        for index in hosts.indices { drain(index) }
        for _ in 0..<1000 {
            var isQuiet = true
            for index in hosts.indices {
                while !waiting[index].isEmpty {
                    let transmit = waiting[index].removeFirst()
                    isQuiet = false
                    guard let message = Self.message(transmit.bytes) else {
                        Issue.record("the message cannot be read")
                        continue
                    }
                    sent.append((now, index, message, transmit.destination))
                    guard transmit.destination == nil else { continue }
                    for other in hosts.indices {
                        hosts[other].handle(message, on: 1, from: sources[index], at: now)
                        drain(other)
                    }
                }
            }
            if isQuiet { return }
        }
        Issue.record("messages without end")
    }

    /// Lets time pass from deadline to deadline.
    mutating func run(for duration: Duration) {
        let end = now + duration
        deliver()
        for _ in 0..<10_000 {
            guard let next = hosts.compactMap(\.nextDeadline).min(), next <= end else { break }
            now = max(now, next)
            for index in hosts.indices { hosts[index].handleDeadline(at: now) }
            deliver()
        }
        now = end
    }

    /// Sends a query to all hosts, and returns what they send because of it.
    mutating func query(
        _ type: UInt16, knowing known: [DNSRecord] = [], port: UInt16 = MulticastDNS.port, id: UInt16 = 0,
        wantsUnicast: Bool = false
    ) throws -> [(message: MulticastDNSMessage, destination: TransportAddress?)] {
        var message = MulticastDNSMessage(isResponse: false)
        message.id = id
        var question = DNSQuestion(try #require(Self.name), type: type)
        question.wantsUnicast = wantsUnicast
        message.questions = [question]
        message.answers = known
        let before = sent.count
        for index in hosts.indices {
            hosts[index].handle(message, on: 1, from: Self.address(200).withPort(port), at: now)
        }
        deliver()
        return sent[before...].map { ($0.message, $0.destination) }
    }
}
