import DatagramPort

extension MediaRelay {
    /// The counters of one viewer; nil if it is not connected. It costs nothing to the other sessions.
    public func statistics(of sessionID: String) async -> ViewerStatistics? {
        guard let handle = sessions[sessionID] else { return nil }
        return await withCheckedContinuation { continuation in
            let posted = links.post(to: handle.shard) { shard, _ in
                continuation.resume(returning: shard.viewers[handle]?.readStatistics())
            }
            if !posted { continuation.resume(returning: nil) }
        }
    }
}
