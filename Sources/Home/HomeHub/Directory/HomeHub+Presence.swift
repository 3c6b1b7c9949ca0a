import Foundation
import HomeTypes

/// A person, and whether the person is at home.
public struct PersonPresence: Sendable, Codable, Hashable {
    /// The person's name.
    public var person: String
    /// Whether the person is at home.
    public var isHome: Bool
    /// When the person came or left.
    public var since: Date
}

/// Who is at home. Watchers get the structure when its traits `AreaPresenceState` or `AreaAttendanceState` change.
extension HomeHub {
    /// The persons of a structure, by their names.
    public func presence(in structure: String) throws(HomeError) -> [PersonPresence] {
        _ = try directory.structure(structure)
        return directory.presence(in: structure).persons.sorted { $0.key < $1.key }
            .map { PersonPresence(person: $0.key, isHome: $0.value.isHome, since: $0.value.since) }
    }

    /// Handles a report about a person. A repeated report changes nothing.
    /// - Parameter isHome: nil forgets the person.
    /// - Throws: `notFound` for an unknown structure, `invalidArgument` for a name that does not belong in a home, and
    ///   `unavailable` if the disk fails.
    public func reportPresence(of person: String, isHome: Bool?, in structure: String) async throws(HomeError) {
        try await directory.perform { (home) throws(HomeError) in
            _ = try home.setPresence(of: person, isHome, in: structure)
        }
        readDirectory()
    }
}
