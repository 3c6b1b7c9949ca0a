import PushAvStreamTransport
import Transport

/// The folder of the recordings, and whether it is known what is in it. The gateway starts without it, and uses it as soon as
/// it can be used.
final class RecordingPlace: Sendable {
    /// The folder.
    let folder: RecordingFolder
    private let isRead: Locked<Bool>

    /// The file in the state folder that remembers which folders were used.
    static let memoryName = "recording-folders"

    /// Opens the folder that the config names, or the one in the state folder.
    init(_ configured: String?, in directory: StateDirectory) {
        let folder = RecordingFolder(
            path: configured ?? directory.file("recordings"),
            rememberedIn: configured == nil ? nil : directory.file(Self.memoryName))
        self.folder = folder
        // A folder that is there from the start is read while uploads continue: the queue knows what there is.
        isRead = Locked(folder.open() == nil)
    }

    /// Why nothing may be uploaded now; nil when it may. A file that is missing because its disk is away would otherwise count
    /// as lost.
    var reasonToHold: String? {
        if let problem = folder.problem() { return "\(folder.path) \(problem)" }
        return isRead.withLock { $0 } ? nil : "the recordings of earlier runs have not been read yet"
    }

    /// It is known what is in the folder.
    func recordRead() { isRead.withLock { $0 = true } }
}
