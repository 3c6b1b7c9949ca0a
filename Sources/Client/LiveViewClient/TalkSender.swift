import DatagramPort
import PeerConnection
import RTP
import SDP
import Transport

/// Sends prepared Opus packets to the camera, one every 20 ms.
struct TalkSender {
    static let interval = Duration.milliseconds(20)
    static let ticks: UInt32 = 960

    let ssrc: UInt32
    let payloadType: UInt8
    private var packets: [[UInt8]] = []
    private var position = 0
    private(set) var next: Instant?
    private(set) var index: UInt64
    private(set) var timestamp: UInt32

    init(media: NegotiatedMedia) {
        ssrc = media.ssrc
        // The packets are Opus, whatever the camera's own sound is: the answer names every codec that the gateway
        // accepts.
        payloadType = media.receivePayloadTypes.first { $0.value.isNamed("opus") }?.key ?? media.payloadType
        var random = RandomSource.system
        index = random.next() & 0x7FFF
        timestamp = UInt32(truncatingIfNeeded: random.next())
    }

    mutating func start(_ packets: [[UInt8]], at now: Instant) {
        self.packets = packets
        position = 0
        next = packets.isEmpty ? nil : now
    }

    /// The next packet that is due, with its index and timestamp.
    mutating func take(at now: Instant) -> (payload: [UInt8], index: UInt64, timestamp: UInt32, isFirst: Bool)? {
        guard let due = next, due <= now, position < packets.count else { return nil }
        defer {
            position += 1
            index += 1
            timestamp &+= Self.ticks
            next = position < packets.count ? due + Self.interval : nil
        }
        return (packets[position], index, timestamp, position == 0)
    }
}

extension ViewingSession {
    func startTalking(_ packets: [[UInt8]], at now: Instant) {
        talk?.start(packets, at: now)
    }

    func sendTalk(scratch: UnsafeMutableRawBufferPointer, at now: Instant) {
        guard let destination = peer.remoteAddress else { return }
        while let packet = talk?.take(at: now), let talk {
            var header = ByteWriter(scratch)
            header.write(UInt8(0x80))
            header.write(talk.payloadType | (packet.isFirst ? 0x80 : 0))
            header.write(UInt16(truncatingIfNeeded: packet.index))
            header.write(packet.timestamp)
            header.write(talk.ssrc)
            let count = packet.payload.withUnsafeBytes { payload in
                peer.protectRTP(headerLength: 12, payload: payload, output: scratch, index: packet.index)
            }
            guard count > 0 else { continue }
            port.send(
                UnsafeRawBufferPointer(rebasing: scratch[..<count]),
                transmit: Transmit(destination: destination, byteCount: count), from: peer.localAddress)
        }
    }
}
