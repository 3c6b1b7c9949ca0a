import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// What the relay reported about a viewer.
final class Notices: Sendable {
    private let events = Locked<[SessionEvent]>([])
    private let wishes = Locked<[StreamWish]>([])

    var all: [SessionEvent] { events.withLock { $0 } }

    /// The wishes for another stream since the last call.
    func takeWishes() -> [StreamWish] {
        wishes.withLock { wishes in
            defer { wishes = [] }
            return wishes
        }
    }

    func add(_ event: SessionEvent) {
        if case .streamWanted(let wish) = event { return wishes.withLock { $0.append(wish) } }
        events.withLock { $0.append(event) }
    }
}

/// A player at the other end of the simulated network.
final class SimulatedViewer: RelayedPeer {
    struct Shape {
        var asksAgain = true
        /// Whether retransmissions come in a stream of their own.
        var hasRetransmissionStream = true
        var hasTransportSequence = true
        /// Whether it has agreed on the playout delay (``RelayWorld/playoutDelayExtension``).
        var hasPlayoutDelay = false
        var hasSound = true
        /// The loss in its reports, instead of the measured one.
        var reportedLoss: UInt8?
        var reportInterval = Duration.seconds(1)
        /// How long a packet waits for those before it.
        var patience = Duration.milliseconds(400)
        /// How long, and how often, a missing packet is asked for.
        var nacks = NackGenerator.Configuration()
        /// How often it reports which packets of the transport have arrived; nil for never.
        var transportFeedback: Duration?
        /// The time between two requests for one packet is a quarter longer than this.
        var assumedRoundTrip = Duration.milliseconds(50)
    }

    struct Picture {
        var at: Instant
        var number: Int
        var isKeyFrame: Bool
        var timestamp: UInt32
    }

    let videoSSRC: UInt32
    var retransmissionSSRC: UInt32 { videoSSRC + 1 }
    var audioSSRC: UInt32 { videoSSRC + 2 }
    var shape: Shape
    /// Whether media is lost between the connection and the player, as in a browser that is not ready yet.
    var isDeaf = false

    private(set) var pictures: [Picture] = []
    /// Frames that came whole and with a wrong byte.
    private(set) var brokenFrames = 0
    /// The numbers of the video packets on the way, unwrapped, without retransmissions.
    private(set) var videoSequence: [Int64] = []
    private(set) var videoArrivals: [Instant] = []
    private(set) var videoTimestamps: [UInt32] = []
    private(set) var sounds: [(number: Int, timestamp: UInt32, at: Instant)] = []
    private(set) var retransmissions = 0
    private(set) var reports: [UInt32: RTCPSenderReport] = [:]
    private(set) var reportBlocks: [RTCPReportBlock] = []
    private(set) var goodbyes: [UInt32] = []
    /// What the last goodbye said.
    private(set) var goodbyeReason: String?
    private var assembler: FrameAssembler
    private var nacks: NackGenerator
    private var requests: [UInt16] = []
    private var unwrapper = SequenceUnwrapper()
    private var statistics = ReceptionStatistics(clockRate: 90_000)
    private var nextReport: Instant?
    private var transportFeedback: TransportFeedbackGenerator?
    private var microphoneIndex: UInt64 = 100

    init(
        _ configuration: PeerConnectionConfiguration, name: String, ssrc: UInt32, seed: UInt64, shape: Shape,
        now: Instant
    ) throws {
        videoSSRC = ssrc
        self.shape = shape
        assembler = FrameAssembler(format: .vp8, maximumDelay: shape.patience)
        nacks = NackGenerator(configuration: shape.nacks)
        nacks.roundTripTime = shape.assumedRoundTrip
        transportFeedback = shape.transportFeedback.map { TransportFeedbackGenerator(interval: $0) }
        try super.init(configuration, name: name, seed: seed, now: now)
    }

    var counters: FrameAssembler.Counters { assembler.counters }
    var numbers: [Int] { pictures.map(\.number) }
    /// Whether the packets came one after the other without gap or repetition.
    var hasContinuousSequence: Bool {
        zip(videoSequence, videoSequence.dropFirst()).allSatisfy { $1 == $0 + 1 }
    }

    override var ownDeadline: Instant? {
        [
            nextReport, transportFeedback?.nextDeadline, assembler.nextDeadline,
            shape.asksAgain ? nacks.nextDeadline : nil,
        ]
        .compactMap { $0 }.min()
    }

