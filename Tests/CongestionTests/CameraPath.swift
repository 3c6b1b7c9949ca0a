import Congestion
import Transport

/// A camera, a path and a player in virtual time, as the estimator sees them: frames leave at once or as the limit says, and
/// feedback comes each 100 ms.
struct CameraPath {
    /// What the path does.
    struct Line {
        var bitsPerSecond: Double?
        /// How long a packet may wait; nil for a line that polices its rate, with a bucket of ``bucket`` bytes.
        var queue: Duration? = .milliseconds(200)
        var bucket = 16_000.0
        var loss = 0.0
        var lossBack = 0.0
        var latency = Duration.milliseconds(20)
        /// The share of packets that are held back for ``reorderingDelay``.
        var reordering = 0.0
        var reorderingDelay = Duration.milliseconds(100)
        var jitter = Duration.zero
        /// Nothing passes for this long, once in each `outageInterval`.
        var outage = Duration.zero
        var outageInterval = Duration.seconds(2)
    }

    /// What the camera sends.
    struct Camera {
        var framesPerSecond = 15
        var frameBytes = 16_500
        var keyFrameBytes = 60_000
        var keyFrameInterval = 60
        var hasSound = true

        /// The mean rate with all headers.
        var bitsPerSecond: Double {
            let bytes = Double(frameBytes * (keyFrameInterval - 1) + keyFrameBytes) / Double(keyFrameInterval)
            return bytes * 8 * 1.06 * Double(framesPerSecond) + (hasSound ? 60_000 : 0)
        }
    }

    /// One second of the run.
    struct Second {
        /// The limit at its end; nil for none.
        var limit: Double?
        /// Bits that were sent, that the line carried, and that it would have carried.
        var sent = 0.0
        var carried = 0.0
        var queueDelay = 0.0
    }

    var line = Line()
    var camera = Camera()
    var estimator = BandwidthEstimator()
    /// Whether the path is probed, and for which rate besides the camera's.
    var probes = false
    var larger: Double?
    /// When the path was first seen to carry it, in seconds from the start.
    var provenAt: Double?
    private(set) var seconds: [Second] = [Second()]
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    /// When the limit began and ended, in seconds from the start.
    private(set) var changes: [(at: Double, isLimited: Bool)] = []

    private var random: RandomSource
    private var log = SendLog()
    private var number: UInt16 = 65_000
    private var total: (datagrams: UInt64, bytes: UInt64) = (0, 0)
    private let start = Instant(nanoseconds: 1_000_000_000_000)
    private var frame = 0
    private var nextFrame: Instant
    private var nextSound: Instant
    private var nextFeedback: Instant
    private var waiting: [(bytes: Int, at: Instant)] = []
    private var credit = 0.0
    private var busyUntil = Instant.zero
    private var tokens = 0.0
    private var tokensAt = Instant.zero
    private var newestArrival = Instant.zero
    private var arrivals: [(number: UInt64, at: Instant)] = []
    private var resends: [(bytes: Int, at: Instant, until: Instant)] = []
    /// What may be sent again while there is no limit.
    private var resendCredit = 0.0
    private var reported: UInt64?
    private var counter: UInt64 = 65_000
    /// The place of each picture's packets in their frame.
    private var places: [UInt64: (frame: UInt64, position: Int, count: Int)] = [:]

    init(seed: UInt64, line: Line = Line(), camera: Camera = Camera()) {
        random = .seeded(seed)
        self.line = line
        self.camera = camera
        (nextFrame, nextSound, nextFeedback) = (now, now, now)
    }

    /// Runs for some time, in steps of a millisecond.
    mutating func run(_ duration: Duration) {
        let end = now + duration
        while now < end {
            step()
            now += .milliseconds(1)
        }
    }

    var elapsed: Double { (now - start).inSeconds }

    private mutating func step() {
        if Int(elapsed) >= seconds.count { seconds.append(Second()) }
        if camera.hasSound, nextSound <= now {
            nextSound += .milliseconds(20)
            send([110], .sound)
        }
        let limit = estimator.limit(at: now)
        if let limit {
            credit = min(credit + limit / 8_000, max(limit / 8 * 0.03, 2_400))
            while let resend = resends.first, resend.at <= now, credit > -limit / 8 * 0.3 {
                resends.removeFirst()
                credit -= Double(resend.bytes + 28)
                send([resend.bytes], .retransmission, until: resend.until)
            }
        } else {
            while let resend = resends.first, resend.at <= now {
                resends.removeFirst()
                guard resendCredit > 0 else { continue }
                resendCredit -= Double(resend.bytes)
                send([resend.bytes], .retransmission, until: resend.until)
            }
        }
        if nextFrame <= now { makeFrame() }
        while let packet = waiting.first, limit == nil || credit > 0 {
            // Whole pictures up to the next key frame are left out.
            if now - packet.at > .milliseconds(1_000) {
                waiting.removeAll { $0.at <= packet.at + .milliseconds(500) }
                continue
            }
            waiting.removeFirst()
            credit -= Double(packet.bytes + 28)
            send([packet.bytes], .picture)
        }
        if nextFeedback <= now {
            nextFeedback += .milliseconds(100)
            report()
        }
        if probes {
            estimator.chooseProbe(larger: larger, at: now)
            var due = estimator.probeBytes(traffic, next: log.next, at: now)
            while due > 0 {
                due -= 1_228
                send([1_200], .probe)
            }
            if let larger, provenAt == nil, estimator.hasProven(larger, at: now) { provenAt = elapsed }
        }
        let isLimited = estimator.limit(at: now) != nil
        if isLimited != (changes.last?.isLimited ?? false) { changes.append((elapsed, isLimited)) }
        seconds[seconds.count - 1].limit = estimator.limit(at: now)
        seconds[seconds.count - 1].queueDelay = estimator.queueDelay
    }

