import Testing
import Transport

@testable import SCTP

/// The library has one set of timers for the process, so these tests take turns.
@Suite("Two SCTP endpoints", .serialized)
struct SCTPEndpointTests {
    @Test("form an association, and exchange messages of every kind")
    func exchanges() throws {
        let pair = try BackToBack(ports: (6001, 6002))
        pair.carry()
        let (near, far) = (try #require(pair.nearAssociation), try #require(pair.farAssociation))
        #expect(pair.farEvents == [.began(pair.farLine, far)])
        try pair.near.send(SCTPMessage(stream: 4, protocolIdentifier: 51, payload: [1, 2, 3]), near)
        pair.carry()
        #expect(
            pair.farEvents.last == .message(pair.farLine, far, stream: 4, protocolIdentifier: 51, payload: [1, 2, 3]))
        let kinds: [SCTPMessage.Reliability] = [.reliable, .retransmissions(0), .milliseconds(500)]
        for (number, reliability) in kinds.enumerated() {
            for isOrdered in [true, false] {
                try pair.far.send(
                    SCTPMessage(
                        stream: 5, protocolIdentifier: 53, isOrdered: isOrdered, reliability: reliability,
                        payload: [UInt8(number)]), far)
            }
        }
        pair.carry()
        #expect(pair.nearMessages == [[0], [0], [1], [1], [2], [2]])
    }

    @Test("carry messages up to the limit, in packets that fit a datagram")
    func limits() throws {
        let pair = try BackToBack(ports: (6003, 6004))
        pair.carry()
        let (near, far) = (try #require(pair.nearAssociation), try #require(pair.farAssociation))
        let limits = pair.near.limits
        let largest = [UInt8](repeating: 7, count: limits.messageBytes)
        try pair.near.send(SCTPMessage(stream: 0, protocolIdentifier: 53, payload: largest), near)
        #expect(pair.run(steps: 100) { pair.farMessages == [largest] })
        #expect(pair.largestPacket <= limits.packetBytes && pair.largestPacket > limits.packetBytes - 64)
        try pair.near.send(SCTPMessage(stream: 0, protocolIdentifier: 53, payload: largest + [7]), near)
        #expect(pair.run(steps: 100) { pair.farEvents.contains(.oversized(far)) })
        #expect(pair.farMessages.allSatisfy { $0.count <= limits.messageBytes })
    }

    @Test("lose nothing and keep the order, whatever the network loses", arguments: [0.05, 0.2])
    func loss(share: Double) throws {
        let pair = try BackToBack(ports: (6005, 6006), seed: UInt64(share * 100))
        pair.loss = share
        #expect(pair.run(steps: 1_500) { pair.nearAssociation != nil && pair.farAssociation != nil })
        let near = try #require(pair.nearAssociation)
        let messages = (0..<60).map { number in [UInt8](repeating: UInt8(number), count: 1 + number * 37) }
        var waiting = messages[...]
        let isDone = pair.run(steps: 9_000) {
            while let next = waiting.first,
                (try? pair.near.send(SCTPMessage(stream: 2, protocolIdentifier: 53, payload: next), near)) != nil
            {
                waiting.removeFirst()
            }
            return pair.farMessages.count == messages.count
        }
        #expect(isDone)
        #expect(pair.farMessages == messages)
    }

    @Test("hold a bounded amount for a peer that takes nothing")
    func slowPeer() throws {
        let pair = try BackToBack(ports: (6007, 6008))
        pair.carry()
        let near = try #require(pair.nearAssociation)
        let message = SCTPMessage(stream: 0, protocolIdentifier: 53, payload: [UInt8](repeating: 1, count: 1_000))
        var sent = 0
        var refusal: SCTPError?
        for _ in 0..<1_000 where refusal == nil {
            do throws(SCTPError) {
                try pair.near.send(message, near)
                sent += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal == .bufferFull)
        #expect(sent * 1_000 <= pair.near.limits.bufferBytes)
        #expect(pair.run(steps: 500) { pair.farMessages.count == sent })
        try pair.near.send(message, near)
        #expect(pair.run(steps: 100) { pair.farMessages.count == sent + 1 })
    }

    @Test("reset streams, and notice when the other has ended")
    func resets() throws {
        let pair = try BackToBack(ports: (6009, 6010))
        pair.carry()
        let (near, far) = (try #require(pair.nearAssociation), try #require(pair.farAssociation))
        try pair.near.send(SCTPMessage(stream: 3, protocolIdentifier: 51, payload: [1]), near)
        pair.carry()
        try pair.near.reset(stream: 3, near)
        #expect(pair.run(steps: 100) { pair.farEvents.contains(.reset(far, streams: [3])) })
        pair.near.abort(near)
        pair.carry()
        #expect(pair.farEvents.last == .ended(far))
        #expect(throws: SCTPError.self) {
            try pair.far.send(SCTPMessage(stream: 3, protocolIdentifier: 51, payload: [1]), far)
        }
    }

    @Test("refuse a second one on their port")
    func portInUse() throws {
        let first = try SCTPEndpoint(port: 6011)
        #expect(throws: SCTPError.self) { try SCTPEndpoint(port: 6011) }
        withExtendedLifetime(first) {}
    }

    @Test("survive packets that nobody meant to send")
    func hostilePackets() throws {
        let pair = try BackToBack(ports: (6012, 6013))
        var recorded: [[UInt8]] = []
        for _ in 0..<6 {
            let packets = pair.near.takePackets(of: pair.nearLine)
            recorded += packets
            for packet in packets { packet.withUnsafeBytes { pair.far.handle($0, line: pair.farLine) } }
            for packet in pair.far.takePackets(of: pair.farLine) {
                recorded.append(packet)
                packet.withUnsafeBytes { pair.near.handle($0, line: pair.nearLine) }
            }
        }
        pair.carry()
        #expect(pair.run(steps: 20) { pair.farAssociation != nil })
        let far = try #require(pair.farAssociation)
        var random = RandomSource.seeded(11)
        for turn in 0..<4_000 {
            var packet = recorded[Int(random.next() % UInt64(recorded.count))]
            for _ in 0...(random.next() % 6) {
                let position = Int(random.next() % UInt64(packet.count))
                packet[position] = UInt8(truncatingIfNeeded: random.next())
            }
            if turn % 3 == 0 { packet.removeLast(Int(random.next() % UInt64(packet.count))) }
            SCTPChecksum.write(into: &packet)
            packet.withUnsafeBytes { pair.far.handle($0, line: pair.farLine) }
            while pair.far.pollEvent() != nil {}
            _ = pair.far.takePackets(of: pair.farLine)
        }
        pair.far.abort(far)
    }
}
