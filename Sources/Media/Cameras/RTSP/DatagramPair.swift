import DatagramPort
import Glibc
import RTP
import RTSP
import Transport

/// The two UDP sockets of one track, RTP on an even port and RTCP on the one after it (RFC 3550, section 11), and the
/// buffer that puts its packets in order.
///
/// Only the camera's own host counts: the one that the RTSP connection goes to, whatever `source` the camera names. Its
/// port is not checked, since cameras send from ports other than the ones they name.
final class DatagramPair {
    let mediaSocket: Int32
    let controlSocket: Int32
    /// The even port.
    let port: UInt16
    private let camera: TransportAddress
    private var mediaPeer: TransportAddress?
    private var controlPeer: TransportAddress?
    private var announcedPort: UInt16?
    private var announcesOtherHost = false
    private var ssrc: UInt32?
    private var candidate: UInt32?
    private var order: PacketReorderBuffer
    private let maximumDelay: Duration
    private(set) var statistics: ReceptionStatistics
    /// Datagrams from other hosts, which were dropped.
    private(set) var strangers: UInt64 = 0

    /// How many bytes the kernel should hold: two thirds of a second at 25 Mbit/s, for a key frame that comes in one
    /// burst.
    private static let receiveBuffer: Int32 = 2 << 20

    /// Binds a free pair of ports of the camera's address family; nil where none is free.
    init?(camera: TransportAddress, clockRate: Int, maximumDelay: Duration) {
        self.camera = camera
        self.maximumDelay = maximumDelay
        order = PacketReorderBuffer(maximumDelay: maximumDelay)
        statistics = ReceptionStatistics(clockRate: clockRate)
        for _ in 0..<64 {
            guard let first = Self.bind(family: camera.family, port: 0) else { break }
            // The system chose one port of the pair. The other must be free as well.
            let even = first.port & ~1
            let other = first.port == even ? even + 1 : even
            guard even >= 1024, let second = Self.bind(family: camera.family, port: other) else {
                close(first.descriptor)
                continue
            }
            port = even
            (mediaSocket, controlSocket) =
                first.port == even
                ? (first.descriptor, second.descriptor) : (second.descriptor, first.descriptor)
            var size = Self.receiveBuffer
            setsockopt(mediaSocket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            return
        }
        return nil
    }

    deinit {
        close(mediaSocket)
        close(controlSocket)
    }

    private static func bind(
        family: TransportAddress.Family, port: UInt16
    ) -> (descriptor: Int32, port: UInt16)? {
        let address =
            switch family {
            case .ipv4: TransportAddress(ipv4: 0, port: port)
            case .ipv6: TransportAddress(ipv6High: 0, low: 0, port: port)
            }
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.socketFamily, type, 0)
        guard descriptor >= 0 else { return nil }
        guard address.withSocketAddress({ Glibc.bind(descriptor, $0, $1) }) == 0,
            let bound = TransportAddress.filled(by: { getsockname(descriptor, $0, $1) })
        else {
            close(descriptor)
            return nil
        }
        return (descriptor, bound.port)
    }

    // MARK: Sending

    /// The camera has agreed: its ports are known, or stay unknown until its first datagrams come. Opens a path for
    /// them through a firewall or NAT in between.
    func open(_ transport: TransportHeader, ssrc own: UInt32) {
        announcedPort = transport.serverPort
        announcesOtherHost = transport.source.map { isOtherHost($0) } ?? false
        mediaPeer = transport.serverPort.map { camera.withPort($0) }
        controlPeer = transport.serverControlPort.map { camera.withPort($0) }
        punch(ssrc: own)
    }

    /// Whether a numeric address in text is another host than the camera. A name is not looked up, and is not treated as
    /// different.
    private func isOtherHost(_ text: String) -> Bool {
        let host = text.first == "[" ? String(text.dropFirst().prefix { $0 != "]" }) : text
        guard let address = TransportAddress(host, port: 0) else { return false }
        return !address.hasSameHost(as: camera)
    }

