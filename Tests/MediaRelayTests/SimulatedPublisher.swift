import NetworkSimulator
import PeerConnection
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// What a publisher's packets are in the end, in order.
final class CollectedPackets: PublisherSink, @unchecked Sendable {
    // Proof for @unchecked: the simulation, in which the relay runs as well, has one thread.
    /// What the packets go on to; nil if nobody watches.
    var camera: PublishedCamera?
    var video: [(number: UInt16, payload: [UInt8])] = []
    var sound = 0
    var reports = 0
    /// The tracks that were reported as silent, with the time of their last packet.
    var silences: [(track: Int, last: Instant)] = []

    func receive(_ packet: UnsafeRawBufferPointer, track: Int, at now: Instant) {
        guard let view = try? RTPPacketView(parsing: packet) else {
            Issue.record("what is handed on is not RTP")
            return
        }
        if track == 0 { video.append((view.sequenceNumber, Array(view.payload))) } else { sound += 1 }
        camera?.deliver(view, track: track, at: now)
    }

    func receiveNothing(track: Int, since last: Instant, at now: Instant) { silences.append((track, last)) }

    func receiveSenderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant) { reports += 1 }

    /// Whether every number follows the one before.
    var isWhole: Bool { zip(video, video.dropFirst()).allSatisfy { $1.number == $0.number &+ 1 } }
    /// The numbers of the pictures, in the order of arrival; -1 for one that is damaged.
    var numbers: [Int] { video.map { FrameContent.number(of: Array($0.payload.dropFirst())) ?? -1 } }
}

/// A publisher at the other end of the simulated network: 100 video packets and 50 of sound a second. Each video packet
/// is a VP8 picture.
final class SimulatedPublisher: RelayedPeer {
    static let videoSSRC: UInt32 = 500
    static let retransmissionSSRC: UInt32 = 501
    static let audioSSRC: UInt32 = 502
    /// A key frame comes each so many pictures, and when one is asked for.
    private static let keyFrameInterval = 100

    /// What the relay has made of its packets.
    let packets = CollectedPackets()
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
    private(set) var soundIndex: UInt64 = 0
    private var videoIndex: UInt64 = 65_400
    private var retransmissionIndex: UInt64 = 1
    private var transportSequence: UInt16 = 65_000
    private var history: [UInt16: [UInt8]] = [:]
    private var nextPacket: Instant?
    private var needsKeyFrame = false

    override var ownDeadline: Instant? { nextPacket }

    override func work(_ events: [PeerConnection.Event], at now: Instant) {
        if events.contains(.connected) { nextPacket = now }
        guard let due = nextPacket, due <= now else { return }
        nextPacket = due + .milliseconds(10)
        guard isSending else { return }
        sendVideo()
        if sent.isMultiple(of: 2) { sendSound() }
    }

    private func sendVideo() {
        let isKeyFrame = needsKeyFrame || sent.isMultiple(of: Self.keyFrameInterval)
        needsKeyFrame = false
        let payload = [0x10] + FrameContent.make(number: sent, isKeyFrame: isKeyFrame, size: 606)
        history[UInt16(truncatingIfNeeded: videoIndex)] = payload
        send(payload, payloadType: 96, ssrc: videoSource, index: videoIndex, marker: true)
        videoIndex += 1
        sent += 1
    }

    private func sendSound() {
        // The number is where a ``SimulatedViewer`` looks for it.
        let payload = [1, 2, 3, 4] + withUnsafeBytes(of: UInt32(soundIndex).littleEndian) { Array($0) }
        send(payload, payloadType: 111, ssrc: Self.audioSSRC, index: soundIndex, marker: false)
        soundIndex += 1
    }

    func send(_ payload: [UInt8], payloadType: UInt8, ssrc: UInt32, index: UInt64, marker: Bool) {
        let template = RTPHeaderTemplate(
            payloadType: payloadType, ssrc: ssrc, extensions: .init(transportSequenceNumber: 3))
        let sequence = transportSequence
        transportSequence &+= 1
        send(payload, index: index) { bytes in
            template.write(
                marker: marker, sequenceNumber: UInt16(truncatingIfNeeded: index),
                timestamp: UInt32(truncatingIfNeeded: index &* 900), transportSequenceNumber: sequence, into: bytes)
        }
    }

    func sendReport(_ report: RTCPSenderReport) { send { $0.writeSenderReport(report) } }

    func sayGoodbye(_ ssrcs: [UInt32]) {
        send {
            $0.writeReceiverReport(ssrc: ssrcs.first ?? 0)
            $0.writeGoodbye(ssrcs: ssrcs)
        }
    }

    override func receiveRTCP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .receiverReport(_, let blocks): reportBlocks += blocks
            case .pictureLossIndication(_, let ssrc):
                #expect(ssrc == videoSource)
                keyFrameRequests.append(now)
                needsKeyFrame = true
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
