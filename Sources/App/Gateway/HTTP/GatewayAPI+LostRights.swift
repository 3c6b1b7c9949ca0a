import HomeHub
import HomeTypes
import Signalling

/// What begins at the moment at which its token loses rights. What ends the things of a principal does not know of it
/// yet, so it is checked again once it can be ended.
extension GatewayAPI {
    /// A place to watch a device's live pictures without WebRTC.
    /// - Throws: `resourceExhausted` where there is none, and what ``TokenRegistry/requireStill(_:toGive:)`` throws.
    func watcher(of device: String, _ context: GatewayRequestContext) throws -> LiveWatchers.Watcher {
        let authorization = try self.authorization(context)
        let watcher = try liveWatchers.add(authorization.principal, watching: device)
        try tokens.requireStill(authorization)
        return watcher
    }

    /// Fails if a token has lost rights while its live view began, and ends the view.
    func requireStill(_ authorization: Authorization, orEnd session: SessionReference) async throws(HomeError) {
        do throws(HomeError) {
            try tokens.requireStill(authorization)
        } catch {
            // One that has ended meanwhile needs nothing.
            try? await hub.signalling.views.stopLiveView(session)
            await whepSessions.remove(session.mediaSessionId)
            throw error
        }
    }

    /// Fails if a token has lost rights while it began to publish, and ends that.
    func requireStill(
        _ authorization: Authorization, orEndPublisher session: SessionReference
    ) async throws(HomeError) {
        do throws(HomeError) {
            try tokens.requireStill(authorization)
        } catch {
            // One that has ended meanwhile needs nothing.
            try? await hub.signalling.publishing.stopPublishing(session)
            await whipSessions.remove(session.mediaSessionId)
            throw error
        }
    }
}
