import Testing
import Transport

@testable import Congestion

/// What the estimator concludes on paths of all kinds, in virtual time.
@Suite struct BandwidthEstimatorTests {
    /// A camera of 2.2 Mbit/s, and one with small frames and no sound.
    static let cameras = [
        CameraPath.Camera(),
        CameraPath.Camera(
            framesPerSecond: 30, frameBytes: 8_000, keyFrameBytes: 40_000, keyFrameInterval: 120, hasSound: false),
    ]

    // MARK: What must not lower the rate

    private func expectNoLimit(_ line: CameraPath.Line, seconds: Int = 40) {
        for (index, camera) in Self.cameras.enumerated() {
            for seed in 1...2 as ClosedRange<UInt64> {
                var path = CameraPath(seed: seed &* 100 &+ UInt64(index), line: line, camera: camera)
                path.probes = true
                path.run(.seconds(seconds))
                #expect(path.changes.isEmpty, "camera \(index), seed \(seed): \(path.changes)")
            }
        }
    }

    @Test(arguments: [0, 0.01, 0.05, 0.1, 0.2]) func randomLossBothWaysIsNoReasonToSendLess(loss: Double) {
        expectNoLimit(CameraPath.Line(loss: loss, lossBack: loss))
    }

    @Test func reorderingAndBurstsAreNoReasonToSendLess() {
        var line = CameraPath.Line()
        line.reordering = 0.1
        expectNoLimit(line)
        line = CameraPath.Line()
        line.outage = .milliseconds(200)
        expectNoLimit(line)
        line.outage = .milliseconds(30)
        line.outageInterval = .milliseconds(500)
        expectNoLimit(line)
    }

    /// Each key frame makes a queue for a while.
    @Test(arguments: [1.3, 2, 4]) func aLineWithRoomForTheStreamHasNoLimit(room: Double) {
        for camera in Self.cameras {
            for queue in [50, 200, 400] as [Int64] {
                var line = CameraPath.Line()
                line.bitsPerSecond = camera.bitsPerSecond * room
                line.queue = .milliseconds(queue)
                var path = CameraPath(seed: 5, line: line, camera: camera)
                path.run(.seconds(60))
                #expect(path.changes.isEmpty, "\(queue) ms: \(path.changes)")
            }
        }
    }

    /// The route changes for good: the way is longer, and as wide as before.
    @Test(arguments: [25, 60, 100, 200] as [Int64], [nil, 1.5, 4] as [Double?])
    func aLongerWayIsNotTakenForAQueue(step: Int64, room: Double?) {
        for (index, camera) in Self.cameras.enumerated() {
            for phase in [0, 700, 2_300] as [Int64] {
                var path = CameraPath(seed: 7 &+ UInt64(index), camera: camera)
                path.line.bitsPerSecond = room.map { camera.bitsPerSecond * $0 }
                path.line.queue = .milliseconds(400)
                path.run(.seconds(5) + .milliseconds(phase))
                path.line.latency += .milliseconds(step)
                path.run(.seconds(20))
                #expect(path.changes.isEmpty, "camera \(index), \(phase) ms: \(path.changes)")
            }
        }
    }

    /// A few milliseconds of jitter and a little loss do not hide that it is the way.
    @Test func aLongerWayWithJitterAndLossIsNotTakenForAQueueEither() {
        for seed in 1...5 as ClosedRange<UInt64> {
            var path = CameraPath(seed: seed, line: CameraPath.Line(loss: 0.01, jitter: .milliseconds(8)))
            path.run(.seconds(5))
            path.line.latency += .milliseconds(60)
            path.run(.seconds(20))
            #expect(path.changes.isEmpty, "seed \(seed): \(path.changes)")
        }
    }

    /// A viewer with a smaller stream is not kept from the larger one until the shortest delay is forgotten.
    @Test func aLongerWayDoesNotMakeProbesFail() throws {
        var path = CameraPath(seed: 3, camera: CameraPath.Camera(frameBytes: 3_000, keyFrameBytes: 14_000))
        path.run(.seconds(5))
        path.line.latency += .milliseconds(60)
        path.probes = true
        path.larger = 2_250_000
        path.run(.seconds(9))
        let proven = try #require(path.provenAt)
        #expect(proven < 5 + 7.5, "\(proven)")
    }

