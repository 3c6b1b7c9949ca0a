import DatagramPort
import HTTPMedia
import RTSP
import StreamFormats
import Transport

/// Requests a stream's playlists and segments (RFC 8216) on a thread of its own, so that a server that answers slowly does
/// not delay the pictures that have come.
///
/// Each request goes where ``RequestPlace`` lets the playlists lead.
final class PlaylistFetcher: Sendable {
    /// What has been fetched.
    struct Fetched {
        var paced = PacedUnits()
        /// At most one track of video and one of audio, whichever playlist they came from.
        var tracks: [StreamTrack] = []
        var awaitsTracks = true
        var leftOut: [UnsupportedPart] = []
        /// Whether each playlist has given something, so that playing can begin.
        var isPrimed = false
        /// Why fetching has ended; nil while it is in progress.
        var end: CameraFailure?
    }

    let fetched = Locked(Fetched())
    /// Stops the thread.
    let control: SourceControl
    private let owner: SourceControl

    /// What is fetched wakes up `owner`. Nil when the process has no file descriptor left.
    init?(owner: SourceControl) {
        guard let control = SourceControl() else { return nil }
        self.control = control
        self.owner = owner
    }

    /// Fetches until something fails, or the stream ends.
    func run(_ client: CameraHTTPClient, at address: HTTPAddress, random: RandomSource) {
        var work = PlaylistWork(client: client, random: random, control: control)
        do throws(CameraFailure) {
            try work.open(address)
            while !control.isStopping, !work.hasEnded {
                try work.fetchNew(into: self)
                store { $0.isPrimed = true }
                work.waitForReload()
            }
            end(.stream(.ended))
        } catch {
            end(error)
        }
        control.markEnded()
    }

    private func end(_ reason: CameraFailure) {
        store { fetched in
            fetched.isPrimed = true
            fetched.end = reason
        }
    }

    /// Changes what is there, and wakes up the owner.
    func store(_ change: (inout Fetched) -> Void) {
        fetched.withLock { change(&$0) }
        owner.wake()
    }
}
