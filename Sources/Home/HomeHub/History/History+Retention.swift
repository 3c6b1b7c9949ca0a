import DatagramPort
import Foundation
import Transport

/// The limits of the history.
extension History {
    /// By how much the wall clock may run ahead of the other one between two checks. A clock that was set further ahead
    /// may be wrong, and is trusted only at the next check.
    private static let tolerance = 3_600.0

    /// Checks the age from time to time, and the size whenever it may be too large.
    func trimIfDue() throws(StoreFailure) {
        let now = self.now().timeIntervalSince1970
        let check = writing.withLock { $0.check }
        let elapsed = Double((clock() - check.monotonic).wholeNanoseconds) / 1e9
        let isDue = elapsed >= Self.checkInterval || abs(now - check.wall) >= Self.checkInterval
        if isDue {
            let isSane = now - check.wall <= elapsed + Self.tolerance
            writing.withLock { $0.check = Check(wall: now, monotonic: clock()) }
            if isSane { try trimByAge() }
        }
        if isDue || status.items > retention.items || mayBeTooLarge() { try trimBySize() }
    }

    /// Deletes what is too old.
    func trimByAge() throws(StoreFailure) {
        let oldest = now().timeIntervalSince1970 - retention.seconds
        let count = try file.drop(before: Int64(oldest * 1_000))
        record(dropped: count)
        if count > 0 { try file.shrink() }
    }

    /// Deletes what exceeds the size, and a tenth more, so that this does not happen with every item.
    func trimBySize() throws(StoreFailure) {
        let items = status.items
        if items > retention.items {
            record(dropped: try file.drop(oldest: items - retention.items * 9 / 10))
            try file.shrink()
        }
        for _ in 0..<10 {
            guard try file.bytes() > retention.bytes, status.items > 0 else { return }
            record(dropped: try file.drop(oldest: max(1, status.items / 10)))
            try file.shrink()
        }
    }

    /// Whether the file may have grown over its limit. The check reads three numbers of the file.
    private func mayBeTooLarge() -> Bool { ((try? file.bytes()) ?? 0) > retention.bytes }
}
