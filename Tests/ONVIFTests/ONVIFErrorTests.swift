import ONVIF
import Testing

/// What people read when an ONVIF camera lacks something.
struct ONVIFErrorTests {
    static let lacks: [(ONVIFError.Lack, String)] = [
        (.eventService, "the camera offers no event service"),
        (.videoProfile, "the camera has no profile with video"),
        (.streamAddress, "the camera's stream is at an address that cannot be used"),
        (.imagingSettings, "the camera no longer offers this setting"),
        (.rotation, "the camera no longer offers to turn its picture"),
        (.speakerLevel, "the level of the camera's loudspeaker can no longer be changed"),
    ]

    @Test(arguments: ONVIFErrorTests.lacks)
    func `what a camera lacks is said in words`(lack: ONVIFError.Lack, words: String) {
        #expect(ONVIFError.unsupported(lack).description == words)
    }
}