    /// The way becomes longer while the rate is limited: the line is filled as before.
    @Test(arguments: [50, 200, 400] as [Int64]) func aLongerWayDoesNotLowerALimit(queue: Int64) {
        for camera in Self.cameras {
            var path = CameraPath(seed: 4, camera: camera)
            path.run(.seconds(3))
            let rate = camera.bitsPerSecond * 0.6
            path.line.bitsPerSecond = rate
            path.line.queue = .milliseconds(queue)
            path.run(.seconds(17))
            path.line.latency += .milliseconds(100)
            path.run(.seconds(12))
            let steady = path.seconds[20..<32]
            let sent = steady.reduce(0) { $0 + $1.sent } / 12 / rate
            let carried = steady.reduce(0) { $0 + $1.carried } / 12 / rate
            #expect(sent < 1.15 && carried > 0.8, "\(sent) \(carried)")
        }
    }

    /// The line becomes slow just after its way has become longer.
    @Test(arguments: [50, 200] as [Int64], [0.3, 0.6, 0.85])
    func aSlowLineWithALongerWayIsFoundSoon(queue: Int64, share: Double) throws {
        for camera in Self.cameras {
            for pause in [0, 300, 1_500] as [Int64] {
                var path = CameraPath(seed: 3, camera: camera)
                path.run(.seconds(3))
                path.line.latency += .milliseconds(60)
                path.run(.milliseconds(pause))
                let begin = path.elapsed
                path.line.bitsPerSecond = camera.bitsPerSecond * share
                path.line.queue = .milliseconds(queue)
                path.run(.seconds(5))
                let found = try #require(path.changes.first).at - begin
                #expect(found <= 1.5, "\(pause) ms: \(found)")
            }
        }
    }

    // MARK: A line that is too slow

    /// Without a queue the line polices its rate, as nftables do.
    @Test(arguments: [nil, 50, 100, 200, 400] as [Int64?], [0.3, 0.6, 0.85])
    func aSlowLineIsFoundWithinASecondAndFilledButNotFlooded(queue: Int64?, share: Double) throws {
        for camera in Self.cameras {
            var path = CameraPath(seed: 3, camera: camera)
            path.probes = true
            path.run(.seconds(3))
            let rate = camera.bitsPerSecond * share
            path.line.bitsPerSecond = rate
            path.line.queue = queue.map { .milliseconds($0) }
            path.run(.seconds(30))
            let found = try #require(path.changes.first).at - 3
            // Where seven of ten packets are dropped, little is left to tell first halves from second ones.
            #expect(found <= (queue == nil && share < 0.5 ? 2 : 1.1), "\(found)")
            let steady = path.seconds[6..<33]
            let sent = steady.reduce(0) { $0 + $1.sent } / 27 / rate
            let carried = steady.reduce(0) { $0 + $1.carried } / 27 / rate
            #expect(sent < 1.15 && carried > 0.9, "\(sent) \(carried)")
            path.line.bitsPerSecond = nil
            path.run(.seconds(9))
            let last = try #require(path.changes.last)
            #expect(!last.isLimited, "\(path.changes)")
        }
    }

    /// A line may police its mean rate over seconds, and lets much more pass until then.
    @Test(arguments: [0.3, 0.6, 0.85], [0.5, 1, 2.5]) func aLineThatPolicesOverALongTimeIsNotFlooded(
        share: Double, depth: Double
    ) {
        for camera in Self.cameras {
            var path = CameraPath(seed: 1, camera: camera)
            path.probes = true
            path.run(.seconds(3))
            let rate = camera.bitsPerSecond * share
            path.line.bitsPerSecond = rate
            path.line.queue = nil
            path.line.bucket = rate / 8 * depth + 16_000
            path.run(.seconds(40))
            let steady = path.seconds[12..<43]
            let sent = steady.reduce(0) { $0 + $1.sent } / 31 / rate
            let carried = steady.reduce(0) { $0 + $1.carried } / 31 / rate
            // Growing again costs more, the longer the line lets it pass.
            #expect(sent < (depth > 2 ? 1.4 : 1.2) && carried > 0.85, "\(sent) \(carried)")
            // With what was sent before the line was found to be slow.
            let first = path.seconds[3..<23].reduce(0) { $0 + $1.sent } / 20 / rate
            #expect(first < 1.6, "\(first)")
        }
    }

