import FragmentedMP4
import Testing

@Suite struct MP4ErrorTests {
    static let errors: [(error: MP4Error, words: String)] = [
        (.unknownTrack(2), "track 2 does not exist"),
        (.invalidTrack(0, .timescale(0)), "track 0: the timescale 0 is out of range"),
        (.invalidTrack(0, .pictureSize(width: 0, height: 9)), "track 0: 0 × 9 is not a picture size"),
        (.invalidTrack(1, .channels(3, limit: 2)), "track 1: 3 channels are not supported, 1 to 2 are"),
        (
            .unsupportedCodec("G722", .notForSound),
            "G722 cannot be written: MP4 files of sound hold opus, PCMU, PCMA and AAC"
        ),
        (.invalidSample(track: 0, length: 0), "track 0: a sample of 0 bytes cannot be written"),
    ]

    @Test(arguments: MP4ErrorTests.errors)
    func `an error reads as a sentence`(error: MP4Error, words: String) {
        #expect(error.description == words)
    }
}
