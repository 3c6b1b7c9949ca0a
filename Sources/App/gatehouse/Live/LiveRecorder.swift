import Foundation
import FragmentedMP4
import LiveViewClient
import RTP
import SDP

/// Writes the media of a view into a fragmented MP4 file as it arrives. The part that was written plays, however the
/// command ends.
struct LiveRecorder: ~Copyable {
    /// A file can no longer be written.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let file: FileHandle
    private let media: [NegotiatedMedia]
    private var writer: FragmentedMP4Writer?
    private var videoTrack: Int?
    private var audioTrack: Int?
    private var clocks: [TimestampUnwrapper] = []
    private var origins: [Int64?] = []
    private var lastTimes: [Int64] = []

    init(path: String, negotiated: NegotiatedSession) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw Failure(description: "\(path) cannot be written; name a file in a folder that you may write") }
        self.file = file
        media = negotiated.media.filter { $0.direction.receives }
    }

    /// Writes an event that holds media.
    mutating func take(_ event: ViewingEvent) throws {
        switch event {
        case .frame(let frame):
            if writer == nil, frame.isKeyFrame { try open(with: frame) }
            guard let videoTrack else { return }
            let isH264 = media.contains { $0.codec.isNamed("H264") }
            try append(
                MP4Sample(
                    data: isH264 ? MP4Sample.lengthPrefixed(annexB: frame.data) : frame.data,
                    decodeTime: 0, isKeyFrame: frame.isKeyFrame),
                timestamp: frame.timestamp, to: videoTrack)
        case .audio(let packet):
            guard let audioTrack, writer != nil else { return }
            try append(
                MP4Sample(data: packet.payload, decodeTime: 0, isKeyFrame: true), timestamp: packet.timestamp,
                to: audioTrack)
        default:
            break
        }
    }

    /// Writes the waiting samples and closes the file.
    mutating func finish() throws {
        if let bytes = writer?.finish() { try file.write(contentsOf: Data(bytes)) }
        try file.close()
    }

    private mutating func open(with frame: EncodedFrame) throws {
        var tracks: [MP4Track] = []
        for description in media {
            guard let codec = codec(of: description, frame) else { continue }
            if description.kind == .video { videoTrack = tracks.count } else { audioTrack = tracks.count }
            tracks.append(MP4Track(codec: codec, timescale: description.codec.clockRate))
        }
        let writer = try FragmentedMP4Writer(tracks: tracks)
        clocks = tracks.map { _ in TimestampUnwrapper() }
        origins = tracks.map { _ in nil }
        lastTimes = tracks.map { _ in -1 }
        try file.write(contentsOf: Data(writer.initializationSegment))
        self.writer = writer
    }

    private func codec(of description: NegotiatedMedia, _ frame: EncodedFrame) -> MP4Track.Codec? {
        switch description.codec.name.lowercased() {
        case "vp8":
            return frame.data.withUnsafeBytes { bytes in
                VP8.FrameHeader(parsing: bytes).map { .vp8(width: Int($0.width), height: Int($0.height)) }
            }
        case "h264":
            return frame.data.withUnsafeBytes { bytes in
                var sets: (sequence: [[UInt8]], picture: [[UInt8]]) = ([], [])
                for unit in AnnexBUnits(bytes) {
                    switch unit.first.map({ $0 & 31 }) {
                    case 7: sets.sequence.append(Array(unit))
                    case 8: sets.picture.append(Array(unit))
                    default: break
                    }
                }
                let size = sets.sequence.first?.withUnsafeBytes { H264.SequenceParameterSet(parsing: $0) }
                guard let size else { return nil }
                return .h264(
                    width: size.width, height: size.height, sequenceParameterSets: sets.sequence,
                    pictureParameterSets: sets.picture)
            }
        case "opus": return .opus(channels: description.codec.channels, preSkip: 0)
        case "pcmu": return .muLaw(channels: 1)
        case "pcma": return .aLaw(channels: 1)
        default: return nil
        }
    }

    private mutating func append(_ sample: MP4Sample, timestamp: UInt32, to track: Int) throws {
        let time = clocks[track].unwrap(timestamp)
        let origin = origins[track] ?? time
        origins[track] = origin
        var sample = sample
        sample.decodeTime = time - origin
        // A source that restarts may repeat a timestamp. A file must not.
        guard sample.decodeTime > lastTimes[track] else { return }
        lastTimes[track] = sample.decodeTime
        if let bytes = try writer?.append(sample, track: track) { try file.write(contentsOf: Data(bytes)) }
    }
}
