/// Turns the events of successive streams into one sequence: the whole state, then every change, once each.
///
/// A stream without a cursor begins with the state of the home; only the last event of the state has an id. A stream
/// with a cursor begins after it. If the gateway no longer keeps what came after the cursor, the stream begins with the
/// state, and the event `missed` follows.
public struct EventFeed: Sendable {
    /// What a feed reports.
    public enum Update: Sendable, Hashable {
        /// The whole state of the home. It replaces everything that is known.
        case state([GatewayEvent])
        /// A change.
        case change(GatewayEvent)
        /// Some changes are missing. If the gateway no longer had them, the state that came before this contains their
        /// effect.
        case missed(GatewayEvent)
    }

    private enum Phase {
        /// A stream with a cursor, whose first event shows whether the gateway continues after it.
        case undecided
        /// The state arrives.
        case collecting([GatewayEvent])
        /// Changes arrive. `first` is the only event of a stream with a cursor so far.
        case following(first: GatewayEvent?)
    }

    /// The cursor after the last event; nil before there is one.
    public private(set) var cursor: String?
    private var phase = Phase.undecided

    /// Begins after a cursor, or with the state.
    public init(after cursor: String? = nil) {
        self.cursor = cursor
    }

    /// Begins a stream, which was requested with `cursor`.
    public mutating func open() {
        phase = cursor == nil ? .collecting([]) : .undecided
    }

    /// Reads the next item of the stream.
    public mutating func receive(_ item: EventStreamReader.Item) -> [Update] {
        switch (item, phase) {
        // The whole state is sent at once. A comment comes later, so a state without any id is complete.
        case (.comment, .collecting(let events)):
            phase = .following(first: nil)
            return [.state(events)]
        case (.comment, _): return []
        case (.event(let event), _) where event.name == "missed" && event.id == nil: return receive(missed: event)
        case (.event(let event), .collecting(let events)): return collect(event, behind: events)
        case (.event(let event), .undecided):
            guard let id = event.id else { return collect(event, behind: []) }
            cursor = id
            phase = .following(first: event)
            return [.change(event)]
        case (.event(let event), .following):
            if let id = event.id { cursor = id }
            phase = .following(first: nil)
            return [.change(event)]
        }
    }

    private mutating func collect(_ event: GatewayEvent, behind events: [GatewayEvent]) -> [Update] {
        guard let id = event.id else {
            phase = .collecting(events + [event])
            return []
        }
        cursor = id
        phase = .following(first: nil)
        return [.state(events + [event])]
    }

    private mutating func receive(missed event: GatewayEvent) -> [Update] {
        guard case .following(let first) = phase else { return [.missed(event)] }
        phase = .following(first: nil)
        // The one event before it was not a change but a state of one object.
        return first.map { [.state([$0]), .missed(event)] } ?? [.missed(event)]
    }
}
