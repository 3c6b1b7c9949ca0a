import Codecs
import FragmentedMP4
import Stations

/// A picture of a recording: the key frame that is nearest to a moment.
public struct RecordingPicture: Sendable {
    /// The picture.
    public var frame: I420Frame
    /// When it was captured, in microseconds since 1970, UTC.
    public var time: Int64

    /// The recording that has the picture nearest to a moment, in microseconds since 1970, UTC.
    public static func recording(
        of device: String, at moment: Int64, in store: any RecordingReading
    ) throws(PlaybackError) -> StoredRecording {
        // Key frames are rarely farther apart than this.
        let reach: Int64 = 10_000_000
        let footage: RecordedRange
        do throws(PlaybackError) {
            footage = try RecordedRange(of: device, from: moment, until: moment + 1, in: store)
        } catch .nothingRecorded {
            footage = try RecordedRange(of: device, from: moment - reach, until: moment + reach, in: store)
        }
        guard let piece = footage.pieces.min(by: { $0.distance(to: moment) < $1.distance(to: moment) }) else {
            throw .nothingRecorded
        }
        return piece.recording
    }

    /// Decodes the key frame of one recording nearest to a moment.
    public init(of recording: StoredRecording, at moment: Int64) throws(PlaybackError) {
        guard let piece = RecordedRange.Piece(recording, recording.segments, from: .min, until: .max) else {
            throw .nothingRecorded
        }
        try self.init(piece, at: moment)
    }

    private init(_ piece: RecordedRange.Piece, at moment: Int64) throws(PlaybackError) {
        let session = piece.recording.session
        guard let index = piece.tracks.first(where: { session.tracks[$0].isVideo }) else {
            throw .noPictures
        }
        let scale = session.tracks[index].timescale
        let segments = piece.segments(ofTrack: index)
        // The segment that holds the moment, or else the nearest one.
        func distance(_ segment: StoredSegment) -> Int64 {
            max(segment.wallTime - moment, moment - segment.end(timescale: scale), 0)
        }
        guard let segment = segments.min(by: { distance($0) < distance($1) }) else { throw .nothingRecorded }
        let header: MP4Header
        let path = piece.recording.path(of: segment)
        do throws(MP4ReadError) {
            header = try MP4Header(Array(session.tracks[index].initializationSegment))
        } catch {
            throw .unreadable(path: path, reason: .format(error))
        }
        let file = try RecordedFile(path: path)
        var best: (offset: Int64, size: Int, time: Int64)?
        try file.chunks(MP4ChunkReader(header: header), length: segment.byteCount) { chunk in
            var ticks = chunk.decodeTime
            for run in chunk.runs {
                var place = run.offset
                for sample in run.samples {
                    let shown = ticks - segment.decodeTime + Int64(sample.compositionOffset)
                    let time = segment.wallTime + Int64(Double(shown) * 1_000_000 / Double(max(1, scale)))
                    if sample.isSync, abs(time - moment) < best.map({ abs($0.time - moment) }) ?? .max {
                        best = (place, Int(sample.size), time)
                    }
                    place += Int64(sample.size)
                    ticks += Int64(sample.duration)
                }
            }
            return true
        }
        guard let best else { throw .noKeyFrame }
        guard best.size <= 8 << 20 else { throw .unreadable(path: path, reason: .largeKeyFrame) }
        let sample = try file.read(best.size, at: best.offset)
        do throws(CodecError) {
            frame = try Self.decode(sample, header.tracks[0])
        } catch {
            throw .unreadable(path: path, reason: .undecodableKeyFrame(error))
        }
        time = best.time
    }

    /// The picture as JPEG, at most so many pixels across. Only some are made at once in the whole process: others wait.
    /// - Parameter make: decodes the picture.
    public static func jpeg(
        maximumWidth: Int, _ make: @escaping @Sendable () throws(PlaybackError) -> RecordingPicture
    ) async throws(PlaybackError) -> (jpeg: [UInt8], time: Int64) {
        await ImageWork.shared.begin()
        defer { ImageWork.shared.end() }
        return try await ImageWork.onThread { () -> Result<(jpeg: [UInt8], time: Int64), PlaybackError> in
            do throws(PlaybackError) {
                let picture = try make()
                do throws(CodecError) {
                    let size = picture.frame.size(within: maximumWidth, I420Frame.maximumSide)
                    let frame =
                        picture.frame.width > maximumWidth
                        ? picture.frame.scaled(toWidth: size.width, height: size.height) : picture.frame
                    return .success((try JPEGEncoder.encode(frame, quality: 75), picture.time))
                } catch {
                    throw PlaybackError.pictureNotEncoded(error)
                }
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private static func decode(_ sample: [UInt8], _ track: MP4Header.Track) throws(CodecError) -> I420Frame {
        let codec: VideoDecoder.Codec? =
            switch track.format {
            case "avc1", "avc3": .h264
            case "hvc1", "hev1": .h265
            case "vp08": .vp8
            case "vp09": .vp9
            case "av01": .av1
            default: nil
            }
        guard let codec else {
            throw CodecError(codec: track.format, operation: "decode", reason: "its format has no decoder here")
        }
        var frame = sample
        if codec == .h264 || codec == .h265 {
            guard let sets = track.parameterSets, let units = MP4Header.Track.annexB(sample) else {
                throw CodecError(codec: codec.rawValue, operation: "decode", reason: "its units cannot be read")
            }
            frame = sets + units
        }
        let decoder = try VideoDecoder(codec)
        var newest = try decoder.decode(frame)
        if newest == nil { try decoder.finish { newest = $0.frame } }
        guard let newest else {
            throw CodecError(codec: codec.rawValue, operation: "decode", reason: "the decoder returned no picture")
        }
        return newest
    }
}

extension RecordedRange.Piece {
    fileprivate func distance(to moment: Int64) -> Int64 {
        max(range.lowerBound - moment, moment - range.upperBound, 0)
    }
}
