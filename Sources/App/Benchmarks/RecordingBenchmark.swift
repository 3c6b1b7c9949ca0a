import Cameras
import DatagramPort
import Dispatch
import Foundation
import Glibc
import Intake
import MediaRelay
import PushAvStreamTransport
import RTP
import SDP
import Stations
import Transport

/// What it costs to record cameras.
public struct RecordingMeasurement: Codable, Hashable, Sendable {
    public var cameras: Int
    /// How long, in seconds.
    public var seconds: Double
    /// What the recordings hold, in bits a second and camera.
    public var bitsPerSecond: Double
    /// The processor time of the recording threads, in milliseconds for each second of one camera.
    public var recordingMillisecondsPerCameraSecond: Double
    /// The same of the whole process: the cameras that make the packets, the relay, and the recording.
    public var processMillisecondsPerCameraSecond: Double
    /// Chunks that were written, and packets that were left out.
    public var chunks: UInt64
    public var droppedPackets: UInt64
}

/// Records cameras that send H.264 of 25 pictures a second, at the pace of real cameras, into files.
public struct RecordingBenchmark: Sendable {
    /// How many cameras.
    public var cameras = 20
    /// What each of them sends.
    public var bitsPerSecond = 2_000_000
    /// How long, in seconds.
    public var seconds = 20.0
    /// Where the files are.
    public var folder: String
    /// Whether each chunk is written to the disk before the next one.
    public var syncs = false

    /// Records into a folder.
    public init(folder: String) {
        self.folder = folder
    }

    /// Measures.
    /// - Throws: `BenchmarkFailure`, and the system's errors.
    public func run() throws -> RecordingMeasurement {
        let relay = try MediaRelay(port: UDPPort(.loopback()))
        defer { relay.stop() }
        let threads = RecordingThreads()
        let sources = (0..<cameras).map { _ in PacedCamera(bitsPerSecond: bitsPerSecond) }
        var stations: [CameraStation] = []
        var recorders: [CameraRecorder] = []
        for (number, source) in sources.enumerated() {
            let station = CameraStation(id: "camera-\(number)", source: source, relay: relay)
            station.start()
            stations.append(station)
            let sink = try FileSink(path: "\(folder)/camera-\(number).mp4", syncs: syncs)
            let recorder = CameraRecorder(
                station: station, relay: relay, configuration: .init(device: "camera-\(number)", connection: 1),
                threads: threads, sink: sink,
                naming: { start, _ in (.init(device: "camera-\(number)", start: start, epoch: 1, sequence: 1), 1) })
            recorder.start(.init(kind: .continuous, reason: "benchmark"))
            recorders.append(recorder)
        }
        let pace = PacedCamera.Pace(sources)
        let before = ProcessorClock.process
        pace.run(for: seconds)
        // What has come is recorded within two of a thread's rounds.
        usleep(1_200_000)
        let used = Double(ProcessorClock.process - before) / 1e9
        let counters = recorders.map(\.counters)
        for station in stations { station.stop() }
        let recorded = counters.reduce(Duration.zero) { $0 + $1.processorTime }
        let cameraSeconds = seconds * Double(cameras)
        guard counters.allSatisfy({ $0.chunks > 0 && $0.faults == 0 }) else {
            throw BenchmarkFailure("a camera was not recorded: \(counters)")
        }
        return RecordingMeasurement(
            cameras: cameras, seconds: seconds,
            bitsPerSecond: Double(counters.reduce(0) { $0 + $1.bytes }) * 8 / cameraSeconds,
            recordingMillisecondsPerCameraSecond: recorded.inMilliseconds / cameraSeconds,
            processMillisecondsPerCameraSecond: used * 1_000 / cameraSeconds,
            chunks: counters.reduce(0) { $0 + $1.chunks },
            droppedPackets: counters.reduce(0) { $0 + $1.droppedPackets })
    }
}

/// Appends all chunks to one file.
private final class FileSink: RecordingSink {
    private let file: Int32
    private let syncs: Bool
    private let path: String

