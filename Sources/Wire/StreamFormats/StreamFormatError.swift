import FragmentedMP4

/// Why a stream cannot be read.
public enum StreamFormatError: Error, Hashable, Sendable {
    /// The bytes are not of the format.
    case notOfFormat(Format)
    /// The bytes are damaged.
    case damaged(Damage)
    /// The tags of an FLV stream are encrypted, which is not supported.
    case encryptedTags
    /// The segments of a playlist are encrypted in a way that is not supported.
    case encrypted(Encryption)
    /// Something is longer than it may be.
    case tooLong(Item)
    /// The server has refused what was asked for.
    case refused(Refusal)

    /// What the bytes were expected to be.
    public enum Format: Hashable, Sendable {
        /// An MPEG transport stream (ISO/IEC 13818-1).
        case transportStream
        /// FLV.
        case flv
        /// RTMP.
        case rtmp
        /// Fragmented MP4 (ISO/IEC 14496-12).
        case fragmentedMP4
        /// A playlist (RFC 8216). It does not begin with `#EXTM3U`.
        case playlist
    }

    /// What is damaged.
    public enum Damage: Hashable, Sendable {
        /// An FLV tag has an unknown type.
        case tagType(UInt8)
        /// The RTMP chunk size is 0.
        case chunkSize
        /// The initialization of a playlist's segments.
        case initialization(MP4ReadError)
        /// A segment of a playlist.
        case segment(MP4ReadError)
        /// A segment cannot be decrypted with the key that the playlist names.
        case undecryptableSegment
        /// The key of a playlist's segments is not 16 bytes long.
        case keyLength(Int)
        /// A multivariant playlist names no stream.
        case noStream
        /// A multivariant playlist came where a media playlist was expected.
        case nestedPlaylist
        /// The number of a playlist's first segment.
        case sequenceNumber
        /// A segment is a part of a file that cannot be read as one.
        case part
        /// A segment continues a file of which no part came before. Holds the address of the file without its query.
        case partWithoutPredecessor(address: String)
        /// A segment is a part that lies too far behind.
        case distantPart
        /// An initialization has no address.
        case initializationAddress
        /// An encrypted initialization has no initialization vector.
        case initializationVectorMissing
        /// A key has no address.
        case keyAddress
        /// An initialization vector.
        case initializationVector
        /// The server sends a different part of a file from the one that was requested.
        case otherPart
        /// A file ends before a part that the playlist names.
        case shortFile
    }

    /// How the segments of a playlist are encrypted.
    public enum Encryption: Hashable, Sendable {
        /// By a method of this name.
        case method(String)
        /// By AES-128 with a key in a format of this name.
        case keyFormat(String)
    }

    /// What is too long.
    public enum Item: Hashable, Sendable {
        /// A playlist.
        case playlist
        /// An FLV tag.
        case tag
        /// The content of FLV tags.
        case tagContent
        /// An RTMP message.
        case message
        /// The content of RTMP messages.
        case messageContent
        /// The parts of incomplete RTMP messages.
        case unfinishedMessages
        /// The list of RTMP's chunk streams.
        case chunkStreams
        /// An MP4 box.
        case box
        /// The content of an MP4 fragment.
        case fragmentContent
    }

    /// How a server refuses a stream.
    public enum Refusal: Hashable, Sendable {
        /// In these words, as far as they can be printed.
        case said(String)
        /// It gives no reason.
        case withoutReason
        /// It has closed the connection.
        case closed
        /// Nobody publishes the stream any longer.
        case unpublished
    }
}
