/// The kinds of objects in a home (Home APIs, `HomeObjectType`).
public enum HomeObjectType: String, Sendable, Hashable, CaseIterable {
    case structure, room, device, endpoint, component, automation, any
}

/// An object of the home: a snapshot. Two are equal when they have the same content.
public protocol HomeObject: Sendable, Hashable, Identifiable where ID == String {
    /// The identifier, which is unique in the home and never changes.
    var id: String { get }
    /// What kind of object it is.
    var objectType: HomeObjectType { get }
}

extension Collection where Element: HomeObject {
    /// The first object, or nil when there is none.
    public func first() -> Element? { first { _ in true } }
}
