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
        self.init(file: file, media: negotiated.media.filter { $0.direction.receives })
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(file: FileHandle, media: [NegotiatedMedia]) {
        self.file = file
        self.media = media
    }

    /// Writes an event that holds media.
    mutating func take(_ event: ViewingEvent) throws {
        switch event {
        case .frame(let frame):
            if writer == nil, frame.isKeyFrame { try open(with: frame) }
            guard let videoTrack, let track = writer?.tracks[videoTrack] else { return }
            try append(
                MP4Sample(picture: frame.data, isKeyFrame: frame.isKeyFrame, track: track, decodeTime: 0),
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
            let codec = description.codec
            if description.kind == .video {
                videoTrack = tracks.count
                tracks.append(
                    try frame.data.withUnsafeBytes { keyFrame throws(MP4Error) in
                        try MP4Track(videoCodec: codec.name, clockRate: codec.clockRate, keyFrame: keyFrame)
                    })
            } else {
                audioTrack = tracks.count
                tracks.append(
                    try MP4Track(audioCodec: codec.name, clockRate: codec.clockRate, channels: codec.channels))
            }
        }
        let writer = try FragmentedMP4Writer(tracks: tracks)
        clocks = tracks.map { _ in TimestampUnwrapper() }
        origins = tracks.map { _ in nil }
        lastTimes = tracks.map { _ in -1 }
        try file.write(contentsOf: Data(writer.initializationSegment))
        self.writer = writer
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
