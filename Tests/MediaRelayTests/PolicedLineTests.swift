import Congestion
import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// Viewers behind a line that polices its rate with a bucket, as nftables does with a bucket of a second.
@Suite struct PolicedLineTests {
    static let rate = Double(LimitedLineTests.rate)

    /// What a line's bucket holds, in seconds of its rate, and when in the four seconds between two key frames the line
    /// becomes slow.
    struct Shape {
        var bucket: Double
        var phase: Duration
    }

    static let shapes = [(0.1, 0), (0.5, 2_100), (1, 0), (1, 2_100), (2, 0)].map { bucket, phase in
        Shape(bucket: bucket, phase: .milliseconds(phase))
    }

    @Test(arguments: shapes) func theSmallerStreamComesSoonAndTheLineIsNotFlooded(shape: Shape) throws {
        var line = try PolicedLine(bucket: shape.bucket, hasSubstream: true, phase: shape.phase)
        try line.limit()
        try line.run(.seconds(3))
        let (begin, first) = (line.world.now, line.viewers[0].pictures.count)
        try line.run(.seconds(19))
        let empty = try #require(line.emptyAt)
        let smaller = try #require(line.switches.first)
        // A bucket of two seconds alone lasts for three.
        #expect(smaller.isSmaller && smaller.at < (shape.bucket > 1 ? empty + 1 : 3), "\(smaller.at) \(empty)")
        #expect(line.switches.count == 1, "\(line.switches)")
        // Probes fill the line now and then.
        let most = line.most(over: 10, from: empty + 2)
        #expect(most < 1.2, "\(most)")
        let share = line.share(until: 20)
        #expect(share < 1.2, "\(share)")
        if shape.bucket <= 1 {
            let made = line.world.camera.pictureTimes.count { $0 > begin }
            let seen = line.viewers[0].pictures.count - first
            #expect(Double(seen) >= Double(made) * 0.99, "\(seen) of \(made)")
        }
        try line.expectMainStream(after: .seconds(10))
    }

    @Test(arguments: shapes.filter { $0.phase == .zero }) func aLineWithoutASmallerStreamIsNotFloodedEither(
        shape: Shape
    ) throws {
        var line = try PolicedLine(bucket: shape.bucket, hasSubstream: false, phase: shape.phase)
        try line.limit()
        try line.run(.seconds(30))
        let empty = try #require(line.emptyAt)
        let most = line.most(over: 10, from: empty + 2)
        #expect(most < 1.2, "\(most)")
        let share = line.share(until: 20)
        #expect(share < 1.2, "\(share)")
        line.lift()
        try line.run(.seconds(10))
        #expect(try line.limited == 0)
    }

    @Test(arguments: [true, false]) func viewersBehindOnePolicedLineDoNotFloodIt(hasSubstream: Bool) throws {
        var line = try PolicedLine(bucket: 1, hasSubstream: hasSubstream, viewers: 3)
        try line.limit()
        try line.run(.seconds(40))
        let empty = try #require(line.emptyAt)
        let most = line.most(over: 10, from: empty + 2)
        #expect(most < 1.2, "\(most)")
        line.lift()
        try line.run(.seconds(12))
        #expect(try line.limited == 0)
    }

    /// A line without a queue takes what comes first, so the viewers take turns.
    @Test func tenViewersBehindOnePolicedLineAreTreatedAlike() throws {
        var (halves, fairness) = ([0.0, 0.0], 0.0)
        for seed in 1...3 as ClosedRange<UInt64> {
            var line = try PolicedLine(bucket: 1, hasSubstream: false, viewers: 10, seed: seed)
            try line.limit()
            try line.run(.seconds(3))
            let before = try line.viewers.map { try line.bits(of: $0) }
            try line.run(.seconds(27))
            let rates = try zip(line.viewers, before).map { (try line.bits(of: $0) - $1) / 27 }
            for (index, rate) in rates.enumerated() { halves[index / 5] += rate }
            let sum = rates.reduce(0, +)
            fairness += sum * sum / (10 * rates.reduce(0) { $0 + $1 * $1 }) / 3
            let share = line.share(until: 30)
            #expect(share < 1.2, "\(share)")
        }
        // Those that came first get what those that came last get.
        #expect(halves[0] / halves[1] > 0.75 && halves[0] / halves[1] < 1.33, "\(halves)")
        #expect(fairness > 0.86, "\(fairness)")
    }

    /// The later the line carries everything again, the more probes have failed before.
    @Test(arguments: [16.3, 27, 75, 121]) func theMainStreamIsBackWithinTenSeconds(limited: Double) throws {
        var line = try PolicedLine(bucket: 1, hasSubstream: true)
        try line.limit()
        try line.run(.seconds(limited))
        try line.expectMainStream(after: .seconds(10))
    }
}

