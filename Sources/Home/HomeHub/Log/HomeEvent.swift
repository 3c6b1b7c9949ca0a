import Foundation
import HomeTypes
import Transport

/// A change as a watcher gets it.
public struct HomeEvent: Sendable, Equatable {
    /// The cursor after the change, opaque to clients. Empty if a client cannot resume from here: for a heartbeat, for
    /// `missed`, and for all but the last event of the state that is sent first. For a watcher of a part of the home, it
    /// also says what that watcher may read. After a state that is newer than the change, it also says how new that state is.
    public let id: String
    /// The name of the change on the wire; empty for a heartbeat.
    public let name: String
    /// The change as JSON.
    public let data: String
    /// The event in the form in which watchers pass it on. It is the same for all that read the whole home.
    private let form = SharedForm()

    init(id: String, name: String, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    init(_ entry: LogEntry, log: String) {
        id = LogCursor(log: log, incarnation: entry.incarnation, sequence: entry.sequence).text
        name = entry.name
        data = entry.data
    }

    /// A change that is not in the log: the current state.
    init(_ change: HomeChange, id: String = "") {
        let encoded = change.encoded()
        self.init(id: id, name: encoded.name, data: encoded.data)
    }

    /// The same event with a cursor.
    func with(id: String) -> HomeEvent { HomeEvent(id: id, name: name, data: data) }

    /// The event in the form in which watchers pass it on. It is made for the first of them, and the others get the
    /// same value: a change is encoded once, however many watch the whole home.
    public func form<Form: Sendable>(_ make: (HomeEvent) -> Form) -> Form { form.get { make(self) } }

    public static func == (first: HomeEvent, second: HomeEvent) -> Bool {
        first.id == second.id && first.name == second.name && first.data == second.data
    }

    /// Nothing has changed. It is sent regularly so that a dead connection is noticed.
    public static let heartbeat = HomeEvent(id: "", name: "", data: "")

    /// The watcher does not get, or has not received, every change: why, and what to do.
    /// - Parameter eventsFollow: whether only states are missing, and the events follow.
    static func missed(_ reason: String, eventsFollow: Bool = false) -> HomeEvent {
        HomeEvent(.missed(reason: reason, eventsFollow: eventsFollow))
    }

    /// The change, read from its JSON; nil for a heartbeat.
    public var change: HomeChange? { HomeChange(name: name, data: data) }
}

/// What is made once from an event that many watchers get.
private final class SharedForm: Sendable {
    private let value = Locked<(any Sendable)?>(nil)

    func get<Form: Sendable>(_ make: () -> Form) -> Form {
        value.withLock { value in
            if let known = value as? Form { return known }
            let made = make()
            value = made
            return made
        }
    }
}
