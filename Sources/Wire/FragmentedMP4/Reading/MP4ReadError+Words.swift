extension MP4ReadError: CustomStringConvertible {
    /// What is wrong, as people read it after the path of the file or the name of the stream.
    public var description: String {
        switch self {
        case .invalidBox(let type, let offset, let fault): "the box \(type) at byte \(offset) \(fault.words)"
        case .cutOff(let offset): "the box at byte \(offset) is cut off"
        case .missingBox(let type): "the box \(type) is missing"
        case .missingSampleEntry: "the description of a track's samples is missing"
        case .tooLarge(let part, let limit): part.words(limit)
        case .unsupported(let feature): "\(feature.words) is not supported"
        }
    }
}

extension MP4ReadError.BoxFault {
    /// What is wrong, after the name of the box.
    fileprivate var words: String {
        switch self {
        case .tooShort: "is too short"
        case .doesNotFit: "does not fit into the box around it"
        case .impossibleLength: "has an impossible length"
        case .noTime: "has no time"
        case .noMediaTime: "has no media time"
        case .noTrackNumber: "has no track number"
        case .noTimescale: "has no timescale"
        case .repeatedTrackNumber: "repeats the number of another track"
        case .unknownTrack(let identifier): "names track \(identifier), which the header does not have"
        case .noMedia: "has no media before the next one"
        case .fewerSamples: "has fewer samples than it says"
        case .moreSamplesThanMedia: "has more samples than the media that follow"
        case .samplesOutsideMedia: "places samples outside of the media that follow"
        case .offsetOutOfRange: "has an offset out of range"
        case .timeTooLarge: "has a time that is too large"
        }
    }
}

extension MP4ReadError.Part {
    fileprivate func words(_ limit: Int) -> String {
        switch self {
        case .header: "the header has more than \(limit) bytes"
        case .tracks: "the header has more than \(limit) tracks"
        case .headerOfChunk: "the header of a chunk has more than \(limit) bytes"
        case .samplesOfChunk: "a chunk has more than \(limit) samples"
        case .samplesOfFragment: "a fragment has more than \(limit) samples"
        case .contentOfFragment: "a fragment has more than \(limit) bytes of content"
        }
    }
}

extension MP4ReadError.Feature {
    fileprivate var words: String {
        switch self {
        case .severalTracksInFragment: "a fragment with several tracks"
        case .placesInFile: "a fragment that names places in a file"
        case .severalDescriptions: "a track with several descriptions of its samples"
        case .secondDescription: "a second description of the samples"
        }
    }
}
