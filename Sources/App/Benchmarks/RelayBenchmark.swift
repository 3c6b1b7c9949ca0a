import DatagramPort
import MediaRelay
import SDP
import Transport

/// What the relay costs for each packet and viewer, next to the floor of the same run.
public struct RelayMeasurement: Codable, Hashable, Sendable {
    /// How many cameras the viewers were spread over.
    public var cameras: Int
    /// How many viewers there were.
    public var viewers: Int
    /// Processor nanoseconds of the forwarding thread for each packet and viewer, including the kernel's share.
    public var nanosecondsPerPacketViewer: Double
    /// What one AES-128-GCM and one eighth of a send of 8 datagrams cost in the same run.
    public var floorNanoseconds: Double
    /// The relay's cost divided by the floor.
    public var ratio: Double
    /// Heap allocations for each packet and viewer; nil in a build that cannot count them.
    public var allocationsPerPacket: Double?
    /// The growth of the heap for each connected viewer, in bytes.
    public var bytesPerViewer: Int
    /// Datagrams that the receiving socket had no room for; anything but 0 makes both costs too small.
    public var overflowedDatagrams: Int
}

/// Forwards the frames of one or more cameras to viewers through a real shard of the relay: real handshakes, real
/// encryption, real sends.
///
/// The viewers are client connections in memory that shake hands and are then released. Their addresses on loopback all
/// lead to one socket, and emptying it is not part of the cost. Rounds of the relay and of the floor alternate, so any
/// other load on the machine affects both alike.
public final class RelayBenchmark {
    private static let rounds = 21
    private static let framesPerRound = 400

    private let frame = BenchmarkFrame()
    private let drain: DrainingPort
    private let relay: SteppedBenchmarkRelay
    private let cameras: [WatchedCamera]
    private var now: Instant
    private let viewers: Int
    private let bytesPerViewer: Int
    private let floor: RelayFloor

    /// What consumers that are not viewers read from, as recordings do.
    private let queues: [TapQueue]
    private var entries: [TapQueue.Entry] = []

    /// Connects `viewers` viewers, 1 to 1,000.
    /// - Parameters:
    ///   - cameras: how many cameras they are spread over, 1 to `viewers`. Each camera sends its own frames at its own
    ///     times, so each frame wakes the shard.
    ///   - taps: how many consumers that are not viewers each camera's track has.
    public init(viewers: Int, cameras: Int = 1, taps: Int = 0) throws {
        let viewers = min(max(viewers, 1), 1000)
        self.viewers = viewers
        drain = try DrainingPort()
        let relay = try SteppedBenchmarkRelay(drain: drain, cameras: min(max(cameras, 1), viewers))
        self.relay = relay
        let watched = WatchedCamera.all(of: relay, watchedBy: viewers)
        self.cameras = watched
        queues = watched.flatMap { camera in
            (0..<taps).map { _ -> TapQueue in
                let queue = TapQueue(limits: .init(duration: .seconds(15), bytes: 64 << 20, overflow: .refuse))
                relay.shard.addTap(queue.makeTap(), to: camera.track, at: MonotonicClock.now)
                return queue
            }
        }
        let maker = try ViewerMaker(relay: relay, drain: drain)
        // The first handshake makes OpenSSL load what it then keeps for the process.
        try ViewerMaker.warmUp(drain: drain)
        let before = HeapUse.bytesInUse
        for camera in watched {
            for index in camera.viewers { try maker.connect(index, to: camera.track) }
        }
        bytesPerViewer = (HeapUse.bytesInUse - before) / viewers
        floor = try RelayFloor(
            viewers: (0..<viewers).map(drain.address(of:)), frame: frame, headerSize: ViewerMaker.headerSize,
            drain: drain)
        // Media starts to flow a moment after the handshake.
        now = MonotonicClock.now + .milliseconds(20)
        relay.shard.handleDeadline(at: now)
        drain.drain()
    }

    /// Measures for a second or two.
    public func measure() throws -> RelayMeasurement {
        let frames = max(4, Self.framesPerRound / viewers)
        // The rings and the kernel's pools of buffers fill; from then on a steady stream should allocate nothing.
        _ = try relayRound(max(frames, 4 * frame.keyFrameInterval))
        for _ in 0..<frames { _ = try floorRound(1) }
        let sentBefore = relay.shard.readCounters().datagramsSent
        var relayCosts: [Int64] = []
        var floorCosts: [Int64] = []
        var allocations: UInt64? = 0
        for round in 0..<Self.rounds {
            if round % 2 == 0 { floorCosts.append(try floorRound(frames)) }
            let (cost, allocated) = try relayRound(frames)
            relayCosts.append(cost)
            allocations = allocated.flatMap { new in allocations.map { $0 + new } }
            if round % 2 == 1 { floorCosts.append(try floorRound(frames)) }
        }
        let perRound = Double(frames * frame.packets * viewers)
        let sent = relay.shard.readCounters().datagramsSent - sentBefore
        guard Double(sent) == perRound * Double(Self.rounds) else {
            throw BenchmarkFailure("the relay sent \(sent) packets of \(perRound * Double(Self.rounds))")
        }
        let cost = Double(relayCosts.median ?? 0) / perRound
        let floorCost = Double(floorCosts.median ?? 0) / perRound
        return RelayMeasurement(
            cameras: cameras.count, viewers: viewers, nanosecondsPerPacketViewer: cost, floorNanoseconds: floorCost,
            ratio: floorCost > 0 ? cost / floorCost : 0,
            allocationsPerPacket: allocations.map { Double($0) / Double(sent) }, bytesPerViewer: bytesPerViewer,
            overflowedDatagrams: drain.overflowed)
    }

    /// Takes what waits, as a recording thread does. A batch that nobody keeps is used again.
    private func readTaps() {
        for queue in queues {
            _ = queue.take(into: &entries)
            entries.removeAll(keepingCapacity: true)
        }
    }

    /// Forwards `frames` frames of each camera; the cameras take turns.
    private func relayRound(_ frames: Int) throws -> (cost: Int64, allocations: UInt64?) {
        var cost: Int64 = 0
        var allocations: UInt64? = 0
        for _ in 0..<frames {
            for camera in cameras {
                now += frame.interval / cameras.count
                try camera.deliver(frame, at: now)
                let allocated = HeapUse.allocations {
                    let start = ProcessorClock.thread - drain.processorTime
                    relay.shard.forward(at: now)
                    cost += ProcessorClock.thread - drain.processorTime - start
                }
                allocations = allocated.flatMap { new in allocations.map { $0 + new } }
                readTaps()
                drain.drain()
            }
        }
        return (cost, allocations)
    }

    private func floorRound(_ frames: Int) throws -> Int64 {
        var cost: Int64 = 0
        for _ in 0..<frames {
            for camera in cameras {
                cost += try floor.forwardFrame(to: camera.viewers)
                drain.drain()
            }
        }
        return cost
    }
}
