import Codecs
import FragmentedMP4
import Glibc
import PushAvStreamTransport
import Testing

/// What people read about files of recordings that cannot be read.
struct RecordedFileFaultTests {
    static let faults: [(RecordedFileFault, String)] = [
        (.gone, "it no longer exists"),
        (.system(EACCES), "Permission denied"),
        (.format(.missingBox("moov")), MP4ReadError.missingBox("moov").description),
        (.shortened, "it has become shorter"),
        (.largeSample, "one of its samples is too large"),
        (.largeKeyFrame, "its key frame is too large"),
        (
            .undecodableKeyFrame(CodecError(codec: "H265", operation: "decode", reason: "no decoder")),
            "its key frame cannot be decoded: no decoder"
        ),
    ]

    @Test(arguments: RecordedFileFaultTests.faults)
    func `A fault has its words, and only a file that is gone was deleted`(
        fault: RecordedFileFault, words: String
    ) {
        let error = PlaybackError.unreadable(path: "/a", reason: fault)
        #expect(error.description == "/a cannot be read: \(words)")
        #expect(error.isDeletion == (fault == .gone))
    }
}
