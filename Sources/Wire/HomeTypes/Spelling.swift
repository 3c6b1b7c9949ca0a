/// Guesses which word a misspelt word means.
package enum Spelling {
    /// The known word that a misspelt one most likely means: at most two letters of it are different, and not all. Nil if
    /// there is none.
    package static func nearest(to word: String, in known: [String]) -> String? {
        let letters = Array(word.lowercased())
        let ranked = known.map { (word: $0, distance: distance(letters, Array($0.lowercased()))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= 2,
            best.distance < max(letters.count, best.word.count)
        else { return nil }
        return best.word
    }

    /// The advice in a message about an unknown word: `did you mean delay?`, or the known words.
    /// - Parameter what: what the words are, for example `keys`.
    package static func advice(for word: String, in known: [String], what: String) -> String {
        if let nearest = nearest(to: word, in: known) { return "did you mean \(nearest)?" }
        return "known \(what) are \(known.joined(separator: ", "))"
    }

    /// The number of single-letter edits between two words; long words are not compared.
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        guard first.count <= 40, second.count <= 40 else { return .max }
        var row = Array(0...second.count)
        for (i, left) in first.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in second.enumerated() {
                let substitution = diagonal + (left == right ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[second.count]
    }
}
