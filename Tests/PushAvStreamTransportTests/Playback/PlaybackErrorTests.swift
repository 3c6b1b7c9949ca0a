import Codecs
import Glibc
import PushAvStreamTransport
import Testing

/// What people read when recordings cannot be shown or exported.
struct PlaybackErrorTests {
    static let errors: [(PlaybackError, String)] = [
        (.nothingRecorded, "nothing was recorded in this time range"),
        (.noPictures, "the recording has no pictures"),
        (.noPlayableTrack, "the recording has no track that RTSP can carry"),
        (.noKeyFrame, "the recording has no key frame there"),
        (
            .pictureNotEncoded(CodecError(codec: "JPEG", operation: "encode", reason: "no memory")),
            "the picture cannot be encoded as JPEG: no memory"
        ),
        (
            .formatChanges(at: 1_000_000, from: "avc1.64001F", to: "hvc1"),
            "the camera changed its format at 1970-01-01T00:00:01.000Z, from avc1.64001F to hvc1, and one file holds one "
                + "format; export up to that time, and then from that time on"
        ),
        (.tooManySegments(limit: 9), "the range has more than 9 segments; export a shorter time"),
        (.tooManySamples(limit: 9), "the range has more than 9 samples; export a shorter time"),
        (
            .gapTooLong(seconds: 9),
            "nothing was recorded for 9 s, which is longer than a file can express; export a shorter time"
        ),
        (.unwritable("no space"), "the export cannot be written: no space"),
        (
            .store(.storageFull(path: "/recordings", .reserve(free: 7))),
            "/recordings: only 7 bytes are free, too few to record"
        ),
        (.store(.storageFull(path: "/recordings", .system(ENOSPC))), "/recordings: No space left on device"),
        (.store(.storage(path: "/recordings", .noAnswer)), "/recordings: the disk does not answer"),
        (.store(.unknownSession), "the recording does not exist; it may have been deleted"),
        (.store(.inProgress), "it is being recorded; it can be deleted when it has ended"),
        (.store(.refused(.unusableSession(.trackCount))), "a recording has 1 to 16 tracks"),
        (.store(.refused(.hasBegun(folder: "/recordings/door/1"))), "/recordings/door/1 has begun already"),
        (
            .store(.refused(.isBeingIndexed)),
            "the recording is being added to the index; delete it again in a moment"
        ),
    ]

    @Test(arguments: PlaybackErrorTests.errors)
    func `What is wrong has its words`(error: PlaybackError, words: String) {
        #expect(error.description == words)
    }
}