    @Test(arguments: [nil, 50, 200, 400] as [Int64?]) func aSlowLineThatAlsoLosesAtRandomIsNotStarved(queue: Int64?) {
        let camera = Self.cameras[0]
        var shares: [Double] = []
        for seed in 1...4 as ClosedRange<UInt64> {
            var path = CameraPath(seed: seed, line: CameraPath.Line(loss: 0.1), camera: camera)
            path.probes = true
            path.run(.seconds(3))
            let rate = camera.bitsPerSecond * 0.6
            path.line.bitsPerSecond = rate
            path.line.queue = queue.map { .milliseconds($0) }
            path.run(.seconds(30))
            #expect(path.changes.first.map { $0.at < 5 } ?? false)
            let steady = path.seconds[8..<33]
            shares.append(steady.reduce(0) { $0 + $1.sent } / 25 / rate)
            #expect(shares.allSatisfy { $0 > 0.7 && $0 < 1.2 }, "\(shares)")
        }
    }

    // MARK: Back to a larger stream

    @Test(arguments: [nil, 50, 200, 400] as [Int64?], [0, 0.05, 0.2])
    func probesShowTheLargerStreamsRateOnlyWhenTheLineCarriesIt(queue: Int64?, loss: Double) throws {
        let small = CameraPath.Camera(frameBytes: 3_000, keyFrameBytes: 14_000)
        for seed in 1...3 as ClosedRange<UInt64> {
            var line = CameraPath.Line(loss: loss)
            line.bitsPerSecond = 1_350_000
            line.queue = queue.map { .milliseconds($0) }
            var path = CameraPath(seed: seed, line: line, camera: small)
            path.probes = true
            path.larger = 2_250_000
            path.run(.seconds(30))
            #expect(path.provenAt == nil && path.changes.isEmpty)
            let sent = path.seconds.reduce(0) { $0 + $1.sent } / 30
            #expect(sent < 1_350_000 * 0.7, "\(sent)")
            path.line.bitsPerSecond = nil
            path.run(.seconds(12))
            let proven = try #require(path.provenAt) - 30
            #expect(proven < (loss > 0.1 ? 12 : 7.5), "\(proven)")
        }
    }

    // MARK: Feedback that is false, or does not come

    private let start = Instant(nanoseconds: 1_000_000_000_000)

    private func traffic(_ bytes: UInt64, demand: Double = 2_200_000) -> BandwidthEstimator.Traffic {
        BandwidthEstimator.Traffic(datagrams: bytes / 1_200, bytes: bytes, demand: demand, mayBegin: true)
    }

    @Test func aPeerCannotHaveGotMoreThanItWasSent() throws {
        var estimator = BandwidthEstimator()
        var log = SendLog()
        var number = UInt16(0)
        for step in 0..<400 as Range<Int64> {
            let now = start + .milliseconds(step * 20)
            let run = SendLog.Run(kind: .picture, index: nil, count: 5, segmentSize: 1_200, byteCount: 6_000)
            log.add(run, from: number, at: now)
            for _ in 0..<5 {
                let taken = log.takeArrival(of: number)
                let packet = try #require(taken)
                // All that was sent in eight seconds has arrived within half a second.
                estimator.recordArrival(of: packet, at: 4_000 + step * 5)
                number &+= 1
            }
            estimator.endFeedback(traffic(UInt64(step + 1) * 6_000), log, at: now)
        }
        let estimate = try #require(estimator.estimate(at: start + .seconds(8)))
        #expect(estimate < 2_456_000 * 1.15, "\(estimate)")
    }

