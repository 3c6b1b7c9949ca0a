/// Why something cannot be written into a file.
public enum MP4Error: Error, Hashable, Sendable {
    /// No track has this index.
    case unknownTrack(Int)
    /// A sample's time is not after the time of the sample before it on the same track.
    case timeNotRising(track: Int, decodeTime: Int64, previous: Int64)
    /// The description of the track with this index cannot be written.
    case invalidTrack(Int, TrackFault)
    /// A stream cannot be described: files of this kind do not support the codec of this name, or the stream lacks what
    /// they need.
    case unsupportedCodec(String, CodecFault)
    /// The sample holds nothing, or more than a file can hold.
    case invalidSample(track: Int, length: Int)
    /// A track of pictures begins, or a segment of it, with a sample that cannot be decoded alone.
    case noKeyFrame(decodeTime: Int64)

    /// What is wrong with the description of a track.
    public enum TrackFault: Hashable, Sendable {
        /// So many ticks in a second cannot be written.
        case timescale(Int)
        /// Pictures of this size, in pixels, cannot be written.
        case pictureSize(width: Int, height: Int)
        /// AV1's sequence header cannot have so many bytes.
        case sequenceHeader(byteCount: Int)
        /// H.265 lacks parameter sets, or has too many.
        case h265ParameterSets
        /// H.264 lacks sequence parameter sets, or has too many.
        case h264SequenceParameterSets
        /// H.264 lacks picture parameter sets, or has too many.
        case h264PictureParameterSets
        /// A parameter set is empty or too long.
        case parameterSetLength
        /// Opus cannot skip so many samples at the beginning.
        case preSkip(Int)
        /// The codec cannot have so many channels in a file.
        case channels(Int, limit: Int)
        /// AAC's configuration is missing or too long, or its sample rate cannot be written.
        case audioSpecificConfig
    }

    /// Why a stream cannot be described.
    public enum CodecFault: Hashable, Sendable {
        /// Files of this kind do not hold pictures of this codec.
        case notForPictures
        /// Files of this kind do not hold sound of this codec.
        case notForSound
        /// The key frame does not say how large the pictures are.
        case noPictureSize
        /// AAC's configuration is missing, or cannot be read.
        case noAudioSpecificConfig
    }
}
