import AsyncHTTPClient
import Foundation
import HomeTypes
import NIOCore

/// One event of a gateway's event stream.
public struct GatewayEvent: Sendable, Hashable {
    /// The event's name, for example `device`.
    public var name: String
    /// The place behind the event, with which a later stream goes on; nil where there is none.
    public var id: String?
    /// The event as JSON.
    public var data: String

    /// Reads one event from the lines of a stream; nil for a comment.
    init?(lines: Substring) {
        var fields: [Substring: Substring] = [:]
        for line in lines.split(separator: "\n") {
            guard let colon = line.range(of: ": "), colon.lowerBound > line.startIndex else { continue }
            fields[line[..<colon.lowerBound]] = line[colon.upperBound...]
        }
        guard let name = fields["event"], let data = fields["data"] else { return nil }
        self.name = String(name)
        self.id = fields["id"].map(String.init)
        self.data = String(data)
    }
}

extension GatewayConnection {
    /// Reads the gateway's event stream until it ends.
    /// - Parameters:
    ///   - cursor: the `id` of the last event that was read; nil to begin with the present state.
    ///   - onEvent: called for each event.
    public func events(after cursor: String?, onEvent: (GatewayEvent) -> Void) async throws(HomeError) {
        var headers = [("Accept", "text/event-stream")]
        if let cursor { headers.append(("Last-Event-ID", cursor)) }
        let response = try await self.stream("/v1/events", headers: headers)
        var rest: [UInt8] = []
        do {
            for try await chunk in response.body {
                rest += Array(chunk.readableBytesView)
                // A gateway sends events of a few kilobytes.
                guard rest.count < 16 << 20 else {
                    throw HomeError.internal("the event stream sends an event that never ends")
                }
                // A chunk may end inside an event, and inside a character.
                guard let end = rest.indices.dropFirst().last(where: { rest[$0] == 10 && rest[$0 - 1] == 10 }) else {
                    continue
                }
                let text = Substring(decoding: rest[...end], as: UTF8.self)
                rest.removeSubrange(...end)
                for lines in text.split(separator: "\n\n") {
                    if let event = GatewayEvent(lines: lines) { onEvent(event) }
                }
            }
        } catch let error as HomeError {
            throw error
        } catch {
            throw .unavailable("the gateway has closed the event stream")
        }
    }
}
