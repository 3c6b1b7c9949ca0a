import Transport

/// Whether the disk can take more, and what a fault says about that.
extension RecordingStore {
    /// Refuses when fewer bytes than the reserve would be left.
    func checkRoom(for count: Int64) throws(RecordingFault) {
        let (retention, condition) = retentionAndCondition
        guard let space = try? fileSystem.space(at: layout.root) else { return }
        var needed = retention.stopsBelow
        if case .full = condition { needed = retention.resumesAt }
        guard space.free - count < needed else {
            if case .full = condition { self.set(.ready) }
            return
        }
        self.set(.full(free: space.free, resumesAt: retention.resumesAt))
        throw .storageFull(path: layout.root, .reserve(free: space.free))
    }

    /// Checks whether a full file system has room again, or the other way round.
    func updateCondition() {
        try? checkRoom(for: 0)
    }

    func hasFailed(_ fault: RecordingFault, chunk: Bool) {
        if chunk {
            counting.withLock { counters in
                if case .storageFull = fault { counters.refusedFull += 1 } else { counters.refusedFaults += 1 }
            }
        }
        switch fault {
        case .storageFull:
            let free = (try? fileSystem.space(at: layout.root).free) ?? 0
            self.set(.full(free: free, resumesAt: retention.resumesAt))
        case .storage(let path, let fault): self.set(.failing(path: path, fault))
        case .refused, .unknownSession, .inProgress: break
        }
    }

    /// A session has begun, so the file system works.
    func hasRecovered() {
        self.set(.ready)
    }
}