    /// Arrivals may be anything: they cost nothing but the peer's own picture, and the limit has a floor.
    @Test func anyFeedbackLeavesALimitAboveTheFloor() {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = RandomSource.seeded(seed)
            var estimator = BandwidthEstimator()
            var log = SendLog()
            var number = UInt16(0)
            for step in 0..<2_000 as Range<Int64> {
                let now = start + .milliseconds(step * 20)
                log.add(
                    SendLog.Run(kind: .picture, index: nil, count: 5, segmentSize: 1_200, byteCount: 6_000),
                    from: number, at: now)
                number &+= 5
                for _ in 0..<4 {
                    let claimed = number &- UInt16(truncatingIfNeeded: random.next() % 40)
                    let arrival = Int64(bitPattern: random.next()) >> Int64(16 + random.next() % 46)
                    if let packet = log.takeArrival(of: claimed) { estimator.recordArrival(of: packet, at: arrival) }
                    for missing in log.takeMissing(from: claimed, count: Int(random.next() % 3)) {
                        if let packet = log.recordMissing(missing) { estimator.recordMissing(packet) }
                        estimator.recordMissing(frame: missing / 5, position: Int(missing % 5), of: 5)
                    }
                }
                estimator.recordReceiverEstimate(random.next() >> (random.next() % 64), demand: 2_200_000, at: now)
                estimator.chooseProbe(larger: 3_000_000, at: now)
                #expect(estimator.probeBytes(traffic(0), next: log.next, at: now) <= 4_000)
                estimator.endFeedback(traffic(UInt64(step + 1) * 6_000), log, at: now)
                if let limit = estimator.limit(at: now) { #expect(limit >= BandwidthEstimator.floor && limit < 1e8) }
            }
        }
    }

    @Test func anEstimateThatHasCollapsedRecovers() throws {
        var path = CameraPath(seed: 9)
        path.probes = true
        path.run(.seconds(3))
        path.line.bitsPerSecond = 60_000
        path.line.queue = .milliseconds(400)
        path.run(.seconds(15))
        let collapsed = try #require(path.seconds.last?.limit)
        #expect(collapsed >= BandwidthEstimator.floor && collapsed < 250_000, "\(collapsed)")
        path.line.bitsPerSecond = nil
        path.run(.seconds(20))
        #expect(path.changes.last?.isLimited == false, "\(path.seconds.compactMap(\.limit))")
    }

    @Test func aLimitIsHalvedWhileNothingIsHeard() {
        var estimator = BandwidthEstimator()
        estimator.begin(.queue, delivered: 1_000_000, loss: 0, at: start)
        estimator.recordHeard(at: start)
        for second in 1...30 { estimator.recordTime(at: start + .seconds(second)) }
        #expect(estimator.limit(at: start) == BandwidthEstimator.floor)
    }

    // MARK: Peers without transport-wide feedback

    @Test func theReceiversOwnEstimateCountsForAWhile() {
        var estimator = BandwidthEstimator()
        estimator.recordReceiverEstimate(900_000, demand: 2_000_000, at: start)
        #expect(estimator.limit(at: start + .seconds(4)) == 900_000)
        #expect(estimator.limit(at: start + .seconds(6)) == nil)
        estimator.recordReceiverEstimate(1, demand: 2_000_000, at: start)
        #expect(estimator.limit(at: start) == BandwidthEstimator.floor)
        estimator.recordReceiverEstimate(3_000_000, demand: 2_000_000, at: start)
        #expect(estimator.limit(at: start) == nil)
    }