    private mutating func makeFrame() {
        let size = frame % camera.keyFrameInterval == 0 ? camera.keyFrameBytes : camera.frameBytes
        frame += 1
        nextFrame += .nanoseconds(1_000_000_000 / Int64(camera.framesPerSecond))
        let count = (size + 1_179) / 1_180
        let sizes = (0..<count).map { $0 < count - 1 ? 1_200 : size - 1_180 * (count - 1) + 20 }
        if estimator.limit(at: now) == nil, waiting.isEmpty {
            var position = 0
            while position < count {
                let run = Array(sizes[position..<min(position + 32, count)])
                for offset in run.indices {
                    places[counter + UInt64(offset)] = (UInt64(frame), position + offset, count)
                }
                send(run, .picture)
                position += 32
            }
        } else {
            waiting += sizes.map { ($0, now) }
        }
    }

    private mutating func send(_ sizes: [Int], _ kind: SendLog.Kind, until: Instant? = nil) {
        let bytes = sizes.reduce(0, +)
        if kind == .picture { resendCredit = min(resendCredit + Double(bytes) / 2, 140_000) }
        log.add(
            SendLog.Run(kind: kind, index: nil, count: sizes.count, segmentSize: sizes[0], byteCount: bytes),
            from: number, at: now)
        total.datagrams += UInt64(sizes.count)
        total.bytes += UInt64(bytes)
        for size in sizes {
            let bits = Double((size + 28) * 8)
            seconds[seconds.count - 1].sent += bits
            if let arrival = arrival(of: bits) {
                seconds[seconds.count - 1].carried += bits
                arrivals.append((counter, arrival))
            } else if kind != .sound, kind != .probe, case let at = now + line.latency * 2 + .milliseconds(30),
                at <= until ?? .distantFuture
            {
                resends.append((size, at, until ?? now + .seconds(1)))
            }
            number &+= 1
            counter += 1
        }
    }

    private mutating func arrival(of bits: Double) -> Instant? {
        if line.outage > .zero {
            let phase = (now - start).wholeNanoseconds % line.outageInterval.wholeNanoseconds
            if phase < line.outage.wholeNanoseconds { return nil }
        }
        var departure = now
        if let rate = line.bitsPerSecond {
            if let queue = line.queue {
                let begin = max(now, busyUntil)
                guard begin - now <= queue else { return nil }
                departure = begin + .seconds(bits / rate)
                busyUntil = departure
            } else {
                tokens = min(tokens + (now - tokensAt).inSeconds * rate, line.bucket * 8)
                tokensAt = now
                guard tokens >= bits else { return nil }
                tokens -= bits
            }
        }
        guard !chance(line.loss) else { return nil }
        var arrival = departure + line.latency
        if line.jitter > .zero {
            arrival += .nanoseconds(Int64.random(in: 0...line.jitter.wholeNanoseconds, using: &random))
        }
        if chance(line.reordering) { return arrival + line.reorderingDelay }
        newestArrival = max(newestArrival, arrival)
        return newestArrival
    }

    /// The player reports on everything up to the newest packet that has arrived.
    private mutating func report() {
        arrivals.sort { $0.at < $1.at }
        let come = arrivals.prefix { $0.at + line.latency <= now }
        guard let newest = come.map(\.number).max(), let oldest = come.map(\.number).min() else { return }
        let begin = min(reported ?? oldest, oldest)
        arrivals.removeFirst(come.count)
        reported = newest + 1
        if chance(line.lossBack) { return }
        let byNumber = Dictionary(come.map { ($0.number, $0.at) }, uniquingKeysWith: { first, _ in first })
        for number in begin..<newest + 1 {
            let wire = UInt16(truncatingIfNeeded: number)
            if let at = byNumber[number] {
                if let packet = log.takeArrival(of: wire) {
                    estimator.recordArrival(of: packet, at: (at.nanoseconds - 999_000_000_000) / 250_000)
                }
            } else {
                for missing in log.takeMissing(from: wire, count: 1) {
                    guard let packet = log.recordMissing(missing) else { continue }
                    estimator.recordMissing(packet)
                    if let place = places[missing] {
                        estimator.recordMissing(frame: place.frame, position: place.position, of: place.count)
                    }
                }
            }
        }
        estimator.endFeedback(traffic, log, at: now)
    }

    private var traffic: BandwidthEstimator.Traffic {
        BandwidthEstimator.Traffic(
            datagrams: total.datagrams, bytes: total.bytes, demand: camera.bitsPerSecond, mayBegin: true)
    }

    private mutating func chance(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &random) < share
    }
}
