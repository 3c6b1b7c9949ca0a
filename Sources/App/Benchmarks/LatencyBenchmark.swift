import DatagramPort
import Foundation
import Glibc
import ICE
import MediaRelay
import RTP
import Synchronization
import Transport

/// How long a packet takes through the gateway.
public struct LatencyMeasurement: Codable, Hashable, Sendable {
    /// How many viewers there were.
    public var viewers: Int
    /// How many shards served them.
    public var shards: Int
    /// From handing a frame in to the arrival of each of its packets at a viewer's socket, in milliseconds.
    public var p50: Double
    public var p95: Double
    public var p99: Double
    public var maximum: Double
    /// How many packets were measured.
    public var packets: Int
    /// How many never arrived.
    public var lost: Int
}

/// Measures the path of a packet from the source's thread to the viewers' sockets, with the relay's real threads, at the
/// rate of a camera of 15 frames a second.
///
/// The figure includes the time until the receiving thread is scheduled, so a busy machine makes it larger.
public struct LatencyBenchmark {
    private let viewers: Int
    private let shards: Int
    private let frames: Int

    /// Prepares for `viewers` viewers, 1 to 1,000, on `shards` shards, 1 to 64, and for `seconds` seconds, 1 to 20.
    public init(viewers: Int, shards: Int, seconds: Int) {
        self.viewers = min(max(viewers, 1), 1000)
        self.shards = min(max(shards, 1), UDPPortGroup.maximumCount)
        // Nothing answers the consent checks, so the viewers would end after 30 seconds.
        frames = min(max(seconds, 1), 20) * 15
    }

    /// Measures.
    public func measure() throws -> LatencyMeasurement {
        let drain = try DrainingPort(takesRuns: true)
        let relay = try ThreadedBenchmarkRelay(shards: shards, drain: drain)
        defer { relay.relay.stop() }
        let maker = try ViewerMaker(relay: relay, drain: drain)
        for index in 0..<viewers { try maker.connect(index, to: relay.track) }
        let camera = BenchmarkCamera(inlet: relay.inlet, frames: frames)
        var arrivals = Arrivals(viewers: viewers, first: drain.address(of: 0))
        let end = MonotonicClock.now + BenchmarkFrame().interval * frames + .milliseconds(500)
        while MonotonicClock.now < end {
            drain.wait(milliseconds: 20)
            drain.receive { arrivals.take($0, from: camera, at: MonotonicClock.now) }
        }
        let expected = frames * BenchmarkFrame().packets * viewers
        guard let p50 = arrivals.milliseconds.percentile(0.5), let p95 = arrivals.milliseconds.percentile(0.95),
            let p99 = arrivals.milliseconds.percentile(0.99), let maximum = arrivals.milliseconds.max()
        else { throw BenchmarkFailure("no packet arrived") }
        return LatencyMeasurement(
            viewers: viewers, shards: shards, p50: p50, p95: p95, p99: p99, maximum: maximum,
            packets: arrivals.milliseconds.count, lost: expected - arrivals.milliseconds.count)
    }
}

/// What arrived at the viewers' sockets.
private struct Arrivals {
    private let first: TransportAddress
    private var counts: [Int]
    private var handedIn: [Instant] = []
    private(set) var milliseconds: [Double] = []

    init(viewers: Int, first: TransportAddress) {
        self.first = first
        counts = Array(repeating: 0, count: viewers)
    }

    /// Packets cannot overtake each other here, so a viewer's nth packet belongs to a known frame.
    mutating func take(_ datagram: ReceivedDatagram, from camera: BenchmarkCamera, at now: Instant) {
        let index = Int(datagram.destination.low) - Int(first.low)
        // STUN begins with 0 or 1; RTCP has its packet type where RTP has marker and payload type (RFC 5761).
        guard counts.indices.contains(index), datagram.bytes.count > 20, datagram.bytes[0] >> 6 == 2,
            !(192...223).contains(datagram.bytes[1])
        else { return }
        let frame = counts[index] / BenchmarkFrame().packets
        counts[index] += 1
        if frame >= handedIn.count { handedIn = camera.handedIn }
        guard frame < handedIn.count else { return }
        milliseconds.append((now - handedIn[frame]).inMilliseconds)
    }
}

/// A relay with one track, on its real threads.
private final class ThreadedBenchmarkRelay: ConnectableRelay {
    let track = TrackID(camera: "benchmark", index: 0)
    let relay: MediaRelay
    let inlet: TrackInlet
    let address: TransportAddress
    private let drain: DrainingPort

    init(shards: Int, drain: DrainingPort) throws {
        self.drain = drain
        let ports = try UDPPortGroup(.benchmark, count: shards)
        address = TransportAddress(ipv4: 0x7F00_0001, port: ports.localPort)
        relay = try MediaRelay(ports: ports)
        guard let inlet = relay.setTracks(camera: track.camera, [.benchmark]).first else {
            throw BenchmarkFailure("the relay did not make an inlet")
        }
        self.inlet = inlet
    }

    func credentials(using random: inout RandomSource) -> ICECredentials {
        relay.place(for: track.camera).credentials(using: &random)
    }

    func addViewer(_ configuration: ViewerConfiguration, at now: Instant) -> SessionStatus {
        let status = SessionStatus()
        relay.addViewer(configuration, status: status, notify: { _ in })
        return status
    }

    func deliver(_ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, at now: Instant) {
        drain.send(UnsafeRawBufferPointer(datagram), from: source, to: address)
    }
}

/// A camera's thread. It hands in each frame when it is due, and records when it did.
private final class BenchmarkCamera: Sendable {
    private let times = Mutex<[Instant]>([])

    /// When each frame was handed in, so far.
    var handedIn: [Instant] { times.withLock { $0 } }

    /// Starts the thread, which ends with the last frame.
    init(inlet: TrackInlet, frames: Int) {
        let thread = Thread { [self] in
            let frame = BenchmarkFrame()
            var pool = PacketBatchPool()
            var next = MonotonicClock.now + .milliseconds(100)
            for number in 0..<frames {
                MonotonicClock.sleep(until: next)
                guard let batch = frame.make(number, from: &pool, arrival: MonotonicClock.now) else { return }
                times.withLock { $0.append(MonotonicClock.now) }
                inlet.deliver(batch)
                next += frame.interval
            }
        }
        thread.name = "camera"
        thread.start()
    }
}
