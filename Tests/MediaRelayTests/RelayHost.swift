import DatagramPort
import Glibc
import NetworkSimulator
import RTP
import Transport

@testable import MediaRelay

/// Takes what the relay sends, as a socket would, and keeps account of it.
final class Outbox: DatagramSending {
    struct Run {
        var at: Instant
        var bytes: [UInt8]
        var transmit: Transmit
    }

    var now = Instant.zero
    var waiting: [Run] = []
    /// How many datagrams that are not media have been sent.
    private(set) var sent = 0
    /// Every run of media so far.
    private(set) var runs: [Run] = []
    /// Destinations whose datagrams the socket does not accept now.
    var isBlocked: (TransportAddress) -> Bool = { _ in false }
    /// Destinations that the kernel refuses for good.
    var isRefused: (TransportAddress) -> Bool = { _ in false }
    /// Two different packets of one source and one number: the same key stream would hide two texts.
    private(set) var keyStreamReuses = 0
    private var seen: [Key: Int] = [:]

    private struct Key: Hashable {
        var destination: TransportAddress
        var ssrc: UInt32
        var sequenceNumber: UInt16
    }

    func send(_ bytes: UnsafeRawBufferPointer, transmit: Transmit, from local: TransportAddress?) -> SendOutcome {
        if isRefused(transmit.destination) { return .dropped(EPERM) }
        if isBlocked(transmit.destination) { return .blocked }
        let run = Run(at: now, bytes: Array(bytes.prefix(transmit.byteCount)), transmit: transmit)
        waiting.append(run)
        if run.bytes[0] & 0xC0 != 0x80 { sent += 1 }
        if run.bytes[0] & 0xC0 == 0x80, !(192...223).contains(run.bytes[1]) {
            runs.append(run)
            for packet in Self.packets(of: run) { record(packet, transmit.destination) }
        }
        return .sent
    }

    private func record(_ packet: ArraySlice<UInt8>, _ destination: TransportAddress) {
        let (ssrc, sequenceNumber) = (Self.ssrc(of: packet), Self.sequenceNumber(of: packet))
        let key = Key(destination: destination, ssrc: ssrc, sequenceNumber: sequenceNumber)
        let hash = Array(packet).hashValue
        if let known = seen.updateValue(hash, forKey: key), known != hash { keyStreamReuses += 1 }
    }

    /// The datagrams that a run is cut into.
    static func packets(of run: Run) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: run.bytes.count, by: max(run.transmit.segmentSize, 1)).map {
            run.bytes[$0..<min($0 + run.transmit.segmentSize, run.bytes.count)]
        }
    }

    static func ssrc(of packet: ArraySlice<UInt8>) -> UInt32 {
        packet.dropFirst(8).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    static func sequenceNumber(of packet: ArraySlice<UInt8>) -> UInt16 {
        packet.dropFirst(2).prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
    }

    /// The transport-wide sequence number of a packet of the relay's.
    static func transportSequence(of packet: ArraySlice<UInt8>) -> UInt16? {
        guard packet.first == 0x90 else { return nil }
        return packet.dropFirst(17).prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
    }
}

/// A relay on a simulated host. Its shards take turns in a seeded order, each with the messages that wait for it, until
/// none waits.
final class RelayHost: SimulatedEndpoint {
    /// For tests of one shard.
    var shard: RelayShard { shards[0] }
    let shards: [RelayShard]
    let relay: MediaRelay
    private let mailboxes: [SteppedMailbox]
    private var random: RandomSource
    /// Added to the number of each address's door.
    var doorShift = 0
    let outbox: Outbox
    let addresses: [TransportAddress]
    private let address: TransportAddress
    private var sessions: UInt64 = 0
    /// The relay asks it only for its number.
    private static let port = Result { UDPPortGroup(try UDPPort(.loopback())) }

    init(address: TransportAddress, limits: RelayLimits, seed: UInt64, now: Instant, shards: Int = 1) throws {
        self.address = address
        addresses = [address]
        outbox = Outbox()
        outbox.now = now
        let mailboxes = (0..<shards).map { _ in SteppedMailbox() }
        let links = ShardLinks(mailboxes.map(\.link))
        self.mailboxes = mailboxes
        random = .seeded(seed &+ 77)
        relay = MediaRelay(shards: [], links: links, port: try Self.port.get())
        self.shards = (0..<shards).map { [outbox] index in
            RelayShard(
                port: outbox, limits: limits,
                wallClock: WallClockReading(instant: now, unixNanoseconds: 1_800_000_000_000_000_000),
                random: .seeded(seed &+ UInt64(index) &* 1_000_003), index: index, links: links)
        }
    }

    /// A handle for the next session.
    func makeHandle(shard: Int = 0) -> SessionHandle {
        sessions += 1
        return SessionHandle(shard: shard, number: sessions)
    }

    /// The shard whose socket gets what comes from an address.
    func door(of address: TransportAddress) -> Int {
        Int((address.low &+ UInt64(address.port) &+ UInt64(doorShift)) % UInt64(shards.count))
    }

    /// Lets the shards work until none has anything left.
    func settle() {
        while true {
            let busy = mailboxes.indices.filter { !mailboxes[$0].isIdle }
            guard !busy.isEmpty else { return }
            takeTurn(busy[Int(random.next() % UInt64(busy.count))])
        }
    }

    /// One turn, in the order of ``ShardLoop``.
    func takeTurn(_ index: Int) {
        mailboxes[index].rest()
        runMessages(of: index)
        shards[index].handleWake(at: now)
        takeAwaitedMessages(of: index)
    }

    private func runMessages(of index: Int) {
        for message in mailboxes[index].takeMessages() { message(shards[index], now) }
    }

    private func takeAwaitedMessages(of index: Int) {
        guard shards[index].awaitsMessages else { return }
        runMessages(of: index)
        shards[index].handleMessagesTaken(at: now)
    }

    var now: Instant {
        get { outbox.now }
        set { outbox.now = newValue }
    }

    func receive(_ datagram: SimulatedDatagram) {
        now = datagram.arrival
        var bytes = datagram.bytes
        let door = door(of: datagram.source)
        bytes.withUnsafeMutableBytes {
            shards[door].handle($0, from: datagram.source, to: datagram.destination, at: datagram.arrival)
        }
        shards[door].flushHandOvers()
        takeAwaitedMessages(of: door)
        settle()
    }

    var nextDeadline: Instant? { shards.compactMap(\.nextDeadline).min() }

    func handleDeadline(at now: Instant) {
        self.now = now
        for shard in shards { shard.handleDeadline(at: now) }
        settle()
    }

    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        if now >= self.now { self.now = now }
        settle()
        guard !outbox.waiting.isEmpty else { return nil }
        let run = outbox.waiting.removeFirst()
        buffer.copyBytes(from: run.bytes)
        return (run.transmit, address)
    }
}

extension RelayShard {
    /// The viewer of this name.
    func viewer(named name: String) -> Viewer? { viewers.values.first { $0.sessionID == name } }

    /// The publisher of this name.
    func publisher(named name: String) -> Publisher? { publishers.values.first { $0.sessionID == name } }

    /// The session of this name.
    func session(named name: String) -> Session? { viewer(named: name) ?? publisher(named: name) }
}

extension TrackInlet {
    /// An inlet for one shard whose wake-ups are seen.
    convenience init(wake: @escaping @Sendable () -> Void) { self.init(lists: [ReadyList(wake: wake)]) }
}