    /// After a move up the receiver's estimate is that of the smaller stream, and rises with what it receives.
    @Test func aRisingEstimateOfTheReceiverIsNotALimitAfterAMoveUp() {
        var estimator = BandwidthEstimator()
        var rate = 600_000.0
        estimator.recordReceiverEstimate(UInt64(rate), demand: 400_000, at: start)
        estimator.recordLargerStream(at: start)
        var now = start
        while rate < 2_000_000 {
            now += .seconds(1)
            rate *= 1.08
            estimator.recordReceiverEstimate(UInt64(rate), demand: 2_200_000, at: now)
            #expect(estimator.limit(at: now) == nil)
        }
        // It has come to an end below what the stream needs.
        for second in 1...4 {
            estimator.recordReceiverEstimate(UInt64(rate), demand: 2_200_000, at: now + .seconds(second))
        }
        #expect(estimator.limit(at: now + .seconds(4)) == Double(UInt64(rate)))
    }

    @Test func anEstimateOfTheReceiverThatFallsAfterAMoveUpIsALimitAtOnce() {
        var estimator = BandwidthEstimator()
        estimator.recordReceiverEstimate(1_100_000, demand: 400_000, at: start)
        estimator.recordLargerStream(at: start)
        estimator.recordReceiverEstimate(1_150_000, demand: 2_200_000, at: start + .seconds(1))
        #expect(estimator.limit(at: start + .seconds(1)) == nil)
        estimator.recordReceiverEstimate(900_000, demand: 2_200_000, at: start + .seconds(2))
        #expect(estimator.limit(at: start + .seconds(2)) == 900_000)
    }

    /// Reports each second, and round trips: a stream of 2.2 Mbit/s on a line of `carried`.
    private func report(
        _ estimator: inout BandwidthEstimator, carried: Double, loss: Double = 0, roundTrip: Duration, seconds: Int,
        from begin: Instant, sent total: inout UInt64
    ) -> Instant {
        var now = begin
        for _ in 0..<seconds {
            let rate = min(estimator.limit(at: now) ?? 2_200_000, 2_200_000)
            total += UInt64(rate / 8)
            now += .seconds(1)
            for _ in 0..<3 {
                let queued = rate > carried ? roundTrip : Duration.milliseconds(20)
                estimator.recordRoundTrip(queued, at: now - .milliseconds(300))
            }
            let expected = Int(rate / 8 / 1_200)
            let arrived = Int(min(rate, carried) / 8 / 1_200 * (1 - loss))
            estimator.recordReport(
                BandwidthEstimator.Report(
                    expected: expected, lost: expected - arrived, duration: .seconds(1), packetBytes: 1_200),
                traffic(total), at: now)
        }
        return now
    }

    @Test func roundTripsShowAQueueToPeersWithoutFeedback() throws {
        var estimator = BandwidthEstimator()
        var total: UInt64 = 0
        var now = report(&estimator, carried: 1e9, roundTrip: .zero, seconds: 5, from: start, sent: &total)
        #expect(estimator.limit(at: now) == nil)
        now = report(&estimator, carried: 1e9, loss: 0.2, roundTrip: .zero, seconds: 60, from: now, sent: &total)
        #expect(estimator.limit(at: now) == nil, "random loss")
        now = report(
            &estimator, carried: 1_300_000, roundTrip: .milliseconds(220), seconds: 3, from: now, sent: &total)
        let limit = try #require(estimator.limit(at: now))
        #expect(limit < 1_300_000 && limit > 900_000, "\(limit)")
        now = report(&estimator, carried: 1e9, roundTrip: .zero, seconds: 20, from: now, sent: &total)
        #expect(estimator.limit(at: now) == nil)
    }

    @Test func lossesAtTheEndsOfFramesShowAPolicedLineToPeersWithoutFeedback() throws {
        var estimator = BandwidthEstimator()
        var total: UInt64 = 0
        var now = report(&estimator, carried: 1e9, roundTrip: .zero, seconds: 3, from: start, sent: &total)
        for frame in 0..<15 as Range<UInt64> {
            for position in 8..<14 { estimator.recordMissing(frame: frame, position: position, of: 14) }
        }
        now = report(&estimator, carried: 1_300_000, roundTrip: .milliseconds(20), seconds: 1, from: now, sent: &total)
        let limit = try #require(estimator.limit(at: now))
        #expect(limit < 1_300_000 && limit > 1_100_000, "\(limit)")
    }
}
