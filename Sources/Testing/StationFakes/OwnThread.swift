import Dispatch
import Testing

/// Runs tests on a queue of their own.
///
/// The relay under these tests lives in real time and gives viewers up that do not come. The tests' own steps must not
/// wait behind all the others that keep the shared threads busy.
package struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite as a whole needs none.
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(QueueExecutor()) { try await function() }
    }
}

private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension Trait where Self == OwnThread {
    /// Runs each test on a queue of its own.
    package static var ownThread: OwnThread { OwnThread() }
}
