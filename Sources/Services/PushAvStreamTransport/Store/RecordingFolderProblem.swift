/// Why the folder of all recordings cannot be used.
public enum RecordingFolderProblem: Hashable, Sendable {
    /// It is not there, or does not contain the file by which it is recognized, so its disk is not mounted.
    case away
    /// The file system refuses to make it, or to look at it.
    case unusable(FileSystemFault)
}

extension RecordingFolderProblem: CustomStringConvertible {
    /// What is wrong, as people read it after the path of the folder, and what to do.
    public var description: String {
        switch self {
        case .away:
            "does not contain the file \(RecordingFolder.markerName), by which the gateway recognizes the folder, so its "
                + "disk is not mounted. Mount it; recording then begins automatically. If the recordings were removed on "
                + "purpose, make the folder, and an empty file of this name in it"
        case .unusable(let fault):
            "cannot be used for recordings (\(fault.path): \(fault.reason)). Correct that, or name another folder in "
                + "recording.folder; recording begins automatically as soon as the folder can be used"
        }
    }
}
