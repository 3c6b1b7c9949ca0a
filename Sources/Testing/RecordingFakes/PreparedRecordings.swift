import Codecs
import Foundation
import FragmentedMP4
import PushAvStreamTransport

/// A store with recordings of the tests: pictures whose bytes nobody can decode, with exact times.
public struct PreparedRecordings: Sendable {
    /// The store.
    public let store: RecordingStore

    /// Opens a store in a folder that exists.
    public init(folder: String) throws {
        self.store = try RecordingStore(
            root: folder + "/recordings", index: MemoryRecordingIndex(), now: { 1_795_341_600_000 })
    }

    /// Adds a recording: 25 pictures a second with a key frame each second, and packets of sound of 20 ms.
    /// - Parameters:
    ///   - start: milliseconds since 1970.
    ///   - length: of one sample, in bytes; it varies a little.
    ///   - missing: the seconds of which nothing came.
    ///   - codec: the codec of the pictures; VP8 by default.
    ///   - keyFrames: what the key frame of each second is, in turn; bytes that nobody can decode without them.
    ///   - end: why it ended; nil to let it run.
    @discardableResult
    public func add(
        device: String = "door", start: Int64, seconds: Int, sequence: UInt32 = 1, connection: UInt16 = 1,
        width: Int = 320, kind: RecordingSession.Trigger.Kind = .motion, length: Int = 40, segmentSeconds: Int = 2,
        missing: Range<Int> = 0..<0, codec: MP4Track.Codec? = nil, keyFrames: [[UInt8]] = [],
        end: RecordingEnd.Reason? = .lengthReached
    ) throws -> RecordingSession {
        let codec = codec ?? .vp8(width: width, height: 180)
        let tracks = [
            MP4Track(codec: codec, timescale: 90_000),
            MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: 48_000),
        ]
        var writers = try tracks.map {
            try CMAFTrackWriter(
                track: $0,
                parameters: CMAFParameters(
                    segmentDuration: .seconds(segmentSeconds), chunkDuration: .seconds(1)), start: start * 1_000_000)
        }
        let session = RecordingSession(
            id: .init(device: device, start: start, epoch: 1, sequence: sequence), connection: connection, number: 1,
            trigger: .init(kind: kind, reason: "motion in Driveway", events: kind == .continuous ? [] : ["7"]),
            triggeredAt: start + 500,
            tracks: [
                .init(
                    name: "main", isVideo: true, codec: tracks[0].codecName, timescale: 90_000,
                    initializationSegment: Data(writers[0].header), width: width, height: 180),
                .init(
                    name: "sound", isVideo: false, codec: tracks[1].codecName, timescale: 48_000,
                    initializationSegment: Data(writers[1].header)),
            ])
        try store.take(.began(session), of: session.id)
        var outputs: [(track: Int, output: CMAFOutput)] = []
        for index in 0..<seconds * 50 where !missing.contains(index / 50) {
            // What comes first after a gap begins a segment.
            let isAfterGap = index / 50 == missing.upperBound && index.isMultiple(of: 50) && !missing.isEmpty
            if index.isMultiple(of: 2) {
                let isKeyFrame = index.isMultiple(of: 50)
                let picture =
                    isKeyFrame && !keyFrames.isEmpty
                    ? keyFrames[index / 50 % keyFrames.count] : Self.bytes(index / 2, 0, length)
                let sample = MP4Sample(
                    data: Self.sample(picture, codec, isKeyFrame: isKeyFrame), decodeTime: Int64(index / 2) * 3_600,
                    isKeyFrame: isKeyFrame)
                try writers[0].append(
                    sample, startsSegment: isAfterGap ? true : nil, previousDuration: isAfterGap ? 3_600 : nil
                ) { outputs.append((0, $0)) }
            }
            let packet = MP4Sample(
                data: Self.bytes(index, 1, max(8, length / 16)), decodeTime: Int64(index) * 960, isKeyFrame: true)
            try writers[1].append(
                packet, startsSegment: isAfterGap ? true : nil, previousDuration: isAfterGap ? 960 : nil
            ) { outputs.append((1, $0)) }
            for (track, output) in outputs { try take(output, track, session.id) }
            outputs = []
        }
        for index in writers.indices { writers[index].finish { outputs.append((index, $0)) } }
        for (track, output) in outputs { try take(output, track, session.id) }
        if let end {
            try store.take(
                .ended(.init(at: (start + Int64(seconds) * 1_000) * 1_000, reason: end)), of: session.id)
        }
        return session
    }

    /// Key frames of 64 × 48 pixels that can be decoded: those of the first `count` seconds, each brighter than the one
    /// before (``brightness(ofKeyFrame:)``).
    public static func keyFrames(_ count: Int) throws -> [[UInt8]] {
        var encoder = try VP8Encoder(
            VP8Encoder.Configuration(width: 64, height: 48, framesPerSecond: 25, bitsPerSecond: 500_000))
        return try (0..<count).map { index in
            var frame = I420Frame(width: 64, height: 48)
            frame.luma = Array(repeating: brightness(ofKeyFrame: index), count: frame.luma.count)
            return try encoder.encode(frame, asKeyFrame: true) { bytes, _ in Array(bytes) }
        }
    }

    /// The luma of all pixels of one of ``keyFrames(_:)``.
    public static func brightness(ofKeyFrame index: Int) -> UInt8 { UInt8(30 + index % 7 * 30) }

    /// The bytes of a sample.
    public static func bytes(_ index: Int, _ track: Int, _ length: Int) -> [UInt8] {
        // Sizes differ, so that a shifted table does not go unnoticed.
        (0..<length + index % 5).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index &* 3 &+ track &* 101) }
    }

    /// A picture as the file holds it: for H.264 and H.265, a slice after its length.
    private static func sample(_ picture: [UInt8], _ codec: MP4Track.Codec, isKeyFrame: Bool) -> [UInt8] {
        let header: [UInt8]
        switch codec {
        case .h264: header = [isKeyFrame ? 0x65 : 0x41]
        case .h265: header = [(isKeyFrame ? 19 : 1) << 1, 1]
        default: return picture
        }
        let length = UInt32(header.count + picture.count)
        return withUnsafeBytes(of: length.bigEndian) { Array($0) } + header + picture
    }

    private func take(_ output: CMAFOutput, _ track: Int, _ id: RecordingSession.ID) throws {
        switch output {
        case .chunk(let chunk):
            try store.take(
                .chunk(
                    RecordedChunk(
                        track: track, segment: chunk.segment, beginsSegment: chunk.beginsSegment,
                        decodeTime: chunk.decodeTime, duration: chunk.duration, wallTime: chunk.wallTime / 1_000,
                        beginsWithKeyFrame: chunk.beginsWithKeyFrame, bytes: chunk.bytes)), of: id)
        case .segmentEnd(let segment):
            try store.take(
                .segmentEnded(
                    RecordedSegment(
                        track: track, segment: segment.number, decodeTime: segment.decodeTime,
                        duration: segment.duration)), of: id)
        }
    }
}
