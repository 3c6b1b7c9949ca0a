import Congestion
import DatagramPort
import RTP
import Transport

/// The cost of estimating the bandwidth of one viewer's path.
public struct EstimatorMeasurement: Codable, Hashable, Sendable {
    /// What the path does to the packets.
    public enum Path: String, Codable, CaseIterable, Sendable {
        /// Everything arrives at once.
        case free
        /// One packet in five is lost.
        case lossy
        /// It carries three fifths of the stream and queues the rest, up to 200 ms.
        case narrow
    }

    /// The path.
    public var path: Path
    /// How many viewers were estimated in turn, so that their state does not stay in the cache.
    public var viewers: Int
    /// Processor microseconds for each viewer and second of the stream: logging what is sent, reading the feedback, and
    /// estimating.
    public var microsecondsPerViewerSecond: Double
    /// The same for each packet that was sent, in nanoseconds.
    public var nanosecondsPerPacket: Double
    /// Heap allocations for each viewer and second; nil in a build that cannot count them.
    public var allocationsPerViewerSecond: Double?
    /// The first viewer's limit at the end, in bits a second; nil for none.
    public var limit: Double?
}

/// Estimates the paths of many viewers of a stream with 30 frames of eight packets a second (2.4 Mbit/s), from messages
/// of transport-wide feedback every 50 ms, as a browser sends them. The messages are made and encoded outside of the
/// measured time, and read as the relay reads them.
public final class EstimatorBenchmark {
    private static let packetsPerFrame = 8
    private static let packetSize = 1_196
    private static let frame = Duration.microseconds(33_333)
    private static let demand = Double(8 * 30 * 8 * 1_224)

    private let path: EstimatorMeasurement.Path
    private var viewers: [EstimatedViewer]
    private var now = Instant.zero + .seconds(1)
    private var message = [UInt8](repeating: 0, count: 1_500)

    /// Makes `viewers` viewers, 1 to 1,000.
    public init(path: EstimatorMeasurement.Path, viewers: Int) {
        self.path = path
        self.viewers = (0..<min(max(viewers, 1), 1_000)).map { EstimatedViewer(path, seed: UInt64($0)) }
    }

    /// Measures ten seconds of the stream, after ten in which the estimates settle.
    public func measure() -> EstimatorMeasurement {
        for _ in 0..<300 { _ = frame() }
        var cost: Int64 = 0
        var allocations: UInt64? = 0
        let frames = 300
        for _ in 0..<frames {
            let (time, allocated) = frame()
            cost += time
            allocations = allocated.flatMap { new in allocations.map { $0 + new } }
        }
        let viewerSeconds = Double(viewers.count * frames) / 30
        let packets = Double(viewers.count * frames * Self.packetsPerFrame)
        return EstimatorMeasurement(
            path: path, viewers: viewers.count, microsecondsPerViewerSecond: Double(cost) / 1e3 / viewerSeconds,
            nanosecondsPerPacket: Double(cost) / packets,
            allocationsPerViewerSecond: allocations.map { Double($0) / viewerSeconds },
            limit: viewers.first?.estimator.limit(at: now))
    }

    /// Sends one frame to each viewer, and reads the feedback that is due.
    private func frame() -> (cost: Int64, allocations: UInt64?) {
        now += Self.frame
        var cost: Int64 = 0
        var allocations: UInt64? = 0
        func measured(_ body: () -> Void) {
            let allocated = HeapUse.allocations {
                let start = ProcessorClock.thread
                body()
                cost += ProcessorClock.thread - start
            }
            allocations = allocated.flatMap { new in allocations.map { $0 + new } }
        }
        measured {
            for index in viewers.indices { viewers[index].send(Self.packetsPerFrame, of: Self.packetSize, at: now) }
        }
        for index in viewers.indices {
            viewers[index].travel(Self.packetsPerFrame, of: Self.packetSize, at: now)
            let count = viewers[index].writeFeedback(into: &message, at: now)
            guard count > 0 else { continue }
            measured {
                message.withUnsafeBytes { bytes in
                    viewers[index].receive(
                        UnsafeRawBufferPointer(rebasing: bytes[..<count]), demand: Self.demand, at: now)
                }
            }
        }
        return (cost, allocations)
    }
}

