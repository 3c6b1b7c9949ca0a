import Foundation
import Transport

/// A log that ends with the process: for tests, and for a gateway whose state folder cannot be used.
public final class MemoryStore: LocalStore {
    private struct Content {
        var entries: [LogEntry] = []
        var state: [String: LogEntry] = [:]
        var bytes = 0
        var dropped: Int64 = 0
        var results: [String: KeptResult] = [:]
    }

    public let identity: LogIdentity
    private let maximumBytes: Int
    private let content = Locked(Content())

    /// Creates an empty log.
    /// - Parameter maximumBytes: how many bytes the entries may take; the oldest go first.
    public init(log: String = LogIdentity.newName(), maximumBytes: Int = 4 << 20) {
        self.identity = LogIdentity(log: log, gateway: "memory", incarnation: 1)
        self.maximumBytes = maximumBytes
    }

    public func lastSequence() -> Int64 { content.withLock { $0.entries.last?.sequence ?? 0 } }

    public func append(_ entries: [LogEntry]) {
        content.withLock { content in
            for entry in entries {
                content.entries.append(entry)
                content.bytes += entry.size
                switch entry.effect {
                case .replaces: content.state[entry.subject] = entry
                case .removes: content.state[entry.subject] = nil
                case nil: break
                }
            }
            guard content.bytes > maximumBytes else { return }
            // A sixteenth at a time, so that this does not happen for each entry.
            var count = 0
            var bytes = content.bytes
            while count < content.entries.count, bytes > maximumBytes - maximumBytes / 16 {
                bytes -= content.entries[count].size
                count += 1
            }
            content.dropped = content.entries[count - 1].sequence
            for entry in content.entries[..<count] { content.bytes -= entry.size }
            content.entries.removeFirst(count)
        }
    }

    public func entries(after sequence: Int64, limit: Int) -> [LogEntry] {
        content.withLock { content in
            let start = content.entries.partitioningIndex { $0.sequence > sequence }
            return Array(content.entries[start...].prefix(limit))
        }
    }

    public func isComplete(after sequence: Int64, incarnation: Int64) -> Bool {
        guard incarnation == identity.incarnation else { return false }
        return content.withLock { $0.dropped <= sequence && sequence <= $0.entries.last?.sequence ?? 0 }
    }

    public func events(of subject: String, since: Date?, after sequence: Int64?, limit: Int) -> [LogEntry] {
        content.withLock { content in
            Array(
                content.entries.lazy.reversed().filter { entry in
                    entry.isEvent && entry.subject == subject && entry.sequence > sequence ?? 0
                        && since.map { entry.timestamp >= $0 } ?? true
                }.prefix(limit))
        }
    }

    public func state() -> [LogEntry] {
        content.withLock { $0.state.values.sorted { $0.sequence < $1.sequence } }
    }

    public func results(since: Date) -> [KeptResult] {
        content.withLock { content in
            content.results = content.results.filter { $0.value.time >= since }
            return content.results.values.sorted { $0.time < $1.time }
        }
    }

    public func keep(_ result: KeptResult) {
        content.withLock { content in
            // As many as the home keeps; a store in memory ends with the process anyway.
            if content.results.count > CommandResults.capacity {
                content.results = content.results.filter { $0.value.time >= result.time - 600 }
            }
            content.results[result.name] = result
        }
    }

    public func forget(_ result: KeptResult) { content.withLock { $0.results[result.name] = nil } }
}

extension LogIdentity {
    /// A name for a new log or gateway.
    public static func newName() -> String {
        UUID().uuidString.filter { $0 != "-" }.prefix(16).lowercased()
    }
}

extension RandomAccessCollection {
    /// The first index whose element satisfies the condition, where all that satisfy it are at the end.
    func partitioningIndex(_ isAtEnd: (Element) -> Bool) -> Index {
        var (low, count) = (startIndex, self.count)
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if isAtEnd(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
