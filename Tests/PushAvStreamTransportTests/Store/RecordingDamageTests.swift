import Glibc
import PushAvStreamTransport
import Testing

/// What people read about damaged recordings.
struct RecordingDamageTests {
    static let damages: [(RecordingDamage, String)] = [
        (.missingSession, "is missing; the segments beside it were left as they are"),
        (.damagedSession, "is damaged; the segments beside it were left as they are"),
        (
            .newerFormat(2),
            "was written by a newer version of the gateway (format 2); use that version to read it"
        ),
        (.foreignSession, "describes a session that its folder does not name"),
        (
            .unusableSession(.deviceName),
            "the device's id cannot be the name of a folder; it may have 64 letters, digits, '.', '_' and '-'"
        ),
        (.unusableSession(.start), "the start is not between the years 1970 and 9999; set the clock"),
        (.unusableSession(.trackCount), "a recording has 1 to 16 tracks"),
        (
            .unusableSession(.trackName(1)),
            "the name of track 1 is not 1 to 16 letters, digits, '.', '_' and '-', or begins with a dot"
        ),
        (.unusableSession(.timescale(0)), "the timescale of track 0 is not between 1 and 1,000,000,000"),
        (.unusableSession(.repeatedTrackName), "two tracks have the same name"),
        (
            .unreadable(FileSystemFault(path: "/a", operation: "open", code: EACCES)),
            "cannot be read: Permission denied"
        ),
        (.damagedLines(3), "3 lines are damaged; the segments were read instead"),
        (.missingSegment, "is missing, but the journal names it"),
        (.failed("the disk is gone"), "the disk is gone"),
        (.noEnd, "has no end; the next start of the gateway completes it"),
        (.noFootage, "has no end and no footage; the next start of the gateway removes it"),
        (.damagedHeader, "is not a whole CMAF header"),
        (.wrongLength(7, expected: 9), "has 7 bytes instead of 9"),
        (.cutChunk, "ends within a chunk"),
        (.garbled(from: 12), "is damaged from byte 12 on"),
        (.garbledTail(from: 12), "is damaged from byte 12 on; what comes before it is used"),
        (.tooShort(usable: 7, expected: 9), "has 7 usable bytes, but the journal names 9"),
        (.overlappingChunk(at: 12), "the chunk at byte 12 overlaps the one before it"),
        (.wrongStart(5, expected: 4), "begins at 5, but its journal says 4"),
        (.overlappingSegment, "overlaps the segment before it"),
    ]

    @Test(arguments: RecordingDamageTests.damages)
    func `A damage has its words`(damage: RecordingDamage, words: String) {
        #expect(damage.description == words)
    }

    @Test func `Only a recording that lacks its end is unfinished`() {
        #expect(Self.damages.map(\.0).filter(\.isUnfinished) == [.noEnd, .noFootage])
    }
}
