import Foundation
import HomeTypes

/// A change as a watcher gets it.
public struct HomeEvent: Sendable, Equatable {
    /// The cursor after the change, opaque to clients. Empty if a client cannot resume from here: for a heartbeat, for
    /// `missed`, and for all but the last event of the state that is sent first.
    public var id: String
    /// The name of the change on the wire; empty for a heartbeat.
    public var name: String
    /// The change as JSON.
    public var data: String

    init(id: String, name: String, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    init(_ entry: LogEntry, log: String) {
        self.id = LogCursor(log: log, incarnation: entry.incarnation, sequence: entry.sequence).text
        self.name = entry.name
        self.data = entry.data
    }

    /// A change that is not in the log: the present state.
    init(_ change: HomeChange, id: String = "") {
        let encoded = change.encoded()
        self.init(id: id, name: encoded.name, data: encoded.data)
    }

    /// Nothing has changed. It is sent regularly so that a dead connection is noticed.
    public static let heartbeat = HomeEvent(id: "", name: "", data: "")

    /// The watcher does not get, or has not got, every change: why, and what to do.
    static func missed(_ reason: String) -> HomeEvent { HomeEvent(.missed(reason: reason)) }

    /// The change, read from its JSON; nil for a heartbeat.
    public var change: HomeChange? { HomeChange(name: name, data: data) }
}