    override func work(_ events: [PeerConnection.Event], at now: Instant) {
        if events.contains(.connected) { nextReport = now + shape.reportInterval }
        if connection.nextDeadline == nil { nextReport = nil }
        while let frame = assembler.nextFrame(at: now) {
            guard let number = FrameContent.number(of: frame.data) else {
                brokenFrames += 1
                continue
            }
            pictures.append(
                Picture(at: now, number: number, isKeyFrame: frame.isKeyFrame, timestamp: frame.timestamp))
        }
        sendFeedback(at: now)
    }

    // MARK: - What comes

    override func receiveRTP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        if isDeaf { return }
        guard let packet = try? RTPPacketView(parsing: bytes) else {
            Issue.record("\(name) got a packet that is not RTP")
            return
        }
        if let value = packet.headerExtension(3), let number = HeaderExtensionValue.transportSequenceNumber(value) {
            transportFeedback?.receive(transportSequenceNumber: number, at: now)
        }
        switch packet.ssrc {
        case videoSSRC:
            if nacks.receive(sequenceNumber: packet.sequenceNumber, at: now) == .recovered(requests: 1) {
                retransmissions += 1
            }
            let number = unwrapper.unwrap(packet.sequenceNumber)
            videoSequence.append(number)
            videoArrivals.append(now)
            videoTimestamps.append(packet.timestamp)
            statistics.receive(
                sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
                payloadLength: packet.payload.count, at: now)
            assembler.insert(
                sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                payload: packet.payload, at: now)
        case retransmissionSSRC:
            guard let original = Retransmission.parse(payload: packet.payload) else { return }
            retransmissions += 1
            _ = nacks.receive(sequenceNumber: original.originalSequenceNumber, at: now)
            assembler.insert(
                sequenceNumber: original.originalSequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                payload: original.payload, at: now)
        case audioSSRC:
            let number = packet.payload.dropFirst(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            sounds.append((number, packet.timestamp, now))
        default:
            Issue.record("\(name) got a packet of a source that nobody named")
        }
    }

    override func receiveRTCP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, let blocks):
                reports[report.ssrc] = report
                reportBlocks += blocks
                // The pictures' sender reports give the round-trip time.
                if report.ssrc == videoSSRC { statistics.receiveSenderReport(ntp: report.ntp, at: now) }
            case .receiverReport(_, let blocks): reportBlocks += blocks
            case .goodbye(let goodbye):
                goodbyes += goodbye
                goodbyeReason = goodbye.reason
            default: break
            }
        }
    }

    // MARK: - What goes

    private func sendFeedback(at now: Instant) {
        guard isConnected else { return }
        if shape.asksAgain {
            nacks.takeRequests(at: now, into: &requests)
            if !requests.isEmpty { askAgain(for: requests) }
        }
        if assembler.takeKeyFrameRequest(at: now) { askForKeyFrame() }
        if let due = transportFeedback?.nextDeadline, due <= now { sendTransportFeedback() }
        guard let due = nextReport, due <= now else { return }
        nextReport = now + shape.reportInterval
        guard statistics.hasReceived else { return }
        var block = statistics.makeReportBlock(ssrc: videoSSRC, at: now)
        if let loss = shape.reportedLoss { block.fractionLost = loss }
        send { $0.writeReceiverReport(ssrc: 9, blocks: [block]) }
    }

    private func sendTransportFeedback() {
        var isMore = true
        while isMore {
            let ssrc = videoSSRC
            send { isMore = transportFeedback?.writeFeedback(senderSSRC: 9, mediaSSRC: ssrc, into: &$0) ?? false }
        }
    }

    /// The number of the newest packet that came.
    var newestNumber: UInt16? { videoSequence.last.map { UInt16(truncatingIfNeeded: $0) } }

    func askAgain(for numbers: [UInt16]) {
        let ssrc = videoSSRC
        send { $0.writeNack(senderSSRC: 9, mediaSSRC: ssrc, sequenceNumbers: numbers) }
    }

    func askForKeyFrame() {
        let ssrc = videoSSRC
        send { $0.writePictureLossIndication(senderSSRC: 9, mediaSSRC: ssrc) }
    }

    /// Sends a packet of the microphone; `padding` makes it one without payload.
    func speak(_ payload: [UInt8], payloadType: UInt8 = 111, padding: Bool = false) {
        let index = microphoneIndex
        microphoneIndex += 1
        send(payload, index: index) { bytes in
            let header = RTPHeaderTemplate(payloadType: payloadType, ssrc: 4711).write(
                marker: false, sequenceNumber: UInt16(truncatingIfNeeded: index),
                timestamp: UInt32(truncatingIfNeeded: index * 960), into: bytes)
            if padding { bytes[0] |= 0x20 }
            return header
        }
    }
}
