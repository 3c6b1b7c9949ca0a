import NetworkSimulator
import Testing
import Transport

/// The tool that the scenarios rest on.
@Suite struct SimulatedNetworkTests {
    private let one = TransportAddress(ipv4: 0xC633_6401, port: 1000)
    private let other = TransportAddress(ipv4: 0xCB00_7101, port: 2000)

    private func send(_ count: Int, over network: inout SimulatedNetwork, every interval: Duration)
        -> [SimulatedDatagram]
    {
        for index in 0..<count {
            withUnsafeBytes(of: UInt32(index)) {
                network.send($0, from: one, to: other, at: Instant.zero + interval * index)
            }
        }
        return network.deliver(until: .distantFuture)
    }

    private func numbers(_ datagrams: [SimulatedDatagram]) -> [UInt32] {
        datagrams.map { $0.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } }
    }

    @Test func theSameSeedGivesTheSameRun() {
        var conditions = LinkConditions(latency: .milliseconds(5), loss: 0.1)
        conditions.jitter = .milliseconds(9)
        conditions.reordering = 0.1
        conditions.duplication = 0.1
        func run(_ seed: UInt64) -> [UInt32] {
            var network = SimulatedNetwork(seed: seed, conditions: conditions)
            return numbers(send(500, over: &network, every: .milliseconds(1)))
        }
        #expect(run(1) == run(1))
        #expect(run(1) != run(2))
    }

    @Test func lossLatencyAndDuplicationAreWhatWasAsked() {
        var conditions = LinkConditions(latency: .milliseconds(5), loss: 0.2)
        conditions.duplication = 0.1
        var network = SimulatedNetwork(seed: 1, conditions: conditions)
        let arrived = send(10_000, over: &network, every: .milliseconds(1))
        #expect((0.19...0.21).contains(Double(network.statistics.lost) / 10_000))
        #expect((0.07...0.09).contains(Double(network.statistics.duplicated) / 10_000))
        #expect(arrived.first.map { $0.arrival.nanoseconds % 1_000_000 } == 0)
        let order = numbers(arrived)
        #expect(order == order.sorted())
    }

    @Test func jitterKeepsTheOrderAndReorderingDoesNot() {
        var conditions = LinkConditions(latency: .milliseconds(5))
        conditions.jitter = .milliseconds(20)
        var network = SimulatedNetwork(seed: 1, conditions: conditions)
        let kept = numbers(send(1000, over: &network, every: .milliseconds(1)))
        #expect(kept == Array(0..<1000))
        conditions.reordering = 0.1
        network = SimulatedNetwork(seed: 1, conditions: conditions)
        let mixed = numbers(send(1000, over: &network, every: .milliseconds(1)))
        #expect(mixed != kept && mixed.sorted() == kept)
    }

    @Test func burstsLoseNeighbours() {
        var conditions = LinkConditions(latency: .milliseconds(5))
        conditions.burstLoss = BurstLoss(becomesBad: 0.02, becomesGood: 0.2)
        var network = SimulatedNetwork(seed: 1, conditions: conditions)
        let arrived = Set(numbers(send(10_000, over: &network, every: .milliseconds(1))))
        let lost = (0..<10_000 as Range<UInt32>).filter { !arrived.contains($0) }
        let afterALoss = lost.filter { $0 < 9_999 && !arrived.contains($0 + 1) }.count
        #expect((0.06...0.13).contains(Double(lost.count) / 10_000))
        #expect(Double(afterALoss) / Double(lost.count) > 0.7)
    }

    @Test func theRateIsLimited() {
        var conditions = LinkConditions(latency: .zero)
        conditions.bitsPerSecond = 256_000
        conditions.queueLimit = .milliseconds(50)
        var network = SimulatedNetwork(seed: 1, conditions: conditions)
        // 32 bytes with headers are a millisecond at this rate.
        let arrived = send(100, over: &network, every: .zero)
        #expect(arrived.count == 51 && network.statistics.overflowed == 49)
        #expect(arrived.last?.arrival == .zero + .milliseconds(51))
    }

    @Test func natsFilterAccordingToTheirKind() {
        let inside = TransportAddress(ipv4: 0xC0A8_0102, port: 1000)
        let outside = TransportAddress(ipv4: 0xC633_6409, port: 0)
        func passes(_ kind: NATKind, from source: TransportAddress) -> Bool {
            var network = SimulatedNetwork(seed: 1)
            _ = network.addNAT(kind, outside: outside, inside: [inside])
            withUnsafeBytes(of: UInt8(1)) { network.send($0, from: inside, to: other, at: .zero) }
            guard let seen = network.deliver(until: .distantFuture).first?.source else { return false }
            withUnsafeBytes(of: UInt8(1)) { network.send($0, from: source, to: seen, at: .zero) }
            return network.deliver(until: .distantFuture).first?.destination == inside
        }
        let otherPort = other.withPort(3000)
        #expect(NATKind.allCases.allSatisfy { passes($0, from: other) })
        #expect(NATKind.allCases.map { passes($0, from: otherPort) } == [true, true, false, false])
        #expect(NATKind.allCases.map { passes($0, from: one) } == [true, false, false, false])
    }

    @Test func onlyASymmetricNATHasAPortForEachDestination() {
        let inside = TransportAddress(ipv4: 0xC0A8_0102, port: 1000)
        let outside = TransportAddress(ipv4: 0xC633_6409, port: 0)
        let sources = NATKind.allCases.map { kind in
            var network = SimulatedNetwork(seed: 1)
            _ = network.addNAT(kind, outside: outside, inside: [inside])
            for destination in [one, other, other] {
                withUnsafeBytes(of: UInt8(1)) { network.send($0, from: inside, to: destination, at: .zero) }
            }
            return Set(network.deliver(until: .distantFuture).map(\.source)).count
        }
        #expect(sources == [1, 1, 1, 2])
    }

    @Test func aPrivateAddressIsNotReachedFromOutside() {
        let inside = TransportAddress(ipv4: 0xC0A8_0102, port: 1000)
        var network = SimulatedNetwork(seed: 1)
        _ = network.addNAT(.fullCone, outside: TransportAddress(ipv4: 0xC633_6409, port: 0), inside: [inside])
        withUnsafeBytes(of: UInt8(1)) { network.send($0, from: other, to: inside, at: .zero) }
        #expect(network.deliver(until: .distantFuture).isEmpty)
        #expect(network.statistics.unreachable == 1)
    }

    @Test func firewallsLetOutWhatTheirNameSays() {
        let inside = TransportAddress(ipv4: 0xC0A8_0102, port: 1000)
        func passes(_ firewall: Firewall, to destination: TransportAddress) -> Bool {
            var network = SimulatedNetwork(seed: 1)
            _ = network.addNAT(
                .fullCone, outside: TransportAddress(ipv4: 0xC633_6409, port: 0), inside: [inside], firewall: firewall)
            let source = inside.by(destination.route)
            withUnsafeBytes(of: UInt8(1)) { network.send($0, from: source, to: destination, at: .zero) }
            return network.deliver(until: .distantFuture).count == 1
        }
        let destinations = [other, other.by(.tcp), other.withPort(443), other.withPort(443).by(.tcp)]
        #expect(destinations.map { passes(.open, to: $0) } == [true, true, true, true])
        #expect(destinations.map { passes(.blocksUDP, to: $0) } == [false, true, false, true])
        #expect(destinations.map { passes(.onlyHTTPS, to: $0) } == [false, false, false, true])
    }

    @Test func aConnectionOverTCPIsWholeAndLetsNobodyElseIn() throws {
        let inside = TransportAddress(ipv4: 0xC0A8_0102, port: 1000).by(.tcp)
        var conditions = LinkConditions(latency: .milliseconds(5), loss: 0.5)
        (conditions.duplication, conditions.reordering) = (0.5, 0.5)
        var network = SimulatedNetwork(seed: 1, conditions: conditions)
        _ = network.addNAT(.fullCone, outside: TransportAddress(ipv4: 0xC633_6409, port: 0), inside: [inside])
        for index in 0..<100 {
            withUnsafeBytes(of: UInt32(index)) { network.send($0, from: inside, to: other.by(.tcp), at: .zero) }
        }
        let arrived = network.deliver(until: .distantFuture)
        #expect(numbers(arrived) == Array(0..<100))
        let seen = try #require(arrived.first).source
        #expect(Set(arrived.map(\.source)) == [seen] && seen.route == .tcp)
        for source in [other.by(.tcp), other, other.withPort(3000).by(.tcp), one.by(.tcp)] {
            withUnsafeBytes(of: UInt8(1)) { network.send($0, from: source, to: seen, at: .zero) }
        }
        #expect(network.deliver(until: .distantFuture).map(\.source) == [other.by(.tcp)])
        network.setConditions(.cut, to: other)
        withUnsafeBytes(of: UInt8(1)) { network.send($0, from: inside, to: other.by(.tcp), at: .zero) }
        #expect(network.deliver(until: .distantFuture).isEmpty)
    }
}
