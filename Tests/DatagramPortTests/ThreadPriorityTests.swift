import Testing
import Transport

@testable import DatagramPort

@Suite struct ThreadPriorityTests {
    /// The system decides whether it may; the other threads stay as they are in any case.
    @Test func onlyTheThreadThatAsksIsRaised() async throws {
        let before = ThreadPriority.niceness
        let (isAllowed, after) = await withCheckedContinuation { continuation in
            let isRunning = startDetachedThread {
                let isAllowed = ThreadPriority.raiseForMedia()
                continuation.resume(returning: (isAllowed, ThreadPriority.niceness))
            }
            if !isRunning { continuation.resume(returning: (false, before)) }
        }
        #expect(after == (isAllowed ? ThreadPriority.mediaNiceness : before))
        #expect(ThreadPriority.niceness == before)
    }
}
