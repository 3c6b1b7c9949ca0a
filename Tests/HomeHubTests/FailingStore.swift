import Foundation
import Transport

@testable import HomeHub

/// A store that fails on demand.
final class FailingStore: LocalStore {
    let memory = MemoryStore(log: "f", maximumBytes: 64 << 20)
    let isFailing = Locked(false)
    private let gate = NSCondition()
    // Only with the lock of `gate`.
    private nonisolated(unsafe) var isHeld = false
    private nonisolated(unsafe) var isWaiting = false

    var identity: LogIdentity { memory.identity }
    func lastSequence() -> Int64 { memory.lastSequence() }
    func append(_ entries: [LogEntry]) throws(StoreFailure) {
        if isFailing.withLock({ $0 }) { throw StoreFailure(path: "store", reason: "the disk is full") }
        gate.lock()
        while isHeld {
            isWaiting = true
            gate.broadcast()
            gate.wait()
        }
        gate.unlock()
        memory.append(entries)
    }

    func results(since: Date) -> [KeptResult] { memory.results(since: since) }
    func keep(_ result: KeptResult) { memory.keep(result) }
    func forget(_ result: KeptResult) { memory.forget(result) }

    /// Has the next writes wait.
    func hold() { change { isHeld = true } }

    /// Lets them go on.
    func release() { change { isHeld = false } }

    /// Returns once a write waits.
    func waitUntilHeld() {
        gate.lock()
        while !isWaiting { gate.wait() }
        gate.unlock()
    }

    private func change(_ body: () -> Void) {
        gate.lock()
        body()
        gate.broadcast()
        gate.unlock()
    }

    func entries(after sequence: Int64, limit: Int) -> [LogEntry] {
        memory.entries(after: sequence, limit: limit)
    }
    func isComplete(after sequence: Int64, incarnation: Int64) -> Bool {
        memory.isComplete(after: sequence, incarnation: incarnation)
    }
    func events(of subject: String, since: Date?, after sequence: Int64?, limit: Int) -> [LogEntry] {
        memory.events(of: subject, since: since, after: sequence, limit: limit)
    }
    func state() -> [LogEntry] { memory.state() }
}
