import CMalloc
import CProgramPages
import Transport

/// Decides when memory goes back to the system: once after the start, and after many connections have ended.
///
/// The start reads much of the program that is not needed later. These pages count as the process's memory until the
/// kernel needs them for something else.
///
/// glibc keeps freed memory in its arenas, one for each few threads. After a flood of TLS connections that was up to
/// 100 MiB, of which the gateway used a fifth. What is free at the end of an arena goes back by itself, but one small
/// block behind it keeps all of it.
struct MemoryReturn {
    /// From how many connections on it is worth the work.
    static let many = 64
    /// For how many seconds most of them have to be gone: connections that follow use the same memory again.
    static let calm: UInt64 = 5
    /// The seconds from one time to the next.
    static let interval: UInt64 = 10
    /// The seconds after which the start is over.
    static let settled: UInt64 = 10

    private var start: UInt64?
    /// The most connections since the last time.
    private var peak = 0
    private var calmSince: UInt64?
    private var last: UInt64?

    /// Whether to do it now.
    /// - Parameters:
    ///   - connections: how many there are.
    ///   - seconds: the time on any clock that only goes forward. The first time is the start.
    mutating func isDue(connections: Int, at seconds: UInt64) -> Bool {
        let start = self.start ?? seconds
        self.start = start
        if hasCalmed(connections: connections, at: seconds) {
            (peak, calmSince, last) = (connections, nil, seconds)
            return true
        }
        guard last == nil, seconds >= start + Self.settled else { return false }
        last = seconds
        return true
    }

    /// Whether most of many connections have gone.
    private mutating func hasCalmed(connections: Int, at seconds: UInt64) -> Bool {
        peak = max(peak, connections)
        guard peak >= Self.many, connections <= peak / 4 else {
            calmSince = nil
            return false
        }
        let since = calmSince ?? seconds
        calmSince = since
        return seconds >= since + Self.calm && last.map { seconds >= $0 + Self.interval } ?? true
    }

    /// Returns all free pages, on a thread of its own: for some milliseconds each, it holds the lock of an arena.
    static func perform() {
        // Without a thread, the memory stays until the next time.
        _ = startDetachedThread(name: "memory-return") { release() }
    }

    /// Returns what glibc keeps, and unmaps the pages of the program that are as in its file. Those stay in the
    /// kernel's page cache, and the kernel maps them again when they are needed.
    static func release() {
        _ = malloc_trim(0)
        program_pages_release()
    }
}
