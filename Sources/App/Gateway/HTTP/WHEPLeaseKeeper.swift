import HomeHub
import HomeTypes
import ServiceLifecycle
import Signalling
import Transport

/// Extends the leases of connected WHEP viewers in time, and forgets what the gateway knows of views that have ended: theirs,
/// and the streams of a cloud, whose viewers extend nothing either.
///
/// It looks at the leases when one of them is due, and when a view has begun. Nothing else can make a lease due sooner:
/// its end never moves to an earlier time. A due lease may have to wait for its viewer to connect, or for a right. The
/// keeper looks at it again until it ends, so it depends on no report of such a change. What belongs to a view that has ended
/// goes at the next of these looks: it only takes memory until then, and gives way when a cloud needs its place.
struct WHEPLeaseKeeper: Service {
    /// A lease that has no more time than this is due.
    static let margin: Duration = .seconds(30)
    /// How long it waits at least until it looks again.
    static let shortestPause: Duration = .seconds(5)
    /// How long it waits for a view to begin, where there are no leases.
    static let longestPause: Duration = .seconds(86_400)

    let sessions: WHEPSessions
    let cameraStreams: CameraStreams
    let hub: HomeHub
    let tokens: TokenRegistry

    func run() async throws {
        await cancelWhenGracefulShutdown { await keep() }
    }

    /// Extends leases until the task is cancelled.
    func keep() async {
        while !Task.isCancelled {
            // Read first: a view that begins during the look ends the wait at once.
            let seen = sessions.beginnings.withLock { $0 }
            let pause = await extendLeases() ?? Self.longestPause
            await sessions.beginnings.wait(atMost: pause) { $0 != seen }
        }
    }

    /// Extends the leases that are due and that may be extended.
    /// - Returns: how long to wait until the next look; nil if there are no leases.
    func extendLeases() async -> Duration? {
        let views = hub.signalling.views
        // A view that begins from here on may not be among the leases.
        let (begun, streamed) = (await sessions.begun, cameraStreams.begun)
        let leases = await views.leases()
        let alive = Set(leases.map(\.mediaSessionId))
        let entries = await sessions.removeEnded(of: begun, alive: alive)
        cameraStreams.removeEnded(of: streamed, alive: alive)
        var pauses: [Duration] = []
        for lease in leases {
            guard let entry = entries[lease.mediaSessionId] else { continue }
            var left = Duration.seconds(lease.expiresInSeconds)
            // A view that began while its token was revoked lives no longer than one lease.
            if left <= Self.margin, lease.isConnected,
                tokens.access(of: entry.principal).permits(.view, hub.directory.device(entry.deviceID)),
                // A refusal means that the session has reached its limit. It ends by itself then.
                let granted = try? await views.extendLiveView(
                    SessionReference(lease.mediaSessionId, of: entry.deviceID, principal: entry.principal),
                    extendedDurationSeconds: nil)
            {
                left = .seconds(granted)
            }
            pauses.append(max(left - Self.margin, Self.shortestPause))
        }
        return pauses.min()
    }
}
