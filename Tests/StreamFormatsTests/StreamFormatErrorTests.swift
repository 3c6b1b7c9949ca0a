import FragmentedMP4
import StreamFormats
import Testing

/// What people read when a stream cannot be played.
struct StreamFormatErrorTests {
    static let errors: [(StreamFormatError, String)] = [
        (.notOfFormat(.transportStream), "what the camera sends is not an MPEG transport stream"),
        (.notOfFormat(.flv), "what the camera sends is not FLV"),
        (.notOfFormat(.rtmp), "what the camera sends is not RTMP"),
        (.notOfFormat(.fragmentedMP4), "what the camera sends is not fragmented MP4"),
        (.notOfFormat(.playlist), "what the camera sends is not a playlist (#EXTM3U is missing)"),
        (.damaged(.tagType(3)), "what the camera sends is damaged: FLV has no tag of type 3"),
        (.damaged(.chunkSize), "what the camera sends is damaged: RTMP's chunks have no length"),
        (
            .damaged(.initialization(.missingBox("moov"))),
            "what the camera sends is damaged: in the initialization of the segments, the box moov is missing"
        ),
        (
            .damaged(.segment(.missingBox("tfhd"))),
            "what the camera sends is damaged: in a segment, the box tfhd is missing"
        ),
        (
            .damaged(.undecryptableSegment),
            "what the camera sends is damaged: a segment cannot be decrypted with the key that the playlist names"
        ),
        (.damaged(.keyLength(9)), "what the camera sends is damaged: the key of the stream has 9 bytes instead of 16"),
        (.damaged(.noStream), "what the camera sends is damaged: the playlist names no stream"),
        (
            .damaged(.nestedPlaylist),
            "what the camera sends is damaged: a multivariant playlist came where a media playlist was expected"
        ),
        (.damaged(.sequenceNumber), "what the camera sends is damaged: the playlist's first number cannot be read"),
        (.damaged(.part), "what the camera sends is damaged: the playlist names a part of a file that cannot be read"),
        (
            .damaged(.partWithoutPredecessor(address: "a")),
            "what the camera sends is damaged: the playlist names a part of a that follows no other part of it"
        ),
        (
            .damaged(.distantPart),
            "what the camera sends is damaged: the playlist names a part that lies too far behind"
        ),
        (.damaged(.initializationAddress), "what the camera sends is damaged: an initialization has no address"),
        (
            .damaged(.initializationVectorMissing),
            "what the camera sends is damaged: an encrypted initialization has no initialization vector"
        ),
        (.damaged(.keyAddress), "what the camera sends is damaged: a key of the stream has no address"),
        (
            .damaged(.initializationVector),
            "what the camera sends is damaged: an initialization vector of the stream cannot be read"
        ),
        (
            .damaged(.otherPart),
            "what the camera sends is damaged: the server sends a different part of the file from the one that was "
                + "requested"
        ),
        (.damaged(.shortFile), "what the camera sends is damaged: a file is shorter than the playlist says"),
        (.encryptedTags, "the FLV stream is encrypted, which is not supported"),
        (
            .encrypted(.method("SAMPLE-AES")),
            "the stream is encrypted (SAMPLE-AES), and only whole segments with METHOD=AES-128 can be decrypted. Set the "
                + "camera or the server to that, or switch its encryption off"
        ),
        (
            .encrypted(.keyFormat("com.example")),
            "the stream is encrypted (a key for com.example), and only whole segments with METHOD=AES-128 can be decrypted. "
                + "Set the camera or the server to that, or switch its encryption off"
        ),
        (.tooLong(.playlist), "the playlist is longer than it may be"),
        (.tooLong(.tag), "a tag of FLV is longer than it may be"),
        (.tooLong(.tagContent), "the content of FLV's tags is longer than it may be"),
        (.tooLong(.message), "a message of RTMP is longer than it may be"),
        (.tooLong(.messageContent), "the content of RTMP's messages is longer than it may be"),
        (.tooLong(.unfinishedMessages), "what waits of RTMP's messages is longer than it may be"),
        (.tooLong(.chunkStreams), "the list of RTMP's chunk streams is longer than it may be"),
        (.tooLong(.box), "a box of MP4 is longer than it may be"),
        (.tooLong(.fragmentContent), "the content of a fragment of MP4 is longer than it may be"),
        (.refused(.said("no such stream")), "the server refuses the stream: no such stream"),
        (.refused(.withoutReason), "the server refuses the stream: it gives no reason"),
        (.refused(.closed), "the server refuses the stream: it has closed the connection"),
        (.refused(.unpublished), "the server refuses the stream: nobody publishes it any longer"),
    ]

    @Test(arguments: StreamFormatErrorTests.errors)
    func `What is wrong with a stream has its words`(error: StreamFormatError, words: String) {
        #expect(error.description == words)
    }

    @Test func `To an encoder, it is its own stream that is wrong`() {
        #expect(RTMPServerError.format(.tooLong(.message)).description == "a message of RTMP is longer than it may be")
        #expect(
            RTMPServerError.format(.damaged(.chunkSize)).description
                == "what it sends is damaged: RTMP's chunks have no length")
    }
}