/// One viewer: what the gateway keeps about it, and the path and the browser at its other end.
private struct EstimatedViewer {
    private(set) var estimator = BandwidthEstimator()
    private var log = SendLog()
    private var next: UInt16 = 0
    private var index: UInt64 = 0
    private var datagrams: UInt64 = 0
    private var bytes: UInt64 = 0

    private let path: EstimatorMeasurement.Path
    private var browser = TransportFeedbackGenerator()
    private var random: RandomSource
    private var travelled: UInt16 = 0
    /// When the narrow path has sent everything in its queue.
    private var queueEnd = Instant.zero
    /// Packets that are still in the queue are reported early, which does not change the cost.
    private var nextFeedback = Instant.zero

    init(_ path: EstimatorMeasurement.Path, seed: UInt64) {
        self.path = path
        random = .seeded(seed)
    }

    /// Logs one frame that leaves in one send.
    mutating func send(_ count: Int, of size: Int, at now: Instant) {
        log.add(
            SendLog.Run(kind: .picture, index: index, count: count, segmentSize: size, byteCount: count * size),
            from: next, at: now)
        next &+= UInt16(count)
        index += UInt64(count)
        datagrams += UInt64(count)
        bytes += UInt64(count * size)
        estimator.recordTime(at: now)
    }

    /// Carries the frame to the browser, except the packets that the path drops.
    mutating func travel(_ count: Int, of size: Int, at now: Instant) {
        for _ in 0..<count {
            defer { travelled &+= 1 }
            switch path {
            case .free: browser.receive(transportSequenceNumber: travelled, at: now + .milliseconds(5))
            case .lossy:
                guard random.next() % 5 != 0 else { continue }
                browser.receive(transportSequenceNumber: travelled, at: now + .milliseconds(5))
            case .narrow:
                let start = max(queueEnd, now)
                guard start - now < .milliseconds(200) else { continue }
                // Three fifths of 2.4 Mbit/s.
                queueEnd = start + .nanoseconds(Int64(size) * 8 * 1_000_000 / 1_440)
                browser.receive(transportSequenceNumber: travelled, at: queueEnd)
            }
        }
    }

    /// Writes the browser's report if one is due; returns its length, or 0.
    mutating func writeFeedback(into message: inout [UInt8], at now: Instant) -> Int {
        guard now >= nextFeedback else { return 0 }
        nextFeedback = now + .milliseconds(50)
        return message.withUnsafeMutableBytes { buffer in
            var writer = ByteWriter(buffer)
            return browser.writeFeedback(senderSSRC: 1, mediaSSRC: 2, into: &writer) ? writer.count : 0
        }
    }

    /// Reads a report as the relay does.
    mutating func receive(_ message: UnsafeRawBufferPointer, demand: Double, at now: Instant) {
        for packet in RTCPPackets(message) {
            guard case .transportFeedback(let report) = packet else { continue }
            for span in report.spans {
                switch span {
                case .arrived(let number, let arrival):
                    if let packet = log.takeArrival(of: number) { estimator.recordArrival(of: packet, at: arrival) }
                case .missing(let first, let count):
                    for number in log.takeMissing(from: first, count: count) {
                        if let packet = log.recordMissing(number) { estimator.recordMissing(packet) }
                    }
                }
            }
        }
        let traffic = BandwidthEstimator.Traffic(
            datagrams: datagrams, bytes: bytes, demand: demand, mayBegin: true)
        estimator.endFeedback(traffic, log, at: now)
        _ = estimator.limit(at: now)
    }
}
