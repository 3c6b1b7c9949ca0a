/// What exists in the home, whichever gateway asks: the home itself, its structures, rooms and devices. Today it is a
/// file of this gateway. Later several gateways may share it, so it offers only compare-and-set on single objects.
public protocol SharedStore: Sendable {
    /// Names the home.
    var home: String { get }

    /// One object with its version; nil when there is none.
    func object(_ kind: String, _ id: String) throws(StoreFailure) -> SharedObject?

    /// All objects of a kind, by their ids.
    func objects(_ kind: String) throws(StoreFailure) -> [SharedObject]

    /// Writes an object if its version is still the expected one; 0 means that it does not exist yet.
    /// - Returns: the new version, or nil when somebody else has changed the object.
    func write(_ kind: String, _ id: String, _ body: String, expecting version: Int64) throws(StoreFailure) -> Int64?

    /// Removes an object if its version is still the expected one. Its version is kept: an object that is created again
    /// under the same id has a greater version, so a stale write never succeeds.
    /// - Returns: the version of the removal, or nil when somebody else has changed the object.
    func delete(_ kind: String, _ id: String, expecting version: Int64) throws(StoreFailure) -> Int64?

    /// Yields after objects of a kind have changed, once for any number of changes that the reader has not seen yet. The
    /// reader then reads the objects again and compares versions.
    func watch(_ kind: String) -> AsyncStream<Void>
}

/// An object that the gateways of a home share.
public struct SharedObject: Sendable, Hashable {
    /// Its identifier, unique among the objects of its kind.
    public var id: String
    /// Increases with every change; the `ETag` of the object.
    public var version: Int64
    /// The object as JSON.
    public var body: String

    /// Describes an object.
    public init(id: String, version: Int64, body: String) {
        self.id = id
        self.version = version
        self.body = body
    }
}
