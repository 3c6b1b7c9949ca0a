import HomeTypes
import Testing

@testable import Gateway

/// What people read about settings that may surprise.
@Suite struct ConfigurationNoteTests {
    private static func entry(isRemoved: Bool, hasChangedSince: Bool) -> ConfigurationKeeper.ReplacedEntry {
        .init(id: "door", name: "Front", kind: .camera, isRemoved: isRemoved, hasChangedSince: hasChangedSince)
    }

    static let notes: [(ConfigurationNote, String)] = [
        (
            .ignored(entry(isRemoved: false, hasChangedSince: false), file: "/a.yaml"),
            "camera door: its entry in the config file /a.yaml is ignored, because the camera was changed on the page "
                + "or over the API"
        ),
        (
            .ignored(entry(isRemoved: true, hasChangedSince: true), file: "/a.yaml"),
            "camera door: its entry in the config file /a.yaml is ignored, because the camera was removed on the page "
                + "or over the API; the entry in the config file has changed since then"
        ),
        (
            .inBothFiles(camera: "door"),
            "camera door is in both the config file and cameras.yaml; the config file's entry is used"
        ),
        (.rulesWithoutCamera(camera: "yrad"), "recording.cameras has rules for yrad, but no camera has this id"),
    ]

    @Test(arguments: ConfigurationNoteTests.notes)
    func `a note has its words`(note: ConfigurationNote, words: String) {
        #expect(note.description == words)
    }
}