    /// Sends an RTP packet without media and an empty receiver report, which open a path back and have no other
    /// meaning.
    func punch(ssrc own: UInt32) {
        withUnsafeTemporaryAllocation(byteCount: 12, alignment: 4) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            buffer[0] = 0x80
            buffer.storeBytes(of: own.bigEndian, toByteOffset: 8, as: UInt32.self)
            send(UnsafeRawBufferPointer(buffer), from: mediaSocket, to: mediaPeer)
            // RFC 3550, section 6.4.2: a receiver report without blocks is two words.
            buffer[1] = 201
            buffer[3] = 1
            buffer.storeBytes(of: own.bigEndian, toByteOffset: 4, as: UInt32.self)
            send(UnsafeRawBufferPointer(rebasing: buffer[..<8]), from: controlSocket, to: controlPeer)
        }
    }

    /// Sends RTCP.
    func sendControl(_ packet: UnsafeRawBufferPointer) { send(packet, from: controlSocket, to: controlPeer) }

    private func send(_ packet: UnsafeRawBufferPointer, from descriptor: Int32, to peer: TransportAddress?) {
        guard let peer, peer.port != 0 else { return }
        // The next report makes up for a lost one.
        _ = peer.withSocketAddress {
            sendto(descriptor, packet.baseAddress, packet.count, Int32(MSG_NOSIGNAL), $0, $1)
        }
    }

    // MARK: Receiving

    /// Reads one datagram from the camera into `buffer`; 0 when none waits.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        // Other hosts cannot hold the thread for longer than this many datagrams.
        for _ in 0..<256 {
            var count = 0
            let source = TransportAddress.filled { address, length in
                count = recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, address, length)
                return count < 0 ? -1 : 0
            }
            guard count > 0 else {
                // Nothing, an empty datagram, or the error of a closed port, which the next read does not repeat.
                if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return 0 }
                continue
            }
            guard let source, camera.hasSameHost(as: source) else {
                strangers &+= 1
                continue
            }
            record(port: source.port, isControl: descriptor == controlSocket)
            return count
        }
        return 0
    }

    private func record(port: UInt16, isControl: Bool) {
        if isControl {
            if controlPeer == nil { controlPeer = camera.withPort(port) }
        } else {
            mediaPort = port
            if mediaPeer == nil { mediaPeer = camera.withPort(port) }
        }
    }

    /// The port that the last packet came from.
    private var mediaPort: UInt16?

    /// Whether packets come from a host other than the one that the camera named.
    var hasWrongSource: Bool { announcesOtherHost && mediaPort != nil }

    /// Whether packets come from a port other than the one that the camera named.
    var hasWrongPort: Bool {
        guard let announcedPort, let mediaPort else { return false }
        return announcedPort != mediaPort
    }

    /// Inserts a packet; ``next(at:)`` hands out packets in order. Returns false where the bytes are not a packet.
    func insert(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> Bool {
        guard let packet = try? RTPPacketView(parsing: bytes) else { return false }
        if packet.ssrc != ssrc {
            // A changed source counts from its second packet on: a stray packet must not restart everything.
            guard ssrc == nil || candidate == packet.ssrc else {
                candidate = packet.ssrc
                return false
            }
            ssrc = packet.ssrc
            order = PacketReorderBuffer(maximumDelay: maximumDelay)
            statistics = ReceptionStatistics(clockRate: statistics.clockRate)
        }
        candidate = nil
        statistics.receive(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payloadLength: packet.payload.count,
            at: now)
        order.insert(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker, payload: bytes,
            at: now)
        return true
    }

    /// The next packet in order, with its header; valid until the next call.
    func next(at now: Instant) -> UnsafeRawBufferPointer? {
        while let output = order.next(at: now) {
            // A gap shows in the sequence numbers of the next packets.
            if case .packet(let packet) = output { return packet.payload }
        }
        return nil
    }

    /// When the time of a missing packet is over.
    var nextDeadline: Instant? { order.nextDeadline }

    /// The block of the next receiver report; nil before anything has come.
    func reportBlock(at now: Instant) -> RTCPReportBlock? {
        guard let ssrc, statistics.hasReceived else { return nil }
        return statistics.makeReportBlock(ssrc: ssrc, at: now)
    }

    /// Records a sender report.
    func recordSenderReport(_ ntp: NTPTimestamp, at now: Instant) {
        statistics.receiveSenderReport(ntp: ntp, at: now)
    }
}
