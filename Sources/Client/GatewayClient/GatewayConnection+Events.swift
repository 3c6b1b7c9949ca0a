import AsyncHTTPClient
import HomeTypes
import NIOCore

extension GatewayConnection {
    /// Reads one event stream until it ends. `EventFollower` continues after a lost connection.
    /// - Parameters:
    ///   - cursor: the `id` of the last event that was read; nil to begin with the current state.
    ///   - onOpen: called when the gateway has accepted the request.
    ///   - onItem: called for each event and comment.
    public func events(
        after cursor: String?, onOpen: () -> Void = {}, onItem: (EventStreamReader.Item) -> Void
    ) async throws(HomeError) {
        var headers = [("Accept", "text/event-stream")]
        if let cursor { headers.append(("Last-Event-ID", cursor)) }
        let response = try await self.stream("/v1/events", headers: headers)
        onOpen()
        var reader = EventStreamReader()
        do {
            for try await chunk in response.body {
                for item in try reader.read(chunk.readableBytesView) { onItem(item) }
            }
        } catch let error as HomeError {
            throw error
        } catch is CancellationError {
            throw .cancelled("the event stream was cancelled")
        } catch {
            throw .unavailable("the gateway at \(address) has closed the event stream")
        }
    }
}
