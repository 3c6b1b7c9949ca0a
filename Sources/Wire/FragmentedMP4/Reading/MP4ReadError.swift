/// Why bytes cannot be read as MP4.
public enum MP4ReadError: Error, Hashable, Sendable {
    /// A box that cannot be used, with the four characters of its type and the byte of the file where it begins.
    case invalidBox(String, offset: Int64, BoxFault)
    /// The header of the box that begins at this byte of the file is not whole.
    case cutOff(offset: Int64)
    /// A box that has to be there is missing; has the four characters of its type.
    case missingBox(String)
    /// A track does not describe its samples.
    case missingSampleEntry
    /// Something is larger than any recording needs. The limit is in bytes, samples or tracks.
    case tooLarge(Part, limit: Int)
    /// The bytes are MP4, but use what is not supported.
    case unsupported(Feature)

    /// What is wrong with a box.
    public enum BoxFault: Hashable, Sendable {
        /// It ends before its fields do.
        case tooShort
        /// It is longer than the box around it, or shorter than its own header.
        case doesNotFit
        /// Its length, or that of its samples, is one that no file can have.
        case impossibleLength
        /// A `tfdt` has no decode time that can be used.
        case noTime
        /// A `prft` has no media time that can be used.
        case noMediaTime
        /// A `tkhd` has no track number.
        case noTrackNumber
        /// An `mdhd` has no timescale that can be used.
        case noTimescale
        /// A `trak` has the number of an earlier one.
        case repeatedTrackNumber
        /// A `tfhd` names a track that the header does not have.
        case unknownTrack(UInt32)
        /// A second `moof` follows instead of the media of the first.
        case noMedia
        /// A `trun` announces more samples than it has.
        case fewerSamples
        /// The samples of a `trun` have more bytes than the media.
        case moreSamplesThanMedia
        /// A `trun` places samples before or behind the media.
        case samplesOutsideMedia
        /// It has an offset that no file needs.
        case offsetOutOfRange
        /// The times of its samples are larger than any camera means.
        case timeTooLarge
    }

    /// What can be too large.
    public enum Part: Hashable, Sendable {
        /// The header of a file, in bytes.
        case header
        /// The number of tracks in a header.
        case tracks
        /// What comes before the media of a chunk, in bytes.
        case headerOfChunk
        /// The number of samples in a chunk.
        case samplesOfChunk
        /// The number of samples in a fragment.
        case samplesOfFragment
        /// What the samples of a fragment become, in bytes.
        case contentOfFragment
    }

    /// What is not supported.
    public enum Feature: Hashable, Sendable {
        /// A fragment with several tracks.
        case severalTracksInFragment
        /// A fragment that names places in a file instead of its own.
        case placesInFile
        /// A track with several descriptions of its samples, or with none.
        case severalDescriptions
        /// A fragment whose samples have another description than the first.
        case secondDescription
    }
}
