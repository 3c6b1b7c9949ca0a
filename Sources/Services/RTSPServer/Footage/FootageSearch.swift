import PushAvStreamTransport
import Stations
import Transport

/// Finds the footage that a client has asked for, and takes the permit to show it. It waits for the disk on a thread of its
/// own.
struct FootageSearch: Sendable {
    /// What came of it.
    enum Found: Sendable {
        /// With the permit, which is nil when nothing decides about the device.
        case footage(FootagePresentation, OutputPermit?)
        case refused(FootagePresentation.Refusal)
    }

    let source: FootageSource
    /// What the client calls the device.
    let name: String
    let query: FootagePresentation.Query
    /// Who asks, for the log.
    let owner: String
    /// The connection, which ends when the permit is revoked.
    let connection: UInt64
    let revoking: RevokedConnections

    /// How long a request waits for the recordings of earlier runs. `DESCRIBE` of a camera waits as long.
    private static let recoveryPatience = Duration.seconds(10)

    func run() async -> Found {
        guard await source.recovery.wait(atMost: Self.recoveryPatience) else { return .refused(.unavailable) }
        let permits = await source.permits(source.device(name))
        let found = await find()
        guard case .footage(let presentation, _) = found, let permits else { return found }
        let usage: OutputUsage = presentation.isRunning ? .liveView : .playback
        do throws(StationError) {
            return .footage(presentation, try permits.permit(for: usage, owner: owner, revoked: revoked))
        } catch {
            return .refused(.refused)
        }
    }

    private var revoked: OutputPermits.Revoked {
        let (connection, revoking, path) = (connection, revoking, FootagePresentation.prefix + name)
        return { revocation in
            await withCheckedContinuation { continuation in
                revoking.end(connection, of: path, because: revocation.refusal) { continuation.resume() }
            }
        }
    }

    private func find() async -> Found {
        await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { continuation.resume(returning: found()) }
            if !startDetachedThread(name: "footage", work) { continuation.resume(returning: .refused(.unavailable)) }
        }
    }

    private func found() -> Found {
        do throws(PlaybackError) {
            var presentation = try FootagePresentation(of: source.device(name), query, in: source.store)
            presentation.name = name
            return .footage(presentation, nil)
        } catch {
            switch error {
            case .nothingRecorded, .noPlayableTrack, .store(.unknownSession): return .refused(.notFound)
            default: return .refused(.unavailable)
            }
        }
    }
}