    init(path: String, syncs: Bool) throws {
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        self.syncs = syncs
        self.path = path
        guard file >= 0 else {
            throw BenchmarkFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(file) }

    func take(_ output: RecordingOutput, of session: RecordingSession.ID) throws(RecordingFault) {
        let bytes: [UInt8]
        switch output {
        case .began(let session): bytes = session.tracks.first.map { Array($0.initializationSegment) } ?? []
        case .chunk(let chunk): bytes = chunk.bytes
        case .segmentEnded, .gap, .trigger, .ended: return
        }
        guard write(file, bytes, bytes.count) == bytes.count, !syncs || fdatasync(file) == 0 else {
            throw .storage(path: path, .system(errno))
        }
    }
}

/// A camera whose packets a benchmark makes: H.264 in fragments of 1,200 bytes, with a key frame every two seconds.
private final class PacedCamera: CameraSource {
    private struct State: ~Copyable {
        var pool = PacketBatchPool()
        var inlet: (any PacketInlet)?
        var sequence: UInt16 = 0
        var frames: UInt32 = 0
    }

    private static let rate = 25
    private static let parameters: [[UInt8]] = [
        [0x67, 0x64, 0x00, 0x1F, 0xAC, 0xDB, 0x05, 0x06, 0x7E, 0x74], [0x68, 0xEE, 0x3C, 0x80],
    ]
    private let frameLength: Int
    private let content: [UInt8]
    private let state = Locked(State())

    init(bitsPerSecond: Int) {
        frameLength = max(bitsPerSecond / 8 / Self.rate, 16)
        // Nothing in it looks like a start code.
        content = (0..<1_200).map { UInt8(truncatingIfNeeded: $0 | 1) }
    }

    var speaker: (any CameraSpeaker)? { nil }
    func requestKeyFrame(track: Int) {}
    func stop() { state.withLock { $0.inlet = nil } }

    func start(sink: any CameraSink) {
        let track = TrackDescription(
            kind: .video, codec: MediaCodec(name: "H264", clockRate: 90_000), payloadType: 96)
        let inlet = sink.open([track]).first
        sink.handle(.state(.flowing))
        state.withLock { $0.inlet = inlet }
    }

    /// Sends the next picture.
    func send(at now: Instant) {
        let batch = state.withLock { state -> (PacketBatch?, (any PacketInlet)?) in
            let isKeyFrame = state.frames % 50 == 0
            let timestamp = state.frames &* 3_600
            state.frames &+= 1
            func append(_ payload: UnsafeRawBufferPointer, _ flags: PacketBatch.Flags, to state: inout State) {
                let kind: PacketBatch.Flags = isKeyFrame ? [.keyFrame] : []
                state.pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: timestamp, sequenceNumber: state.sequence, payloadType: 96,
                        flags: flags.union(kind)), payload: payload)
                state.sequence &+= 1
            }
            var isFirst = true
            if isKeyFrame {
                for set in Self.parameters {
                    set.withUnsafeBytes { append($0, isFirst ? .startsFrame : [], to: &state) }
                    isFirst = false
                }
            }
            var packet = content
            packet[0] = 0x7C
            for offset in stride(from: 0, to: frameLength, by: 1_198) {
                let isLast = offset + 1_198 >= frameLength
                packet[1] = (isKeyFrame ? 5 : 1) | (offset == 0 ? 0x80 : 0) | (isLast ? 0x40 : 0)
                // first_mb_in_slice of 0, and a slice of type P or I.
                packet[2] = isKeyFrame ? 0xB8 : 0xE0
                let length = min(frameLength - offset, 1_198) + 2
                packet.withUnsafeBytes { bytes in
                    append(
                        UnsafeRawBufferPointer(rebasing: bytes[..<length]),
                        (isFirst ? PacketBatch.Flags.startsFrame : []).union(isLast ? .marker : []), to: &state)
                }
                isFirst = false
            }
            return (state.pool.finish(arrival: now), state.inlet)
        }
        if let made = batch.0 { batch.1?.deliver(made) }
    }

    /// Lets cameras send at the pace of real ones, each at another moment.
    struct Pace {
        let cameras: [PacedCamera]

        init(_ cameras: [PacedCamera]) { self.cameras = cameras }

        func run(for seconds: Double) {
            let start = MonotonicClock.now
            let interval = 1_000_000_000 / Int64(PacedCamera.rate * max(cameras.count, 1))
            for number in 0..<Int(seconds * Double(PacedCamera.rate * cameras.count)) {
                let due = start + .nanoseconds(Int64(number) * interval)
                let wait = (due - MonotonicClock.now).wholeNanoseconds
                if wait > 0 { usleep(UInt32(clamping: wait / 1_000)) }
                cameras[number % cameras.count].send(at: MonotonicClock.now)
            }
        }
    }
}
