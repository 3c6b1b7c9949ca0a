/// One event of a gateway's event stream.
public struct GatewayEvent: Sendable, Hashable {
    /// The event's name, for example `device`.
    public var name: String
    /// The cursor after the event, with which a later stream continues; nil if the event has none.
    public var id: String?
    /// The event as JSON.
    public var data: String

    /// Describes an event.
    public init(name: String, id: String? = nil, data: String) {
        self.name = name
        self.id = id
        self.data = data
    }
}
