import DatagramPort
import Foundation
import Glibc
import MediaRelay
import RTP
import Synchronization
import Transport

/// What several shards of the relay carry together.
public struct ShardedRelayMeasurement: Codable, Hashable, Sendable {
    /// How many shards there were.
    public var shards: Int
    /// How many viewers there were, on all shards together.
    public var viewers: Int
    /// Processor nanoseconds of all shards for each packet and viewer, including the kernel's share.
    public var nanosecondsPerPacketViewer: Double
    /// Packets that all shards together sent in a second, while each had a core or a share of one.
    public var packetsPerSecond: Double
    /// Datagrams that the receiving sockets had no room for; anything but 0 makes the cost too small.
    public var overflowedDatagrams: Int
}

/// Forwards the frames of one camera to viewers on several shards, each on its own thread, as ``RelayBenchmark`` does
/// on one. All shards begin a frame together, and the next one comes when the last has sent it.
public final class ShardedRelayBenchmark: Sendable {
    private static let rounds = 21
    private static let packetsPerRound = 3_200

    private let shards: Int
    private let viewers: Int
    private let group: SteppedRelayGroup
    private let inlet: TrackInlet
    private let barrier: SpinningBarrier
    private let result: Mutex<Result>

    private struct Result {
        var costs: [[Int64]]
        var rounds: [Int64] = []
        var start = Instant.zero
        var overflowed = 0
        var failure: String?
    }

    /// Prepares for `shards` shards, 1 to 64, and `viewers` viewers, at least one for each shard and at most 1,000.
    public init(shards: Int, viewers: Int) throws {
        self.shards = min(max(shards, 1), UDPPortGroup.maximumCount)
        self.viewers = min(max(viewers, self.shards), 1000)
        group = try SteppedRelayGroup(shards: self.shards)
        inlet = try SteppedBenchmarkRelay.makeTrack(of: group)
        barrier = SpinningBarrier(self.shards)
        result = Mutex(Result(costs: Array(repeating: [], count: self.shards)))
    }

    /// Measures for a few seconds.
    public func measure() throws -> ShardedRelayMeasurement {
        let done = DispatchGroup()
        for shard in 0..<shards {
            done.enter()
            let thread = Thread { [self] in
                run(shard)
                done.leave()
            }
            thread.name = "shard \(shard)"
            thread.start()
        }
        done.wait()
        return try result.withLock { result in
            if let failure = result.failure { throw BenchmarkFailure(failure) }
            let packets = Double(frames * BenchmarkFrame().packets * viewers)
            let costs = result.costs.map { Double($0.median ?? 0) }.reduce(0, +)
            return ShardedRelayMeasurement(
                shards: shards, viewers: viewers, nanosecondsPerPacketViewer: costs / packets,
                packetsPerSecond: packets * 1e9 / Double(max(result.rounds.median ?? 1, 1)),
                overflowedDatagrams: result.overflowed)
        }
    }

    private var frames: Int { max(4, Self.packetsPerRound / viewers) }

    /// One shard's thread.
    private func run(_ shard: Int) {
        do {
            let drain = try DrainingPort()
            let relay = try SteppedBenchmarkRelay(drain: drain, group: group, shard: shard, inlet: inlet)
            let maker = try ViewerMaker(relay: relay, drain: drain)
            for index in stride(from: shard, to: viewers, by: shards) {
                try maker.connect(index, to: SteppedBenchmarkRelay.track(of: 0))
            }
            forward(relay, drain, shard)
        } catch {
            result.withLock { $0.failure = "\(error)" }
            // The others wait for everybody once, and then find the failure.
            barrier.wait()
        }
    }

    private func forward(_ relay: SteppedBenchmarkRelay, _ drain: DrainingPort, _ shard: Int) {
        // Media starts to flow a moment after the handshake.
        if shard == 0 { result.withLock { $0.start = MonotonicClock.now + .milliseconds(20) } }
        barrier.wait()
        guard result.withLock({ $0.failure == nil }) else { return }
        // The shards answer each other's requests for the track.
        for _ in 0..<4 {
            relay.shard.forward(at: MonotonicClock.now)
            barrier.wait()
        }
        var now = result.withLock { $0.start }
        relay.shard.handleDeadline(at: now)
        drain.drain()
        let frame = BenchmarkFrame()
        var pool = PacketBatchPool()
        var number = 0
        func round(_ frames: Int) -> Int64 {
            var cost: Int64 = 0
            for _ in 0..<frames {
                now += frame.interval
                if shard == 0, let batch = frame.make(number, from: &pool, arrival: now) { inlet.deliver(batch) }
                number += 1
                barrier.wait()
                let start = ProcessorClock.thread - drain.processorTime
                relay.shard.forward(at: now)
                cost += ProcessorClock.thread - drain.processorTime - start
                drain.drain()
                barrier.wait()
            }
            return cost
        }
        _ = round(max(frames, 4 * frame.keyFrameInterval))
        for _ in 0..<Self.rounds {
            let start = MonotonicClock.now
            let cost = round(frames)
            let time = (MonotonicClock.now - start).wholeNanoseconds
            result.withLock { result in
                result.costs[shard].append(cost)
                if shard == 0 { result.rounds.append(time) }
            }
        }
        result.withLock { $0.overflowed += drain.overflowed }
    }
}
