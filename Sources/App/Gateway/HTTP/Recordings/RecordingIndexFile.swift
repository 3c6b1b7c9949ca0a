import DatagramPort
import Glibc
import PushAvStreamTransport

/// The index of the recordings in a state folder.
public enum RecordingIndexFile {
    /// Its name in the state folder.
    static let fileName = "recordings.sqlite"

    /// Removes the index and reads all recordings. The next start of the gateway writes the index again. The caller holds
    /// the lock of the state folder.
    /// - Parameter recordings: the folder of the recordings.
    public static func rebuild(in directory: StateDirectory, of recordings: String) throws -> RecoveryReport {
        do throws(RecordingFault) {
            let store = try RecordingStore(
                root: recordings, index: MemoryRecordingIndex(), now: { WallClock.milliseconds })
            let report = try store.recover()
            for suffix in ["", "-wal", "-shm"] { unlink(directory.file(fileName) + suffix) }
            return report
        } catch {
            throw PlaybackError.store(error)
        }
    }
}
