import DatagramPort
import Foundation
import PushAvStreamTransport
import RecordingIndex
import Transport

/// What recording costs the disk.
public struct RecordingWriteMeasurement: Codable, Hashable, Sendable {
    /// How many cameras record, and how many minutes all of them together.
    public var cameras: Int
    public var recordedMinutes: Double
    /// The bytes of the chunks, what else the store writes, and what the kernel sent to the disk, for a recorded minute.
    public var mediaBytes: Double
    public var metadataBytes: Double
    public var diskBytes: Double
    /// `fdatasync` of files and `fsync` of folders, for a recorded minute.
    public var fileSynchronizations: Double
    public var folderSynchronizations: Double
    /// How long a chunk takes until it is on the disk, in milliseconds: half of all are faster, and 99 of 100.
    public var p50Milliseconds: Double
    public var p99Milliseconds: Double
    /// How many times faster than the cameras the disk was.
    public var timesRealTime: Double
}

/// What a large index costs.
public struct RecordingIndexMeasurement: Codable, Hashable, Sendable {
    /// How many segments and recordings it has, and the bytes of its file.
    public var segments: Int
    public var recordings: Int
    public var fileBytes: Int
    /// How long it takes to open it, and to compare it with the folders, in milliseconds.
    public var openMilliseconds: Double
    public var recoverMilliseconds: Double
    /// The recordings of one day of a device, and all of their segments as well, in milliseconds: the slowest of 30 days.
    public var dayMilliseconds: Double
    public var daySegmentsMilliseconds: Double
    /// The days with footage of a device, and the totals of all devices, in milliseconds.
    public var daysMilliseconds: Double
    public var totalsMilliseconds: Double
}

/// Measures the local store of recordings.
public struct RecordingStoreBenchmark: Sendable {
    private let folder: String

    /// Measures in a folder, which must be empty. Its file system is the one that is measured.
    public init(folder: String) {
        self.folder = folder
    }

    private static let start: Int64 = 1_763_769_600_000

    private func open(_ name: String) throws -> RecordingStore {
        try RecordingStore(
            root: "\(folder)/\(name)",
            index: SQLiteRecordingIndex(path: "\(folder)/\(name).sqlite"),
            retention: RecordingRetention(headroom: 0), now: { Self.start + 31 * 86_400_000 })
    }

    // MARK: Writing

    /// Records cameras of 2 Mbit/s with sound, each on its own thread, as fast as the disk takes it: segments of four
    /// seconds, chunks of one.
    public func write(cameras: Int, seconds: Int) throws -> RecordingWriteMeasurement {
        let store = try open("recordings")
        let delays = Locked<[Double]>([])
        let problem = Locked<String?>(nil)
        let before = Self.bytesToDisk()
        let begin = MonotonicClock.now
        let finished = DispatchGroup()
        for camera in 0..<cameras {
            finished.enter()
            let hasStarted = startDetachedThread {
                do {
                    let own = try Self.record("camera\(camera)", seconds: seconds, to: store)
                    delays.withLock { $0 += own }
                } catch {
                    problem.withLock { $0 = "\(error)" }
                }
                finished.leave()
            }
            guard hasStarted else { throw BenchmarkFailure("the system cannot start another thread") }
        }
        finished.wait()
        let elapsed = (MonotonicClock.now - begin).inSeconds
        if let problem = problem.withLock({ $0 }) { throw BenchmarkFailure(problem) }
        let sorted = delays.withLock { $0.sorted() }
        guard !sorted.isEmpty else { throw BenchmarkFailure("nothing was recorded") }
        let counters = store.counters
        let minutes = Double(cameras * seconds) / 60
        return RecordingWriteMeasurement(
            cameras: cameras, recordedMinutes: minutes, mediaBytes: Double(counters.chunkBytes) / minutes,
            metadataBytes: Double(counters.metadataBytes) / minutes,
            diskBytes: Double(Self.bytesToDisk() - before) / minutes,
            fileSynchronizations: Double(counters.fileSynchronizations) / minutes,
            folderSynchronizations: Double(counters.folderSynchronizations) / minutes,
            p50Milliseconds: sorted[sorted.count / 2], p99Milliseconds: sorted[sorted.count * 99 / 100],
            timesRealTime: Double(seconds) / elapsed)
    }

