import Transport

/// A home that ends with the process: for tests, and for a gateway whose state folder cannot be used.
public final class MemorySharedStore: SharedStore {
    private struct Name: Hashable {
        var kind: String
        var id: String
    }

    private struct Object {
        var version: Int64 = 0
        /// Nil for an object that was removed.
        var body: String?
    }

    public let home = LogIdentity.newName()
    private let objects = Locked<[Name: Object]>([:])
    private let watchers = SharedStoreWatchers()

    /// Creates an empty home.
    public init() {}

    public func object(_ kind: String, _ id: String) -> SharedObject? {
        let object = objects.withLock { $0[Name(kind: kind, id: id)] }
        return object.flatMap { object in
            object.body.map { SharedObject(id: id, version: object.version, body: $0) }
        }
    }

    public func objects(_ kind: String) -> [SharedObject] {
        self.objects.withLock { objects in
            objects.compactMap { name, object in
                guard name.kind == kind, let body = object.body else { return nil }
                return SharedObject(id: name.id, version: object.version, body: body)
            }
        }.sorted { $0.id < $1.id }
    }

    public func write(_ kind: String, _ id: String, _ body: String, expecting version: Int64) -> Int64? {
        set(kind, id, body, expecting: version)
    }

    public func delete(_ kind: String, _ id: String, expecting version: Int64) -> Int64? {
        version > 0 ? set(kind, id, nil, expecting: version) : nil
    }

    public func watch(_ kind: String) -> AsyncStream<Void> { watchers.watch(kind) }

    private func set(_ kind: String, _ id: String, _ body: String?, expecting version: Int64) -> Int64? {
        let written = objects.withLock { objects -> Int64? in
            let name = Name(kind: kind, id: id)
            let known = objects[name] ?? Object()
            guard version == (known.body == nil ? 0 : known.version) else { return nil }
            objects[name] = Object(version: known.version + 1, body: body)
            return known.version + 1
        }
        if written != nil { watchers.wake(kind) }
        return written
    }
}
