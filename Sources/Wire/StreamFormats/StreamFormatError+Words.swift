extension StreamFormatError: CustomStringConvertible {
    /// What is wrong, as the end of a sentence about a camera.
    public var description: String {
        switch self {
        case .notOfFormat(let format): "what the camera sends is not \(format.words)"
        case .damaged(let damage): "what the camera sends is damaged: \(damage.words)"
        case .encryptedTags: "the FLV stream is encrypted, which is not supported"
        case .encrypted(let encryption):
            "the stream is encrypted (\(encryption.words)), and only whole segments with METHOD=AES-128 can be decrypted. "
                + "Set the camera or the server to that, or switch its encryption off"
        case .tooLong(let item): "\(item.words) is longer than it may be"
        case .refused(let refusal): "the server refuses the stream: \(refusal.words)"
        }
    }
}

extension StreamFormatError.Format {
    fileprivate var words: String {
        switch self {
        case .transportStream: "an MPEG transport stream"
        case .flv: "FLV"
        case .rtmp: "RTMP"
        case .fragmentedMP4: "fragmented MP4"
        case .playlist: "a playlist (#EXTM3U is missing)"
        }
    }
}

extension StreamFormatError.Damage {
    /// What is damaged, as a sentence.
    var words: String {
        switch self {
        case .tagType(let type): "FLV has no tag of type \(type)"
        case .chunkSize: "RTMP's chunks have no length"
        case .initialization(let error): "in the initialization of the segments, \(error)"
        case .segment(let error): "in a segment, \(error)"
        case .undecryptableSegment: "a segment cannot be decrypted with the key that the playlist names"
        case .keyLength(let count): "the key of the stream has \(count) bytes instead of 16"
        case .noStream: "the playlist names no stream"
        case .nestedPlaylist: "a multivariant playlist came where a media playlist was expected"
        case .sequenceNumber: "the playlist's first number cannot be read"
        case .part: "the playlist names a part of a file that cannot be read"
        case .partWithoutPredecessor(let address):
            "the playlist names a part of \(address) that follows no other part of it"
        case .distantPart: "the playlist names a part that lies too far behind"
        case .initializationAddress: "an initialization has no address"
        case .initializationVectorMissing: "an encrypted initialization has no initialization vector"
        case .keyAddress: "a key of the stream has no address"
        case .initializationVector: "an initialization vector of the stream cannot be read"
        case .otherPart: "the server sends a different part of the file from the one that was requested"
        case .shortFile: "a file is shorter than the playlist says"
        }
    }
}

extension StreamFormatError.Encryption {
    fileprivate var words: String {
        switch self {
        case .method(let name): name
        case .keyFormat(let name): "a key for \(name)"
        }
    }
}

extension StreamFormatError.Item {
    /// What is too long, as the beginning of a sentence.
    var words: String {
        switch self {
        case .playlist: "the playlist"
        case .tag: "a tag of FLV"
        case .tagContent: "the content of FLV's tags"
        case .message: "a message of RTMP"
        case .messageContent: "the content of RTMP's messages"
        case .unfinishedMessages: "what waits of RTMP's messages"
        case .chunkStreams: "the list of RTMP's chunk streams"
        case .box: "a box of MP4"
        case .fragmentContent: "the content of a fragment of MP4"
        }
    }
}

extension StreamFormatError.Refusal {
    fileprivate var words: String {
        switch self {
        case .said(let words): words
        case .withoutReason: "it gives no reason"
        case .closed: "it has closed the connection"
        case .unpublished: "nobody publishes it any longer"
        }
    }
}
