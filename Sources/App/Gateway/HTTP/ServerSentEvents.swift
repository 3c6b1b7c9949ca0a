import HomeHub

/// The format of changes on the wire: server-sent events (HTML Living Standard, section 9.2).
enum ServerSentEvents {
    /// How long a client waits before it comes back, in milliseconds; the stream's first line.
    static let opening = "retry: 2000\n\n"

    static func encode(_ event: HomeEvent) -> String {
        guard !event.name.isEmpty else { return ": still here\n\n" }
        // An empty cursor would make the client forget the one that it has.
        let id = event.id.isEmpty ? "" : "id: \(event.id)\n"
        return "event: \(event.name)\n\(id)data: \(event.data)\n\n"
    }
}
