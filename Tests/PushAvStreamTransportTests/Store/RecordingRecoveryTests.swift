import PushAvStreamTransport
import Testing
import Transport

/// Waiting for the recordings of earlier runs.
@Suite("What is known after a start", .timeLimit(.minutes(10))) struct RecordingRecoveryTests {
    @Test("Everybody who waits goes on when the recordings are known")
    func waiting() async {
        let recovery = RecordingRecovery()
        async let first = recovery.wait(atMost: .seconds(3_600))
        async let second = recovery.wait(atMost: .seconds(3_600))
        recovery.end()
        #expect(await first)
        #expect(await second)
        #expect(await recovery.wait(atMost: .zero))
        recovery.end()
    }

    @Test("A wait that takes too long ends without them, and a later one succeeds")
    func patience() async {
        let recovery = RecordingRecovery()
        #expect(await !recovery.wait(atMost: .milliseconds(1)))
        async let later = recovery.wait(atMost: .seconds(3_600))
        recovery.end()
        #expect(await later)
        #expect(await RecordingRecovery(isOver: true).wait(atMost: .zero))
    }
}
