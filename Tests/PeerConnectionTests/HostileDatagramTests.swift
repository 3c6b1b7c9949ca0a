import DTLS
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@Suite struct HostileDatagramTests {
    /// A connected session and all that both sides have sent so far.
    private func recorded() throws -> (session: Session, toGateway: [[UInt8]]) {
        let session = try Session()
        session.viewer.recordsDatagrams = true
        #expect(session.connect())
        session.startMedia()
        session.simulation.run(for: .seconds(12))
        return (session, session.viewer.transmitted.map(\.bytes))
    }

    private func mutate(_ original: [UInt8], _ random: inout RandomSource) -> [UInt8] {
        var bytes = original
        switch random.next() % 4 {
        case 0: bytes = Array(bytes.prefix(Int(random.next() % UInt64(bytes.count))))
        case 1: bytes += (0..<(1 + random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        default:
            for _ in 0...(random.next() % 4) {
                let position = Int(random.next() % UInt64(bytes.count))
                bytes[position] ^= UInt8(truncatingIfNeeded: random.next() | 1)
            }
        }
        return bytes
    }

    /// Each kind with the length of its fixed header (RFC 7983 tells them apart by the first byte).
    @Test(
        arguments: [
            (0, 0, 20), (20, 0, 13), (63, 0, 13), (128, 96, 12), (191, 0, 12), (128, 200, 8), (128, 223, 8),
        ] as [(UInt8, UInt8, Int)])
    func aDatagramThatIsTooShortForItsKindIsNoPacket(first: UInt8, second: UInt8, shortest: Int) {
        for count in 0...40 {
            let bytes = Array(([first, second] + [UInt8](repeating: 0, count: 40)).prefix(count))
            let mayBePacket = bytes.withUnsafeBytes { DatagramKind.mayBePacket($0) }
            #expect(mayBePacket == (count >= shortest))
        }
    }

    /// The ranges of ZRTP, of TURN channels and of nothing.
    @Test(arguments: [4, 15, 16, 19, 64, 79, 80, 127, 192, 255] as [UInt8])
    func aDatagramOfAnotherProtocolIsNoPacket(first: UInt8) {
        let mayBePacket = [UInt8](repeating: first, count: 100).withUnsafeBytes { DatagramKind.mayBePacket($0) }
        #expect(!mayBePacket)
    }

    @Test func mutatedDatagramsOfEachKindChangeNothing() throws {
        let (session, recording) = try recorded()
        let gateway = session.gateway
        let known = try #require(gateway.remoteAddress)
        let stranger = try #require(TransportAddress("192.0.2.66", port: 666))
        var kinds: [DatagramKind: [[UInt8]]] = [:]
        for datagram in recording {
            kinds[datagram.withUnsafeBytes { DatagramKind($0) }, default: []].append(datagram)
        }
        #expect(Set(kinds.keys) == [.stun, .dtls, .rtp])
        #expect(recording.allSatisfy { $0.withUnsafeBytes { DatagramKind.mayBePacket($0) } })
        var random = RandomSource.seeded(4)
        let events = gateway.events.count
        let media = gateway.received.count
        let sent = gateway.transmitted.count
        var count = 0
        for (_, datagrams) in kinds {
            for _ in 0..<1_500 {
                let original = datagrams[Int(random.next() % UInt64(datagrams.count))]
                let bytes = mutate(original, &random)
                guard bytes != original, !recording.contains(bytes) else { continue }
                count += 1
                for source in [known, stranger] {
                    gateway.receive(
                        SimulatedDatagram(
                            bytes, from: source, to: gateway.addresses[0], at: session.simulation.now))
                    session.simulation.run(for: .zero)
                }
            }
        }
        #expect(count > 4_000)
        #expect(gateway.events.count == events)
        #expect(gateway.received.count == media)
        #expect(gateway.remoteAddress == known && gateway.isConnected)
        #expect(!gateway.knows(stranger))
        let flow = session.countMedia(in: .seconds(2))
        #expect(flow.viewer >= 98 && flow.gateway >= 98)
        #expect(!gateway.transmitted[sent...].contains { $0.destination == stranger })
        #expect(gateway.refusals.stun > 500 && gateway.refusals.srtp > 500 && gateway.refusals.dtls > 500)
        session.simulation.run(for: .seconds(60))
        #expect(session.areConnected)
    }

    @Test func garbageBeforeAndDuringTheHandshakeDoesNotDisturbIt() throws {
        var random = RandomSource.seeded(8)
        let session = try Session()
        let stranger = try #require(TransportAddress("192.0.2.66", port: 666))
        for _ in 0..<40 {
            for first: UInt8 in [0, 1, 20, 21, 22, 23, 25, 63, 64, 127, 128, 144, 191, 192, 255] {
                for source in [stranger, session.viewer.addresses[0]] {
                    var bytes = (0..<(random.next() % 300)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                    // From the viewer's own address a well-formed record could be anything; noise is not.
                    bytes.insert(first, at: 0)
                    session.gateway.receive(
                        SimulatedDatagram(
                            bytes, from: source, to: session.gateway.addresses[0], at: session.simulation.now))
                }
            }
            session.simulation.run(for: .milliseconds(2))
        }
        #expect(session.connect())
        #expect(!session.gateway.transmitted.contains { $0.destination == stranger })
    }

    @Test func recordsFromAStrangerDoNotReachTheHandshake() throws {
        let (session, recording) = try recorded()
        let hello = try #require(recording.first { $0.first == 22 })
        let other = try Session(seed: 77)
        let stranger = try #require(TransportAddress("192.0.2.66", port: 666))
        other.simulation.run(for: .milliseconds(12))
        for _ in 0..<20 {
            other.gateway.receive(
                SimulatedDatagram(hello, from: stranger, to: other.gateway.addresses[0], at: other.simulation.now))
        }
        #expect(other.gateway.refusals.dtls == 20)
        #expect(other.connect())
        #expect(session.areConnected)
    }

    @Test func emptyAndTinyDatagramsAreCounted() throws {
        let session = try Session()
        #expect(session.connect())
        let before = session.gateway.refusals.unknown
        for count in 0..<2 {
            session.gateway.receive(
                SimulatedDatagram(
                    [UInt8](repeating: 0x80, count: count), from: session.viewer.addresses[0],
                    to: session.gateway.addresses[0], at: session.simulation.now))
        }
        #expect(session.gateway.refusals.unknown == before + 2)
        #expect(session.areConnected)
    }
}

extension SimulatedDatagram {
    init(_ bytes: [UInt8], from source: TransportAddress, to destination: TransportAddress, at now: Instant) {
        self = SimulatedDatagram(bytes: bytes, source: source, destination: destination, arrival: now)
    }
}
