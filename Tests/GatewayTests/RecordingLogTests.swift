import Glibc
import Logging
import PushAvStreamTransport
import Testing

@testable import Gateway

/// What the log says when nothing can be recorded.
@Suite struct RecordingLogTests {
    private let log = LogLines()

    @Test func `a full disk is logged in words, with what is free`() {
        RecordingComposition.take(.condition(.full(free: 5_000_000, resumesAt: 9_000_000)), logger: log.logger)
        RecordingComposition.take(
            .fault(.storageFull(path: "/r", .reserve(free: 7))), of: "yard", logger: log.logger)
        #expect(
            log.metadata.map { $0["reason"]?.description } == [
                "the disk has 5 MB left; recording resumes when it has 9 MB",
                "/r: only 7 bytes are free, too few to record",
            ])
    }

    @Test func `a folder that cannot be used is logged with its path and the reason`() {
        RecordingComposition.take(
            .fault(.storage(path: "/r", .system(ENOENT))), of: "yard", logger: log.logger)
        #expect(log.metadata.map { $0["reason"]?.description } == ["/r: No such file or directory"])
    }
}
