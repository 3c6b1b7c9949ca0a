extension MP4Error: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownTrack(let track): "track \(track) does not exist"
        case .timeNotRising(let track, let decodeTime, let previous):
            "track \(track): the sample at \(decodeTime) does not come after the one at \(previous)"
        case .invalidTrack(let track, let fault): "track \(track): \(fault.words)"
        case .unsupportedCodec(let name, let fault): "\(name) cannot be written: \(fault.words)"
        case .invalidSample(let track, let length): "track \(track): a sample of \(length) bytes cannot be written"
        case .noKeyFrame(let decodeTime): "the sample at \(decodeTime) would begin a segment and is not a key frame"
        }
    }
}

extension MP4Error.TrackFault {
    fileprivate var words: String {
        switch self {
        case .timescale(let timescale): "the timescale \(timescale) is out of range"
        case .pictureSize(let width, let height): "\(width) × \(height) is not a picture size"
        case .sequenceHeader(let byteCount): "a sequence header of \(byteCount) bytes is not possible"
        case .h265ParameterSets: "H.265 needs video, sequence and picture parameter sets, 255 of each at most"
        case .h264SequenceParameterSets: "H.264 needs one to 31 sequence parameter sets of at least four bytes"
        case .h264PictureParameterSets: "H.264 needs one to 255 picture parameter sets"
        case .parameterSetLength: "a parameter set is empty or too long"
        case .preSkip(let count): "a pre-skip of \(count) is out of range"
        case .channels(let count, let limit): "\(count) channels are not supported, 1 to \(limit) are"
        case .audioSpecificConfig: "AAC needs an AudioSpecificConfig of two to 64 bytes"
        }
    }
}

extension MP4Error.CodecFault {
    fileprivate var words: String {
        switch self {
        case .notForPictures: "MP4 files of pictures hold H264, H265, VP8, VP9 and AV1"
        case .notForSound: "MP4 files of sound hold opus, PCMU, PCMA and AAC"
        case .noPictureSize: "its key frame does not say how large the pictures are"
        case .noAudioSpecificConfig: "AAC needs the configuration of its session description"
        }
    }
}
