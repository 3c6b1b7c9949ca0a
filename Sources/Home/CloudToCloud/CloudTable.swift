import Foundation
import HomeTypes
import Transport

/// The mappings of all traits and device types.
public struct CloudTable: Sendable {
    /// The mappings of each trait, by its name.
    public var traits: [String: [CloudMapping]]
    /// The cloud's device types, by the names of our device types.
    public var types: [String: String]

    /// Reads mappings in the form of the data files.
    /// - Parameter traits: the list of mappings of each trait, as JSON.
    /// - Throws: what `JSONDecoder` finds wrong with a mapping.
    public init(traits: [String: String], types: [String: String]) throws {
        let decoder = JSONDecoder()
        self.traits = try traits.mapValues { try decoder.decode([CloudMapping].self, from: Data($0.utf8)) }
        self.types = types
    }

    /// Those of the vocabulary, and of the vendors that this process has registered. A vendor's trait never replaces one of
    /// the project's.
    public static var standard: CloudTable {
        let registered = Vocabulary.cloudMappings
        guard registered.count > 0 else { return own }
        return merged.withLock { known in
            if let known, known.count == registered.count { return known.table }
            var table = own
            for (trait, text) in registered.traits {
                // The generator has checked the text. A vendor's device with an invalid mapping that was written by
                // hand is missing from SYNC.
                guard let mappings = try? JSONDecoder().decode([CloudMapping].self, from: Data(text.utf8)) else {
                    continue
                }
                table.traits[trait] = table.traits[trait] ?? mappings
            }
            table.types.merge(registered.types) { own, _ in own }
            known = (registered.count, table)
            return table
        }
    }

    /// The table with the vendors' mappings, and the number of registrations in it.
    private static let merged = Locked<(count: Int, table: CloudTable)?>(nil)

    private static let own: CloudTable = {
        do {
            return try CloudTable(traits: CloudMappings.traits, types: CloudMappings.types)
        } catch {
            // Proof: the texts are constants that tools/generate-traits writes, and a test reads each of them.
            fatalError("a mapping of the vocabulary cannot be read: \(error)")
        }
    }()
}
