import Foundation
import HomeTypes
import Transport

/// Who is at home, as far as it was reported.
struct PresenceRecord: Sendable, Codable, Hashable {
    /// What is known of one person.
    struct Person: Sendable, Codable, Hashable {
        var isHome: Bool
        /// When the person came or left.
        var since: Date
    }

    /// The persons, by their names.
    var persons: [String: Person] = [:]
}

extension HomeDirectory {
    /// The maximum number of persons in a structure.
    public static let maximumPersons = 100

    /// The persons of a structure.
    func presence(in structure: String) -> PresenceRecord {
        state.withLock { $0.presence[structure]?.record } ?? PresenceRecord()
    }

    /// Handles a report about a person.
    /// - Parameter isHome: nil forgets the person.
    /// - Returns: what is known now.
    func setPresence(of person: String, _ isHome: Bool?, in structure: String) throws(HomeError) -> PresenceRecord {
        _ = try self.structure(structure)
        if let fault = NameRules.fault(in: person) { throw HomeError.invalidArgument("person: \(fault)") }
        guard (1...StructureRules.maximumName).contains(person.unicodeScalars.count) else {
            throw HomeError.invalidArgument("person: expected 1 to \(StructureRules.maximumName) characters")
        }
        let known = state.withLock { $0.presence[structure] }
        var record = known?.record ?? PresenceRecord()
        // A repeated report contains nothing new, so the time stays.
        guard record.persons[person]?.isHome != isHome else { return record }
        record.persons[person] = isHome.map { .init(isHome: $0, since: now()) }
        guard record.persons.count <= Self.maximumPersons else {
            throw HomeError.resourceExhausted(
                "the structure already has \(Self.maximumPersons) people; forget one first")
        }
        let version = try write(Kind.presence, structure, record, expecting: known?.version ?? 0)
        state.withLock { $0.presence[structure] = Kept(record: record, version: version) }
        return record
    }

    /// Forgets the persons of a structure that is removed.
    func removePresence(in structure: String) throws(HomeError) {
        guard let known = state.withLock({ $0.presence[structure] }) else { return }
        try delete(Kind.presence, structure, expecting: known.version)
        state.withLock { $0.presence[structure] = nil }
    }
}
