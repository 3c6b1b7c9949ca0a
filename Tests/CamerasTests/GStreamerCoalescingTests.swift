import Intake
import RTP
import StationFakes
import Testing
import Transport

@testable import Cameras

/// Frames are read together while nobody watches, with GStreamer's RTSP server as the camera.
/// The tests wait for the camera's process, which must not keep a shared thread busy.
@Suite(
    .serialized, .ownThread, .timeLimit(.minutes(10)),
    .enabled(if: GStreamerCamera.isInstalled, "GStreamer's RTSP server is not installed"))
struct GStreamerCoalescingTests {
    /// A source that coalesces for longer than usual, so that a busy machine does not look like coalescing.
    private func source(
        _ camera: GStreamerCamera, _ transport: CameraTransport, isSecure: Bool = false
    ) throws -> RTSPSource {
        var configuration = RTSPSource.Configuration.patient
        configuration.transport = transport
        configuration.coalescingTime = .seconds(1)
        let source = try RTSPSource(
            address: "\(isSecure ? "rtsps" : "rtsp")://127.0.0.1:\(camera.port)/vp8", configuration: configuration)
        source.setCoalescing(true)
        return source
    }

    @Test(arguments: [CameraTransport.tcp, .http], [false, true])
    func overEachConnectionFramesAreReadTogetherAndNoneIsLostWhenSomebodyComes(
        transport: CameraTransport, isSecure: Bool
    ) async throws {
        let camera = try GStreamerCamera(isSecure ? ["--tls"] : [])
        defer { camera.stop() }
        let sink = FrameSink()
        let source = try self.source(camera, transport, isSecure: isSecure)
        source.start(sink: sink)
        // A frame comes every 67 ms.
        let together = await sink.take { $0.framesOfNewestRead >= 5 }
        #expect(together.framesOfNewestRead >= 5)
        source.setCoalescing(false)
        let alone = await sink.take { $0.framesComeAlone }
        #expect(alone.framesComeAlone)
        source.setCoalescing(true)
        let again = await sink.take { $0.framesOfNewestRead >= 5 }
        source.stop()
        #expect(again.framesOfNewestRead >= 5)
        #expect(source.profile.transport?.rawValue == transport.rawValue)
        let numbers = (together + alone + again).flatMap(\.numbers)
        for (number, next) in zip(numbers, numbers.dropFirst()) { #expect(next == number &+ 1) }
    }

    @Test func datagramsAreReadAsTheyCome() async throws {
        let camera = try GStreamerCamera([])
        defer { camera.stop() }
        let sink = FrameSink()
        let source = try self.source(camera, .udp)
        source.start(sink: sink)
        let batches = await sink.take { $0.framesComeAlone }
        source.stop()
        #expect(batches.framesComeAlone)
        #expect(source.profile.transport == .udp)
    }
}

/// A batch of the picture's packets, and when its last one was read.
private struct PictureBatch: Sendable {
    var arrival: Instant
    var numbers: [UInt16]
    /// How many frames end in it.
    var frames: Int
}

extension [PictureBatch] {
    /// What one read brings has one time of arrival.
    fileprivate var framesOfNewestRead: Int {
        reversed().prefix { $0.arrival == last?.arrival }.reduce(0) { $0 + $1.frames }
    }

    /// Whether each of the newest batches was read by itself.
    fileprivate var framesComeAlone: Bool {
        let newest = suffix(10)
        return newest.count == 10 && Set(newest.map(\.arrival)).count == 10
    }
}

/// Records when the packets of the picture were read.
private final class FrameSink: CameraSink {
    private enum Item: Sendable {
        case batch(PictureBatch)
        case failed
    }

    private let items: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation

    init() {
        (items, continuation) = AsyncStream.makeStream()
    }

    private struct Inlet: PacketInlet {
        /// Nil for sound.
        var continuation: AsyncStream<Item>.Continuation?

        func deliver(_ batch: PacketBatch) {
            continuation?.yield(
                .batch(
                    PictureBatch(
                        arrival: batch.arrival, numbers: batch.packets.map(\.sequenceNumber),
                        frames: batch.packets.count { $0.flags.contains(.marker) })))
        }
    }

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        tracks.indices.map { Inlet(continuation: $0 == 0 ? continuation : nil) }
    }

    func handle(_ event: CameraEvent) {
        if case .state(.backingOff) = event { continuation.yield(.failed) }
    }

    /// The batches up to the one that makes them enough. Three failures of the camera, or 2,000 batches, end it, too.
    func take(until areEnough: ([PictureBatch]) -> Bool) async -> [PictureBatch] {
        var taken: [PictureBatch] = []
        var failures = 0
        for await item in items {
            switch item {
            case .batch(let batch): taken.append(batch)
            case .failed: failures += 1
            }
            if areEnough(taken) || failures == 3 || taken.count == 2_000 { break }
        }
        return taken
    }
}
