extension RecordingStore {
    /// The ids of all recordings that have a folder, deleted ones left out: without the index, and without changing
    /// anything. For commands beside a gateway that runs.
    public func idsOfFolders() throws(RecordingFault) -> [RecordingSession.ID] {
        var ids: [RecordingSession.ID] = []
        do throws(FileSystemFault) {
            try forEachFolder { id, folder in
                if !namesOrNone(in: folder).contains(RecordingLayout.tombstone) { ids.append(id) }
            }
        } catch {
            throw RecordingFault(error)
        }
        return ids.sorted(by: RecordingSession.ID.isOrdered)
    }
}
