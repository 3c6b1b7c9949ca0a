import NetworkSimulator
import PeerConnection
import RTP
import Testing
import Transport

@testable import MediaRelay

/// What a publisher's packets are in the end, in order.
final class CollectedPackets: PublisherSink, @unchecked Sendable {
    // Proof for @unchecked: the simulation, in which the relay runs as well, has one thread.
    var video: [(number: UInt16, payload: [UInt8])] = []
    var sound = 0
    var reports = 0
    /// The tracks that were reported as silent, with the time of their last packet.
    var silences: [(track: Int, last: Instant)] = []

    func receive(_ packet: UnsafeRawBufferPointer, track: Int, at now: Instant) {
        guard let view = try? RTPPacketView(parsing: packet) else {
            Issue.record("what is handed on is no RTP")
            return
        }
        if track == 0 { video.append((view.sequenceNumber, Array(view.payload))) } else { sound += 1 }
    }

    func receiveNothing(track: Int, since last: Instant, at now: Instant) { silences.append((track, last)) }

    func receiveSenderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant) { reports += 1 }

    /// Whether every number follows the one before.
    var isWhole: Bool { zip(video, video.dropFirst()).allSatisfy { $1.number == $0.number &+ 1 } }
    /// What the test wrote into the payloads, in the order of arrival.
    var numbers: [Int] { video.map { $0.payload.dropFirst(3).prefix(4).reduce(0) { $0 << 8 | Int($1) } } }
}

/// A publisher at the other end of the simulated network: 100 video packets and 50 of sound a second.
final class SimulatedPublisher: SimulatedEndpoint {
    static let videoSSRC: UInt32 = 500
    static let retransmissionSSRC: UInt32 = 501
    static let audioSSRC: UInt32 = 502

    let addresses: [TransportAddress]
    var connection: PeerConnection
    var hasVanished = false
    var isSending = true
    /// A new source numbers its packets from a new start.
    var videoSource = videoSSRC {
        didSet { videoIndex = 100 }
    }
    /// Whether it sends what it is asked for again.
    var retransmits = true
    private(set) var keyFrameRequests: [Instant] = []
    private(set) var requestedPackets = 0
    private(set) var reportBlocks: [RTCPReportBlock] = []
    private(set) var arrivals = (received: 0, lost: 0)
    private(set) var estimates: [UInt64] = []
    private(set) var sent = 0
    private var soundIndex: UInt64 = 0
    private var videoIndex: UInt64 = 65_400
    private var retransmissionIndex: UInt64 = 1
    private var transportSequence: UInt16 = 65_000
    private var history: [UInt16: [UInt8]] = [:]
    private var nextPacket: Instant?
    private var outbox: [[UInt8]] = []

    init(_ configuration: PeerConnectionConfiguration, seed: UInt64, now: Instant) throws {
        connection = try PeerConnection(configuration: configuration, random: .seeded(seed), now: now)
        addresses = configuration.hostAddresses
    }

    func receive(_ datagram: SimulatedDatagram) {
        guard !hasVanished else { return }
        var bytes = datagram.bytes
        bytes.withUnsafeMutableBytes { buffer in
            let received = connection.handle(
                buffer, from: datagram.source, to: datagram.destination, at: datagram.arrival)
            if case .rtcp(let count) = received {
                receiveRTCP(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: datagram.arrival)
            }
        }
        work(at: datagram.arrival)
    }

    func nextDeadline() -> Instant? {
        hasVanished ? nil : [connection.nextDeadline, nextPacket].compactMap { $0 }.min()
    }

    func handleTimeout(at now: Instant) {
        connection.handleDeadline(at: now)
        work(at: now)
    }

    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        guard !hasVanished else { return nil }
        if let transmit = connection.pollTransmit(into: buffer, at: now) { return (transmit, addresses[0]) }
        guard let destination = connection.remoteAddress, !outbox.isEmpty else { return nil }
        let bytes = outbox.removeFirst()
        buffer.copyBytes(from: bytes)
        return (Transmit(destination: destination, byteCount: bytes.count), addresses[0])
    }

    private func work(at now: Instant) {
        while let event = connection.pollEvent() {
            if event == .connected { nextPacket = now }
        }
        guard let due = nextPacket, due <= now else { return }
        nextPacket = due + .milliseconds(10)
        guard isSending else { return }
        sendVideo()
        if sent.isMultiple(of: 2) { sendSound() }
    }

    private func sendVideo() {
        let payload =
            [0x10, 0x11, 0] + withUnsafeBytes(of: UInt32(sent).bigEndian) { Array($0) }
            + [UInt8](repeating: 7, count: 600)
        history[UInt16(truncatingIfNeeded: videoIndex)] = payload
        send(payload, payloadType: 96, ssrc: videoSource, index: videoIndex, marker: true)
        videoIndex += 1
        sent += 1
    }

    private func sendSound() {
        send([1, 2, 3], payloadType: 111, ssrc: Self.audioSSRC, index: soundIndex, marker: false)
        soundIndex += 1
    }

    func send(_ payload: [UInt8], payloadType: UInt8, ssrc: UInt32, index: UInt64, marker: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1500)
        let template = RTPHeaderTemplate(
            payloadType: payloadType, ssrc: ssrc, extensions: .init(transportSequenceNumber: 3))
        let count = buffer.withUnsafeMutableBytes { bytes -> Int in
            let header = template.write(
                marker: marker, sequenceNumber: UInt16(truncatingIfNeeded: index),
                timestamp: UInt32(truncatingIfNeeded: index &* 900), transportSequenceNumber: transportSequence,
                into: bytes)
            transportSequence &+= 1
            return payload.withUnsafeBytes {
                connection.protectRTP(headerLength: header, payload: $0, output: bytes, index: index)
            }
        }
        if count > 0 { outbox.append(Array(buffer[..<count])) }
    }

    func sendReport(_ report: RTCPSenderReport) { sendRTCP { $0.writeSenderReport(report) } }

    func sayGoodbye(_ ssrcs: [UInt32]) {
        sendRTCP {
            $0.writeReceiverReport(ssrc: ssrcs.first ?? 0)
            $0.writeGoodbye(ssrcs: ssrcs)
        }
    }

    private func sendRTCP(_ write: (inout ByteWriter) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1500)
        let count = buffer.withUnsafeMutableBytes { bytes -> Int in
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: bytes[..<1400]))
            write(&writer)
            return connection.protectRTCP(bytes, byteCount: writer.count)
        }
        if count > 0 { outbox.append(Array(buffer[..<count])) }
    }

    private func receiveRTCP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .receiverReport(_, let blocks): reportBlocks += blocks
            case .pictureLossIndication(_, let ssrc):
                #expect(ssrc == videoSource)
                keyFrameRequests.append(now)
            case .nack(let nack):
                for number in nack {
                    requestedPackets += 1
                    guard retransmits, let payload = history[number] else { continue }
                    send(
                        [UInt8(number >> 8), UInt8(number & 0xFF)] + payload, payloadType: 97,
                        ssrc: Self.retransmissionSSRC, index: retransmissionIndex, marker: true)
                    retransmissionIndex += 1
                }
            case .transportFeedback(let report):
                for status in report {
                    if status.arrival == nil { arrivals.lost += 1 } else { arrivals.received += 1 }
                }
            case .receiverEstimatedMaximumBitrate(let estimate): estimates.append(estimate.bitsPerSecond)
            default: break
            }
        }
    }
}
