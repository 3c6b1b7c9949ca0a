import Foundation
import Transport

/// Limits how many events are reported for one device: a burst, and then a number per second.
final class EventRateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var filledAt: Date
    }

    /// Events in a burst.
    static let burst = 20.0
    /// Events per second in the long run.
    static let rate = 1.0

    private let buckets = Locked<[String: Bucket]>([:])

    /// Counts one event of a device. Returns false if there were too many.
    func allows(_ device: String, at now: Date) -> Bool {
        buckets.withLock { buckets in
            var bucket = buckets[device] ?? Bucket(tokens: Self.burst, filledAt: now)
            let elapsed = max(0, now.timeIntervalSince(bucket.filledAt))
            bucket.tokens = min(Self.burst, bucket.tokens + elapsed * Self.rate)
            bucket.filledAt = now
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            buckets[device] = bucket
            return isAllowed
        }
    }
}
