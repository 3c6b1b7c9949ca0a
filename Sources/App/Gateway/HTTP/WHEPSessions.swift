/// What the WHEP endpoint knows about the sessions that were started through it.
///
/// A WHEP player cannot extend a lease, so the gateway does it for as long as the viewer is connected. The limit on a
/// session's whole length still applies.
actor WHEPSessions {
    /// One session.
    struct Entry: Sendable, Equatable {
        let deviceID: String
        let principal: String
        /// The entity tag, without its quotation marks: the ICE generation.
        var entityTag: String
        /// The viewer's user name fragment of this ICE generation; nil where candidates need the entity tag.
        var usernameFragment: String?
    }

    private var entries: [String: Entry] = [:]

    subscript(session: String) -> Entry? { entries[session] }

    func add(_ session: String, _ entry: Entry) {
        entries[session] = entry
    }

    /// Adds a session and replaces all others of its device.
    func replace(_ session: String, _ entry: Entry) {
        entries = entries.filter { $0.value.deviceID != entry.deviceID }
        entries[session] = entry
    }

    /// Takes the ICE generation that a restart has begun.
    func restart(_ session: String, entityTag: String, usernameFragment: String?) {
        entries[session]?.entityTag = entityTag
        if entries[session]?.usernameFragment != nil { entries[session]?.usernameFragment = usernameFragment }
    }

    func remove(_ session: String) {
        entries[session] = nil
    }

    /// A principal's sessions, each with its device.
    func sessions(of principal: String) -> [(session: String, device: String)] {
        entries.filter { $0.value.principal == principal }.map { ($0.key, $0.value.deviceID) }
    }

    /// Removes the sessions that have ended, and returns the rest.
    func retain(alive: Set<String>) -> [String: Entry] {
        entries = entries.filter { alive.contains($0.key) }
        return entries
    }
}
