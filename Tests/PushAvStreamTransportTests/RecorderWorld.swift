import Cameras
import Codecs
import DatagramPort
import Foundation
import MediaRelay
import RTP
import SDP
import StationFakes
import Stations
import Synchronization
import Testing
import Transport

@testable import PushAvStreamTransport

/// Keeps what a recorder hands over, or refuses it.
final class CollectingSink: RecordingSink {
    private struct State {
        var outputs: [(session: RecordingSession.ID, output: RecordingOutput)] = []
        var fault: RecordingFault?
    }

    private let state = Locked(State())

    func take(_ output: RecordingOutput, of session: RecordingSession.ID) throws(RecordingFault) {
        let fault = state.withLock { state -> RecordingFault? in
            if let fault = state.fault { return fault }
            state.outputs.append((session, output))
            return nil
        }
        if let fault { throw fault }
    }

    /// What the sink says to everything from now on; nil for nothing.
    func refuse(_ fault: RecordingFault?) { state.withLock { $0.fault = fault } }

    var recordings: [Recording] { Recording.all(in: state.withLock { $0.outputs }) }
}

/// A recorder of a fake camera, on a real relay.
final class RecorderWorld: Sendable {
    let relay: MediaRelay
    let station: CameraStation
    let sink = CollectingSink()
    let recorder: CameraRecorder
    private let packets = PacketCounts()
    private let reports = Locked<(stops: Int, faults: Int, refusals: Int, ends: [RecordingEnd.Reason])>((0, 0, 0, []))

    init(
        _ source: any CameraSource, transcodesVideo: TranscodingMode = .never, tenures: Tenures = Tenures(),
        _ change: (inout CameraRecorder.Configuration) -> Void = { _ in }
    ) throws {
        relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 2))
        var settings = CameraStation.Configuration()
        settings.transcodesVideo = transcodesVideo
        station = CameraStation(
            id: "door", source: source, relay: relay, configuration: settings,
            outputs: OutputPermits(camera: "door", patience: .seconds(120), tenures: tenures))
        var configuration = CameraRecorder.Configuration(device: "d1", connection: 1)
        configuration.segmentDuration = .milliseconds(500)
        configuration.chunkDuration = .milliseconds(500)
        change(&configuration)
        let count = Counter()
        let reports = reports
        recorder = CameraRecorder(
            station: station, relay: relay, configuration: configuration,
            threads: RecordingThreads(count: 1, gathering: .milliseconds(5)), sink: sink,
            naming: { start, known in
                let number = count.next()
                return (.init(device: "d1", start: start, epoch: 1, sequence: number), known ?? UInt64(number))
            },
            report: { report in
                switch report {
                case .stopped: reports.withLock { $0.stops += 1 }
                case .fault: reports.withLock { $0.faults += 1 }
                case .ended(_, let end): reports.withLock { $0.ends.append(end.reason) }
                case .refused: reports.withLock { $0.refusals += 1 }
                case .began, .keyFrameInterval: break
                }
            })
        station.start()
    }

    deinit {
        relay.stop()
    }

    private final class Counter: Sendable {
        private let value = Atomic<UInt32>(0)
        func next() -> UInt32 { value.add(1, ordering: .relaxed).newValue }
    }

    var stops: Int { reports.withLock { $0.stops } }
    var faults: Int { reports.withLock { $0.faults } }
    /// Why sessions ended, also those whose end the sink did not take.
    var ends: [RecordingEnd.Reason] { reports.withLock { $0.ends } }
    var refusals: Int { reports.withLock { $0.refusals } }

    /// Counts packets from now on. Without it the first call of ``waitForPackets(_:of:)`` does, which is too late for
    /// sound: that begins with what comes next.
    func countPackets(of index: Int, kind: MediaKind = .video) {
        packets.begin(TrackID(camera: "door", kind: kind, index: index), on: relay)
    }

    /// Waits until the camera's packets have come to the recorder's taps.
    func waitForPackets(_ number: Int, of index: Int, kind: MediaKind = .video) async {
        await packets.wait(for: number, of: TrackID(camera: "door", kind: kind, index: index), on: relay)
    }

    /// Stops, and waits until all has been handed over.
    func stop(_ reason: RecordingEnd.Reason = .lengthReached, at instant: Instant? = nil) async -> [Recording] {
        let before = stops
        recorder.stop(reason, at: instant)
        #expect(await eventually { stops > before })
        return sink.recordings
    }
}

/// Counts the packets of tracks.
final class PacketCounts: Sendable {
    private let taps = Locked<[TrackID: CountingTap]>([:])

    /// Begins to count, unless it has begun.
    @discardableResult
    func begin(_ track: TrackID, on relay: MediaRelay) -> CountingTap {
        let tap = taps.withLock { taps in
            if let known = taps[track] { return known }
            let tap = CountingTap()
            taps[track] = tap
            return tap
        }
        // The relay's thread adds it after the recorder's.
        if tap.isNew { relay.addTap(tap, to: track, from: .newestKeyFrame) }
        return tap
    }

    /// Waits until a track's packets have come to the taps that were there before the first call.
    func wait(for number: Int, of track: TrackID, on relay: MediaRelay) async {
        let tap = begin(track, on: relay)
        #expect(await eventually { tap.count >= number })
    }
}

extension Recording {
    /// The track, as a file: its header and all of its chunks.
    func file(_ track: Int) -> [UInt8] {
        Array(session.tracks[track].initializationSegment) + chunks.filter { $0.track == track }.flatMap(\.bytes)
    }
}

/// Programs that play recordings.
enum Player {
    static let isInstalled = ["ffmpeg", "ffprobe"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    /// What FFmpeg and GStreamer say against a file while they read all of it; empty if nothing.
    static func complaints(about file: [UInt8]) throws -> String {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(file).write(to: url)
        var said = try run("ffmpeg", ["-v", "warning", "-i", url.path, "-f", "null", "-"])
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/gst-launch-1.0") {
            said += try run(
                "gst-launch-1.0", ["-q", "filesrc", "location=\(url.path)", "!", "qtdemux", "!", "fakesink"])
        }
        return said
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/\(program)")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? said : "\(program) ends with \(process.terminationStatus): \(said)"
    }
}

/// Counts what comes, from the newest key frame on.
final class CountingTap: TrackTap {
    private let state = Locked((count: 0, isNew: true))

    var count: Int { state.withLock { $0.count } }
    /// True once.
    var isNew: Bool {
        state.withLock { state in
            defer { state.isNew = false }
            return state.isNew
        }
    }

    func receive(_ batch: TappedBatch) {
        let count = batch.batch.packets.count
        state.withLock { $0.count += count }
    }

    func trackRestarted() {}
    func trackEnded() {}
}

extension CameraRecorder.Configuration {
    /// Lets the recorder's clocks stand still. Otherwise pictures do not wait for sound that is handed in more than two
    /// seconds after them, as on a machine that is busy with other tests.
    mutating func stopClocks(at moment: Instant) {
        let date = WallClock.now
        now = { moment }
        wallClock = { date }
    }
}

// A failed expectation prints what it compared; values that cannot be copied cannot be printed.
extension RecorderWorld: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension CameraRecorder: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: []) }
}
