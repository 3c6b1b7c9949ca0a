import Foundation

/// Finds in a gateway's events that a live view has ended, and why.
///
/// The media connection says less: its goodbye may be lost, and the relay that sends it does not know leases and
/// privacy modes.
public struct SessionEndReader: Sendable {
    private struct Event: Decodable {
        struct Session: Decodable {
            var mediaSessionId: String
            var endReason: String?
        }

        var change: String
        var session: Session
    }

    private let session: String
    /// Why the live view ended, in the gateway's words; nil while the live view runs, and if the gateway did not say.
    public private(set) var reason: String?

    /// - Parameter session: the `mediaSessionId` of the live view.
    public init(session: String) {
        self.session = session
    }

    /// Reads the next part of an event stream.
    /// - Returns: whether it said that the live view has ended.
    public mutating func take(_ update: EventFeed.Update) -> Bool {
        let events =
            switch update {
            case .state(let events): events
            case .change(let event), .missed(let event): [event]
            }
        for event in events where event.name == "session" {
            // An event that this version cannot read does not report an end that it knows.
            guard let read = try? JSONDecoder().decode(Event.self, from: Data(event.data.utf8)),
                read.session.mediaSessionId == session, read.change == "ended"
            else { continue }
            reason = read.session.endReason
            return true
        }
        return false
    }
}