/// A camera, and viewers behind one line that polices its rate.
struct PolicedLine {
    let world: RelayWorld
    let viewers: [SimulatedViewer]
    let rate: Double
    let bucket: Double
    /// What has been sent so far, in bits with headers, each tenth of a second from the limit on.
    private(set) var sent: [Double] = []
    private(set) var switches: [(at: Double, isSmaller: Bool)] = []
    private(set) var limitedAt = Instant.zero
    /// When the bucket was empty first, in seconds from the limit.
    private(set) var emptyAt: Double?

    init(bucket: Double, hasSubstream: Bool, phase: Duration = .zero, viewers count: Int = 1, seed: UInt64 = 31) throws
    {
        rate = PolicedLineTests.rate * Double(count)
        self.bucket = bucket
        world = try RelayWorld(seed: seed) {
            $0.frameSize = 16_500
            $0.keyFrameSize = 60_000
            $0.answersRequests = false
            if hasSubstream { $0.substream = (5_500, 20_000) }
        }
        world.run(.seconds(2))
        let world = world
        viewers = try (1...count).map { number in
            let viewer = try world.addViewer(number) {
                $0.transportFeedback = .milliseconds(100)
                $0.patience = .milliseconds(1_500)
                $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
                $0.assumedRoundTrip = .milliseconds(80)
            }
            #expect(world.connect(viewer))
            return viewer
        }
        world.run(.seconds(3) + phase)
    }

    mutating func limit() throws {
        var line = LinkConditions(latency: .milliseconds(10))
        line.bitsPerSecond = Int(rate)
        line.policedBurst = Int(rate / 8 * bucket) + 16_000
        line.sharesLine = true
        world.simulation.network.setConditions(line, from: world.host.addresses[0])
        limitedAt = world.now
        sent = [try bits()]
    }

    func lift() {
        world.simulation.network.setConditions(
            LinkConditions(latency: .milliseconds(10)), from: world.host.addresses[0])
    }

    /// Lifts the limit, and expects the main stream within some time, and that it stays.
    mutating func expectMainStream(after time: Duration) throws {
        lift()
        let lifted = world.now
        while try !hasMainStream, world.now - lifted < time { try run(.milliseconds(100)) }
        #expect(try hasMainStream)
        let count = switches.count
        let first = viewers[0].pictures.count
        try run(.seconds(10))
        #expect(switches.count == count && viewers[0].pictures.count - first >= 148)
    }

    private var hasMainStream: Bool {
        get throws { try viewers.allSatisfy { try world.relayed($0).egress[0].track.id == world.camera.video } }
    }

    /// How many viewers get less than everything.
    var limited: Int { get throws { try viewers.count { try world.relayed($0).line.isLimited } } }

    /// The most that was sent over so many seconds from a time on, as a share of what the line carries.
    func most(over seconds: Int, from begin: Double) -> Double {
        let first = Int((begin * 10).rounded(.up))
        let sums = (first..<max(first, sent.count - seconds * 10)).map { sent[$0 + seconds * 10] - sent[$0] }
        return (sums.max() ?? 0) / Double(seconds) / rate
    }

    /// What was sent from the limit on, as a share of what the line carries.
    func share(until seconds: Int) -> Double { (sent[seconds * 10] - sent[0]) / Double(seconds) / rate }

    private func bits() throws -> Double { try viewers.reduce(0) { $0 + (try bits(of: $1)) } }

    /// What has been sent to one viewer, in bits with headers.
    func bits(of viewer: SimulatedViewer) throws -> Double {
        let wire = try world.relayed(viewer).wire
        return Double(wire.bytes + wire.datagrams * UInt64(BandwidthEstimator.headerBytes)) * 8
    }

    /// Runs for some time, and does what signalling does when the relay wishes for another stream.
    mutating func run(_ duration: Duration) throws {
        let end = world.now + duration
        while world.now < end {
            world.run(.milliseconds(20))
            for viewer in viewers {
                for wish in viewer.notices.takeWishes() { try grant(wish, to: viewer) }
            }
            if emptyAt == nil, world.simulation.network.statistics.overflowed > 0 { emptyAt = elapsed }
            if Double(sent.count) <= elapsed * 10 { sent.append(try bits()) }
        }
    }

    private var elapsed: Double { (world.now - limitedAt).inSeconds }

    private mutating func grant(_ wish: StreamWish, to viewer: SimulatedViewer) throws {
        let (main, sub) = (world.camera.video, world.camera.subvideo)
        let shard = try world.shard(of: viewer)
        guard let track = shard.tracks[wish == .smaller ? sub : main] else { return }
        shard.move(
            try world.relayed(viewer), from: wish == .smaller ? main : sub, to: track,
            as: wish == .smaller ? .smaller : .larger, at: world.now)
        world.host.settle()
        switches.append((elapsed, wish == .smaller))
    }
}
