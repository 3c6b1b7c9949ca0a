import CFileStatus
import DatagramPort
import HomeTypes
import Logging
import PushAvStreamTransport
import Stations
import Transport

extension RecordingAccess {
    /// The recordings of a gateway that records.
    init(
        store: any RecordingReading, recovery: RecordingRecovery = RecordingRecovery(isOver: true),
        permits: @escaping @Sendable (_ device: String) async -> OutputPermits?
    ) {
        self.init(store: store, recovery: recovery) { device, isRunning async throws(HomeError) in
            guard let permits = await permits(device) else { return Permit { nil } }
            return try Self.permit(device, isRunning ? .liveView : .playback, permits)
        }
    }

    /// The recordings that lie in a state folder, for a gateway that does not record; nil when there are none.
    init?(
        readingIn directory: StateDirectory, permits: @escaping @Sendable (_ device: String) async -> OutputPermits?,
        logger: Logger
    ) {
        let root = directory.file("recordings")
        var status = file_status()
        guard file_status_of_path(root, true, &status), status.is_folder else { return nil }
        do throws(RecordingFault) {
            let store = try RecordingStore(
                root: root, index: MemoryRecordingIndex(), now: { WallClock.milliseconds })
            let recovery = RecordingRecovery()
            self.init(store: store, recovery: recovery, permits: permits)
            let work: @Sendable () -> Void = {
                defer { recovery.end() }
                do throws(RecordingFault) {
                    let report = try store.recover()
                    logger.info("recordings were read", metadata: ["recordings": "\(report.added)"])
                    for one in report.unreadable {
                        logger.warning(
                            "a recording cannot be used", metadata: ["path": "\(one.path)", "reason": "\(one.reason)"])
                    }
                } catch {
                    logger.error("the recordings cannot be read", metadata: ["reason": "\(error)"])
                }
            }
            if !startDetachedThread(work) { work() }
        } catch {
            logger.error("the recordings cannot be opened", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// A permit for as long as somebody reads. A download looks at it before each block.
    static func permit(
        _ device: String, _ usage: OutputUsage, _ permits: OutputPermits
    ) throws(HomeError) -> Permit {
        do throws(StationError) {
            let held = try permits.permit(for: usage, owner: "recordings", revoked: nil)
            return Permit { held.revocation.map { "\(device) \($0.refusal.words)" } }
        } catch .refused(_, let refusal) {
            throw .failedPrecondition("\(device) \(refusal.words)")
        } catch {
            throw .unavailable(error.words)
        }
    }
}
