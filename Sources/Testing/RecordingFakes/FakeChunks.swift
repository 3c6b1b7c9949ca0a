import Foundation
import PushAvStreamTransport
import Transport

/// Writes boxes (ISO/IEC 14496-12, section 4.2) for tests: independent of the writer in `FragmentedMP4`.
public enum FakeBoxes {
    /// A box.
    public static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
        let all = content.flatMap { $0 }
        return Self.number(UInt32(all.count + 8)) + Array(type.utf8) + all
    }

    /// An integer in network order.
    public static func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    /// A CMAF header without a track that could be played. `defaultDuration` is that of `trex`.
    public static func initialization(defaultDuration: UInt32 = 0) -> [UInt8] {
        let defaults = Self.box(
            "trex", Self.number(UInt32(0)), Self.number(UInt32(1)), Self.number(UInt32(1)),
            Self.number(defaultDuration), Self.number(UInt64(0)))
        return Self.box("ftyp", Array("cmf2".utf8), Self.number(UInt32(0)))
            + Self.box("moov", Self.box("mvhd", [UInt8](repeating: 0, count: 100)), Self.box("mvex", defaults))
    }

    /// A chunk of samples of equal length: `styp` before the first of a segment, `prft`, `moof` and `mdat`.
    public static func chunk(
        beginsSegment: Bool, decodeTime: Int64, durations: [UInt32], wallTime: Int64, payload: [UInt8]
    ) -> [UInt8] {
        let time = Self.box("tfdt", Self.number(UInt32(1) << 24), Self.number(decodeTime))
        var run = Self.number(UInt32(0x301)) + Self.number(UInt32(durations.count)) + Self.number(UInt32(0))
        var left = payload.count
        for (index, duration) in durations.enumerated() {
            let size = index == durations.count - 1 ? left : payload.count / durations.count
            run += Self.number(duration) + Self.number(UInt32(size))
            left -= size
        }
        let fragment = Self.box(
            "traf", Self.box("tfhd", Self.number(UInt32(0x02_0000)), Self.number(UInt32(1))), time,
            Self.box("trun", run))
        let (seconds, rest) = (wallTime / 1_000_000, wallTime % 1_000_000)
        let ntp = UInt64(seconds + 2_208_988_800) << 32 | UInt64(rest) << 32 / 1_000_000
        return (beginsSegment ? Self.box("styp", Array("cmfs".utf8), Self.number(UInt32(0))) : [])
            + Self.box(
                "prft", Self.number(UInt32(1) << 24), Self.number(UInt32(1)), Self.number(ntp),
                Self.number(decodeTime))
            + Self.box("moof", Self.box("mfhd", Self.number(UInt64(1))), fragment) + Self.box("mdat", payload)
    }
}

/// Makes the outputs of recordings from a seed: whole sessions with pictures and sound, gaps and triggers.
public struct FakeRecorder: Sendable {
    /// What it makes.
    public struct Shape: Sendable {
        /// How many chunks a session has at most, of all tracks, and how many a segment of pictures has.
        public var chunks = 24
        public var chunksInSegment = 1...4
        /// The bytes of a chunk's samples.
        public var payload = 1...200

        /// Small sessions.
        public init() {}
    }

    private var random: RandomSource
    private let shape: Shape
    private let device: String
    private let epoch: UInt64
    private var sequence: UInt32 = 0
    private var start: Int64

    /// Makes sessions of a device from a time on (milliseconds since 1970, UTC).
    public init(device: String, epoch: UInt64 = 1, start: Int64, seed: UInt64, shape: Shape = Shape()) {
        self.device = device
        self.epoch = epoch
        self.start = start
        self.random = RandomSource.seeded(seed)
        self.shape = shape
    }

    /// The outputs of the next session, from `began` to `ended`.
    public mutating func session() -> [RecordingOutput] {
        sequence += 1
        start += Int64.random(in: 0...5_000, using: &random)
        let id = RecordingSession.ID(device: device, start: start, epoch: epoch, sequence: sequence)
        let hasSound = Bool.random(using: &random)
        var tracks = [
            RecordingSession.Track(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000,
                initializationSegment: Data(FakeBoxes.initialization()), width: 1_280, height: 720)
        ]
        if hasSound {
            tracks.append(
                .init(
                    name: "audio", isVideo: false, codec: "opus", timescale: 48_000,
                    initializationSegment: Data(FakeBoxes.initialization())))
        }
        var outputs: [RecordingOutput] = [
            .began(
                RecordingSession(
                    id: id, connection: 1, number: UInt64(sequence),
                    trigger: .init(kind: .motion, reason: "motion in Driveway", events: ["e\(sequence)"]),
                    triggeredAt: start, tracks: tracks))
        ]
        var ended = appendChunks(of: tracks, to: &outputs)
        ended = max(ended, start * 1_000)
        outputs.append(.ended(RecordingEnd(at: ended, reason: .lengthReached)))
        start = ended / 1_000 + 1
        return outputs
    }

    /// The state of one track on the way.
    private struct Line {
        var segment: UInt32 = 1
        var begin: Int64 = 0
        var time: Int64 = 0
        var chunks = 0
        var chunksInSegment = 1
    }

    private mutating func appendChunks(
        of tracks: [RecordingSession.Track], to outputs: inout [RecordingOutput]
    ) -> Int64 {
        var lines = tracks.map { _ in Line() }
        var end: Int64 = 0
        for _ in 0..<Int.random(in: 0...shape.chunks, using: &random) {
            let track = Int.random(in: tracks.indices, using: &random)
            let timescale = Int64(tracks[track].timescale)
            var line = lines[track]
            if line.chunks == 0 {
                line.chunksInSegment = Int.random(in: shape.chunksInSegment, using: &random)
            }
            let durations = (0..<Int.random(in: 1...3, using: &random)).map { _ in UInt32(timescale / 10) }
            let duration = durations.reduce(0) { $0 + Int64($1) }
            let wallTime = start * 1_000 + line.time * 1_000_000 / timescale
            let payload = self.payload()
            outputs.append(
                .chunk(
                    RecordedChunk(
                        track: track, segment: line.segment, beginsSegment: line.chunks == 0, decodeTime: line.time,
                        duration: duration, wallTime: wallTime, beginsWithKeyFrame: line.chunks == 0,
                        bytes: FakeBoxes.chunk(
                            beginsSegment: line.chunks == 0, decodeTime: line.time, durations: durations,
                            wallTime: wallTime, payload: payload))))
            line.time += duration
            end = max(end, start * 1_000 + line.time * 1_000_000 / timescale)
            line.chunks += 1
            if line.chunks == line.chunksInSegment {
                outputs.append(
                    .segmentEnded(
                        RecordedSegment(
                            track: track, segment: line.segment, decodeTime: line.begin,
                            duration: line.time - line.begin)))
                line = Line(segment: line.segment + 1, begin: line.time, time: line.time)
            }
            lines[track] = line
            switch UInt8.random(in: 0..<16, using: &random) {
            case 0: outputs.append(.gap(RecordingGap(from: wallTime, until: end, reason: .loss)))
            case 1: outputs.append(.trigger(.init(kind: .command, reason: "press", events: ["p\(outputs.count)"])))
            default: break
            }
        }
        return end
    }

    private mutating func payload() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int.random(in: shape.payload, using: &random))
        var value = random.next()
        for index in bytes.indices {
            bytes[index] = UInt8(truncatingIfNeeded: value)
            value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        }
        return bytes
    }
}
