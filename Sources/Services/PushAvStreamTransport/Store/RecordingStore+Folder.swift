import Transport

extension RecordingStore {
    /// Looks whether the folder of all recordings is there, and says so as the store's condition.
    /// - Returns: why it cannot be used; nil when it can.
    @discardableResult
    func checkFolder() -> RecordingFolderProblem? {
        guard let folder else { return nil }
        let problem = folder.problem()
        let wasAway = isFolderAway.withLock { isAway in
            defer { isAway = problem != nil }
            return isAway
        }
        if let problem {
            set(.failing(path: layout.root, .folder(problem)))
        } else if wasAway {
            set(.ready)
        }
        return problem
    }

    /// Refuses while the folder of all recordings is missing: the index still lists what nobody can read now, and what
    /// is missing was not deleted.
    func requireFolder() throws(RecordingFault) {
        if let problem = checkFolder() { throw .storage(path: layout.root, .folder(problem)) }
    }
}
