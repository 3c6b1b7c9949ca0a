import Foundation

/// One change in the change log.
public struct LogEntry: Sendable, Hashable {
    /// What an entry leaves behind as the current state of its subject.
    public enum Effect: String, Sendable, Codable {
        /// The entry is now the thing's state.
        case replaces
        /// The thing is gone.
        case removes
    }

    /// The place in the log. It increases by one with every entry, across restarts.
    public var sequence: Int64
    /// The run of the gateway that wrote the entry.
    public var incarnation: Int64
    /// When it happened, by the gateway's clock.
    public var timestamp: Date
    /// The name of the change on the wire, for example `device` or `DoorbellPressed`.
    public var name: String
    /// What the entry is about: `device/…` or `session/…`.
    public var subject: String
    /// What happens to the subject's state; nil for an event, which does not leave a state.
    public var effect: Effect?
    /// The only principal that may see the entry; nil for everybody.
    public var principal: String?
    /// The change as JSON.
    public var data: String

    /// Describes an entry.
    public init(
        sequence: Int64, incarnation: Int64, timestamp: Date, name: String, subject: String, effect: Effect?,
        principal: String? = nil, data: String
    ) {
        self.sequence = sequence
        self.incarnation = incarnation
        self.timestamp = timestamp
        self.name = name
        self.subject = subject
        self.effect = effect
        self.principal = principal
        self.data = data
    }

    /// Whether it is an event, which the history of its device lists.
    public var isEvent: Bool { effect == nil }

    /// About how many bytes it takes in memory and in the store.
    var size: Int { data.utf8.count + name.utf8.count + subject.utf8.count + 64 }
}

/// An entry that readers may have, with the event that readers of the whole home share.
final class PublishedEntry: Sendable {
    let entry: LogEntry
    let event: HomeEvent

    init(_ entry: LogEntry, log: String) {
        self.entry = entry
        self.event = HomeEvent(entry, log: log)
    }

    /// The event for a reader with this mark (``AccessMark``), which has a state with the effects of the entries up to
    /// `state`. Readers of the whole home that are past that entry share one event.
    func event(for mark: String, state: Int64) -> HomeEvent {
        let ahead = entry.sequence < state ? state : 0
        guard !mark.isEmpty || ahead > 0 else { return event }
        return event.with(id: LogCursor.adding(mark, state: ahead, to: event.id))
    }
}
