import Glibc
import PushAvStreamTransport
import Testing

@Suite struct StorageFaultTests {
    static let faults: [(fault: StorageFault, words: String)] = [
        (.system(ENOSPC), "No space left on device"),
        (.call("fsync", EIO), "fsync: Input/output error"),
        (.tooLarge(limit: 9), "is larger than 9 bytes"),
        (.unencodable("NaN"), "cannot be written: NaN"),
        (.noAnswer, "the disk does not answer"),
        (.noThread, "no thread can be started"),
        (
            .folder(.away),
            "does not contain the file .gatehouse-recordings, by which the gateway recognizes the folder, so its disk is "
                + "not mounted. Mount it; recording then begins automatically. If the recordings were removed on "
                + "purpose, make the folder, and an empty file of this name in it"
        ),
        (
            .folder(.unusable(FileSystemFault(path: "/r", operation: "mkdir", code: EACCES))),
            "cannot be used for recordings (/r: Permission denied). Correct that, or name another folder in "
                + "recording.folder; recording begins automatically as soon as the folder can be used"
        ),
        (.damage(.cutChunk), "ends within a chunk"),
        (.database("is not a database"), "is not a database"),
        (.connections(.unsafeName("../door")), "cannot have a file for the device \"../door\""),
        (.connections(.tooManyRecords(9, device: "door")), "has 9 records of door already; remove some"),
        (.connections(.notRemoved(EISDIR)), "cannot be removed: Is a directory"),
        (.connections(.notOverwritten), "its recording connections cannot be read and are not overwritten"),
        (.connections(.unreadable), "is damaged, or comes from a newer version of the gateway"),
        (.connections(.contended), "another gateway keeps changing the same connections"),
        (
            .endpoints(.unreadable(.system(EISDIR))),
            "cannot be read (Is a directory); correct that, and restart the gateway; until then, uploads to its "
                + "endpoints wait, and no endpoint can be changed"
        ),
        (
            .endpoints(.tooManyAside(.damaged, kept: 9)),
            "is damaged, and 9 earlier ones are kept; remove those, and restart the gateway; until then, uploads to its "
                + "endpoints wait, and no endpoint can be changed"
        ),
        (
            .endpoints(.notRenamed(.newer, EACCES)),
            "was written by a newer version of the gateway, which is needed to read it, and cannot be renamed "
                + "(Permission denied); correct that, and restart the gateway; until then, uploads to its endpoints "
                + "wait, and no endpoint can be changed"
        ),
        (
            .endpoints(.setAside(.damaged, insteadOf: "endpoints.json")),
            "holds the upload endpoints and is damaged; uploads to them wait. Stop the gateway and put an intact copy in "
                + "place as endpoints.json, or remove the damaged file and provision the endpoints again"
        ),
        (
            .endpoints(.setAside(.newer, insteadOf: "endpoints.json")),
            "holds the upload endpoints and was written by a newer version of the gateway; uploads to them wait. Stop "
                + "the gateway, install that version, and rename the file to endpoints.json"
        ),
        (
            .discardedList,
            "lists what a privacy switch discarded, but is damaged, so the recording is not uploaded. If all of it may "
                + "be uploaded, remove the file and restart the gateway"
        ),
        (.tooManyDamaged(kept: 9), "is damaged, and 9 damaged ones are kept; remove some"),
    ]

    @Test(arguments: StorageFaultTests.faults)
    func `a fault has its words, which follow the path`(fault: StorageFault, words: String) {
        #expect(fault.description == words)
        #expect(RecordingFault.storage(path: "/r", fault).description == "/r: " + words)
        #expect(UploadStorageFailure(path: "/r", reason: fault).description == "/r: " + words)
        #expect(StoreCondition.failing(path: "/r", fault).description == "/r: " + words)
    }

    @Test func `a full disk says when recording resumes`() {
        let condition = StoreCondition.full(free: 1_000_000, resumesAt: 5_000_000)
        #expect(condition.description == "the disk has 1 MB left; recording resumes when it has 5 MB")
    }
}
