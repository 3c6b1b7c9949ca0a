import DatagramPort
import MediaRelay
import RTP
import SDP
import Transport

/// What one wake-up of a shard costs that one camera's frame has caused.
public struct WakeUpMeasurement: Codable, Hashable, Sendable {
    /// How many cameras the relay has.
    public var cameras: Int
    /// Processor nanoseconds of a wake-up.
    public var nanosecondsPerWakeUp: Double
    /// How many cameras' inlets a wake-up looked at.
    public var inletsPerWakeUp: Double
}

/// Wakes a shard of the relay for one frame after the other, each of another camera. Nobody watches, so only the wake-up
/// and the ring are measured.
public final class WakeUpBenchmark {
    private static let rounds = 21
    private static let wakeUps = 400

    private let cameras: Int
    private let shard: SteppedRelay
    private let inlets: [TrackInlet]
    private var pool = PacketBatchPool()
    private var frames: [Int]
    private var next = 0
    private var now: Instant

    /// Makes a relay with `cameras` cameras, 1 to 1,000.
    public init(cameras: Int) throws {
        let cameras = min(max(cameras, 1), 1000)
        let now = MonotonicClock.now
        let shard = SteppedRelay(port: try UDPPort(.benchmark), at: now)
        self.cameras = cameras
        self.shard = shard
        self.now = now
        frames = Array(repeating: 0, count: cameras)
        inlets = (0..<cameras).map {
            shard.addTrack(TrackID(camera: "camera \($0)", index: 0), .benchmark, at: now)
        }
    }

    /// Measures for less than a second.
    public func measure() throws -> WakeUpMeasurement {
        _ = try round()
        let before = shard.inletsAsked
        var costs: [Int64] = []
        for _ in 0..<Self.rounds { costs.append(try round()) }
        let wakeUps = Double(Self.rounds * Self.wakeUps)
        return WakeUpMeasurement(
            cameras: cameras, nanosecondsPerWakeUp: Double(costs.median ?? 0) / Double(Self.wakeUps),
            inletsPerWakeUp: Double(shard.inletsAsked - before) / wakeUps)
    }

    private func round() throws -> Int64 {
        var cost: Int64 = 0
        for _ in 0..<Self.wakeUps {
            now += .milliseconds(5)
            inlets[next].deliver(try batch(frames[next]))
            frames[next] += 1
            next = (next + 1) % cameras
            let start = ProcessorClock.thread
            shard.forward(at: now)
            cost += ProcessorClock.thread - start
        }
        return cost
    }

    private func batch(_ number: Int) throws -> PacketBatch {
        withUnsafeTemporaryAllocation(byteCount: 100, alignment: 16) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 1)
            pool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: UInt32(truncatingIfNeeded: number &* 6000),
                    sequenceNumber: UInt16(truncatingIfNeeded: number), payloadType: 96,
                    flags: [.keyFrame, .startsFrame, .marker]),
                payload: UnsafeRawBufferPointer(bytes))
        }
        guard let batch = pool.finish(arrival: now) else { throw BenchmarkFailure("a frame has no packets") }
        return batch
    }
}