    private static func record(_ device: String, seconds: Int, to store: RecordingStore) throws -> [Double] {
        let session = Self.session(device, start: Self.start, sequence: 1)
        try store.take(.began(session), of: session.id)
        var delays: [Double] = []
        for second in 0..<seconds {
            for (track, size) in [250_000, 4_000].enumerated() {
                let timescale = Int64(session.tracks[track].timescale)
                let chunk = RecordedChunk(
                    track: track, segment: UInt32(second / 4 + 1), beginsSegment: second % 4 == 0,
                    decodeTime: Int64(second) * timescale, duration: timescale,
                    wallTime: Self.start * 1_000 + Int64(second) * 1_000_000, beginsWithKeyFrame: second % 4 == 0,
                    bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: second), count: size))
                let begin = MonotonicClock.now
                try store.take(.chunk(chunk), of: session.id)
                delays.append((MonotonicClock.now - begin).inMilliseconds)
                guard second % 4 == 3 else { continue }
                try store.take(
                    .segmentEnded(
                        RecordedSegment(
                            track: track, segment: chunk.segment, decodeTime: Int64(second - 3) * timescale,
                            duration: 4 * timescale)), of: session.id)
            }
        }
        try store.take(
            .ended(RecordingEnd(at: (Self.start + Int64(seconds) * 1_000) * 1_000, reason: .cut)), of: session.id)
        return delays
    }

    private static func session(_ device: String, start: Int64, sequence: UInt32) -> RecordingSession {
        RecordingSession(
            id: .init(device: device, start: start, epoch: 1, sequence: sequence), connection: 1,
            number: UInt64(sequence), trigger: .init(kind: .continuous, reason: "continuous"), triggeredAt: start,
            tracks: [
                .init(
                    name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000,
                    initializationSegment: Data(count: 700), width: 1_920, height: 1_080),
                .init(
                    name: "audio", isVideo: false, codec: "opus", timescale: 48_000,
                    initializationSegment: Data(count: 600)),
            ])
    }

    /// What the kernel has written to disks for this process (`/proc/self/io`).
    private static func bytesToDisk() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("write_bytes:") }
        return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    }

    // MARK: The index

    /// Fills an index with a month of continuous recordings of ten minutes, and measures it.
    public func index(segments: Int) throws -> RecordingIndexMeasurement {
        let cameras = 20
        // Two tracks of segments of four seconds.
        let each = 300
        let recordings = max(cameras, segments / each)
        let perCamera = recordings / cameras
        let path = "\(folder)/index.sqlite"
        let layout = RecordingLayout(root: "\(folder)/index")
        do {
            let index = try SQLiteRecordingIndex(path: path)
            var batch: [IndexedRecording] = []
            for number in 0..<perCamera {
                for camera in 0..<cameras {
                    let one = Self.indexed("camera\(camera)", number, segments: each)
                    try FileManager.default.createDirectory(
                        atPath: layout.folder(of: one.summary.id), withIntermediateDirectories: true)
                    batch.append(one)
                }
                if batch.count >= 256 || number == perCamera - 1 {
                    try index.add(batch)
                    batch = []
                }
            }
        }
        var store: RecordingStore?
        let open = try Self.milliseconds { store = try self.open("index") }
        guard let store else { throw BenchmarkFailure("the store does not open") }
        let recover = try Self.milliseconds {
            let report = try store.recover()
            guard report == RecoveryReport() else { throw BenchmarkFailure("\(report)") }
        }
        var day = 0.0
        var daySegments = 0.0
        for number in 0..<max(1, min(30, perCamera / 144)) {
            let from = (Self.start + Int64(number) * 86_400_000) * 1_000
            let query = RecordingQuery(device: "camera7", from: from, until: from + 86_400_000_000)
            day = max(day, try Self.milliseconds { _ = try store.recordings(query) })
            daySegments = max(
                daySegments,
                try Self.milliseconds {
                    _ = try store.segments(of: "camera7", from: query.from, until: query.until)
                })
        }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        return RecordingIndexMeasurement(
            segments: perCamera * cameras * each, recordings: perCamera * cameras, fileBytes: size ?? 0,
            openMilliseconds: open, recoverMilliseconds: recover, dayMilliseconds: day,
            daySegmentsMilliseconds: daySegments,
            daysMilliseconds: try Self.milliseconds { _ = try store.days(of: "camera7") { _ in 0 } },
            totalsMilliseconds: try Self.milliseconds { _ = try store.totals() })
    }

    private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let begin = MonotonicClock.now
        try body()
        return (MonotonicClock.now - begin).inMilliseconds
    }

    private static func indexed(_ device: String, _ number: Int, segments: Int) -> IndexedRecording {
        let start = Self.start + Int64(number) * 600_000
        let session = Self.session(device, start: start, sequence: UInt32(number + 1))
        var stored: [StoredSegment] = []
        for track in 0..<2 {
            for index in 0..<Int64(segments / 2) {
                // Real segments differ a little in time and length.
                let wallTime = start * 1_000 + index * 4_000_000 + index * 7_919 % 997
                let size: Int64 = track == 0 ? 1_000_000 : 16_000
                stored.append(
                    StoredSegment(
                        track: track, number: UInt32(index + 1), decodeTime: index * 360_000, duration: 360_000,
                        wallTime: wallTime, byteCount: size + index * 104_729 % 50_000))
            }
        }
        return IndexedRecording(
            StoredRecording(
                session: session, segments: stored, gaps: [], triggers: [],
                end: RecordingEnd(at: (start + 600_000) * 1_000, reason: .cut),
                layout: RecordingLayout(root: "")))
    }
}
