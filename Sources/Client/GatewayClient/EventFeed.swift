/// Turns the events of successive streams into one sequence: the whole state, then every change, once each.
///
/// A stream without a cursor begins with the state of the home; only the last event of the state has an id. A stream
/// with a cursor begins after it. If the gateway no longer keeps the changes after the cursor, or if what the client may read has
/// changed, the stream begins with the state, and the event `missed` follows. A gateway also sends `missed` before it ends a
/// stream: it cuts off a client that reads too slowly, and one whose rights have changed.
public struct EventFeed: Sendable {
    /// What a feed reports.
    public enum Update: Sendable, Hashable {
        /// The whole state of the home. It replaces everything that is known.
        case state([GatewayEvent])
        /// A change.
        case change(GatewayEvent)
        /// Some changes are missing. If a state came before this, it contains their effect. If the event's
        /// `eventsFollow` is true, only changes of the state are missing.
        case missed(GatewayEvent)
    }

    private enum Phase {
        /// A stream with a cursor, whose first event shows whether the gateway continues after it.
        case undecided
        /// The state arrives.
        case collecting([GatewayEvent])
        /// The stream with a cursor has begun with this event. It is a change, or the state of a home with one object.
        case begun(GatewayEvent)
        /// The event `missed` came after at most one other event. If the stream continues, the home has at most one object, and
        /// this was its state. If the stream ends, the client was cut off.
        case doubtful(first: GatewayEvent?, missed: GatewayEvent)
        /// Changes arrive.
        case following
    }

    /// The cursor after the last event; nil before there is one.
    public private(set) var cursor: String?
    private var phase = Phase.undecided
    /// The cursor with which the stream was requested.
    private var requested: String?
    /// A reported change that comes again, because its stream has to be requested again. It may come after a state, if what the
    /// client may read has changed by then.
    private var repeated: GatewayEvent?

    /// Begins after a cursor, or with the state.
    public init(after cursor: String? = nil) {
        self.cursor = cursor
    }

    /// Begins a stream, which was requested with `cursor`.
    public mutating func open() {
        requested = cursor
        phase = cursor == nil ? .collecting([]) : .undecided
    }

    /// Reads the next item of the stream.
    public mutating func receive(_ item: EventStreamReader.Item) -> [Update] {
        switch (item, phase) {
        case (_, .doubtful(let first, let missed)):
            phase = .following
            return [.state(first.map { [$0] } ?? []), .missed(missed)] + receive(item)
        // The whole state is sent at once. A comment comes later, so a state without any id is complete.
        case (.comment, .collecting(let events)):
            phase = .following
            return [.state(events)]
        // For the same reason, an event before a comment was not a state.
        case (.comment, _):
            phase = .following
            return []
        case (.event(let event), _) where event.name == "missed" && event.id == nil: return receive(missed: event)
        case (.event(let event), .collecting(let events)): return collect(event, behind: events)
        case (.event(let event), .undecided):
            guard let id = event.id else { return collect(event, behind: []) }
            cursor = id
            phase = .begun(event)
            return report(event)
        case (.event(let event), .begun), (.event(let event), .following):
            if let id = event.id { cursor = id }
            phase = .following
            return report(event)
        }
    }

    /// Ends the stream after its connection was lost.
    public mutating func close() -> [Update] {
        guard case .doubtful(let first, let missed) = phase else { return [] }
        // The connection may also have been lost after a state. The next stream begins at the same place, and shows whether it
        // was.
        if let first { repeated = first }
        cursor = requested
        phase = .undecided
        return [.missed(missed)]
    }

    /// Reports a change, unless an earlier stream brought it.
    private mutating func report(_ event: GatewayEvent) -> [Update] {
        // A state of one object may have the id of an earlier state, but other contents.
        guard let repeated, let id = event.id, let earlier = repeated.id, Self.entry(id) == Self.entry(earlier),
            event.name == repeated.name, event.data == repeated.data
        else { return [.change(event)] }
        self.repeated = nil
        return []
    }

    /// The part of an id that names an entry of the gateway's log. The rest says what the stream's client may read, and
    /// differs when the same entry comes in a later stream.
    private static func entry(_ id: String) -> String {
        id.split(separator: "-", omittingEmptySubsequences: false).prefix(3).joined(separator: "-")
    }

    private mutating func collect(_ event: GatewayEvent, behind events: [GatewayEvent]) -> [Update] {
        guard let id = event.id else {
            phase = .collecting(events + [event])
            return []
        }
        cursor = id
        phase = .following
        return [.state(events + [event])]
    }

    private mutating func receive(missed event: GatewayEvent) -> [Update] {
        switch phase {
        case .undecided:
            phase = .doubtful(first: nil, missed: event)
            return []
        case .begun(let first):
            phase = .doubtful(first: first, missed: event)
            return []
        case .collecting, .doubtful, .following: return [.missed(event)]
        }
    }
}
