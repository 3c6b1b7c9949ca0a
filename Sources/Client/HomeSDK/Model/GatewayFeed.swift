import GatewayClient
import HomeTypes

/// The changes of the home from a gateway's event stream.
struct GatewayFeed: HomeModel.Feed {
    let connection: GatewayConnection
    let configuration: HomeClientConfiguration

    func follow(
        after cursor: String?, _ receive: @Sendable (EventFollower.Report) -> Void
    ) async throws(HomeError) {
        var follower = EventFollower(
            connection, after: cursor, patience: configuration.patience, backOff: configuration.backOff)
        try await follower.run { receive($0) }
    }
}
