import StreamFormats
import Testing

/// What people read about the parts of a stream that are left out.
struct UnsupportedPartTests {
    static let parts: [(UnsupportedPart, String)] = [
        (.encryptedPackets, "encrypted packets"),
        (.another(.video), "another video"),
        (.another(.sound), "another audio"),
        (.furtherTracks(.video), "further tracks of video"),
        (.furtherTracks(.sound), "further tracks of sound"),
        (.namedCodec(.video, "av01"), "video of the kind av01"),
        (.namedCodec(.sound, "Opus"), "sound of the kind Opus"),
        (.numberedCodec(.video, 2), "video of FLV's codec 2"),
        (.numberedCodec(.sound, 3), "sound of FLV's codec 3"),
        (.codec(.mpeg2Video), "MPEG-2 video"),
        (.codec(.mpeg4Visual), "MPEG-4 Visual"),
        (.codec(.mpegAudio), "MPEG audio (MP2 or MP3)"),
        (.codec(.latm), "AAC in LATM"),
        (.codec(.ac3), "AC-3"),
        (.codec(.eac3), "E-AC-3"),
        (.codec(.mp3), "MP3"),
        (.codec(.mp3At8kHz), "MP3 at 8 kHz"),
        (.codec(.speex), "Speex"),
        (.codec(.nellymoser), "Nellymoser"),
    ]

    @Test(arguments: UnsupportedPartTests.parts)
    func `A part that is left out has its name`(part: UnsupportedPart, words: String) {
        #expect(part.description == words)
    }
}
