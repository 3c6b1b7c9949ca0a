import Foundation
import FuzzTargets
import Testing

/// docs/fuzzing.md says of every target whether it has run, and what it has found.
@Suite struct FuzzingDocumentTests {
    private static func text() throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/fuzzing.md")
        return try String(contentsOf: file.standardized, encoding: .utf8)
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `a target is in the table of runs or among those that are newer`(name: String) throws {
        let text = try Self.text()
        let start = try #require(text.range(of: "These targets are newer than the runs of the table."))
        let end = try #require(text.range(of: "What was found:"))
        let newer = text[start.upperBound..<end.lowerBound]
        let places = [text.contains("\n| `\(name)` |"), newer.contains("`\(name)`")]
        #expect(places.filter(\.self).count == 1, "\(name): in the table \(places[0]), newer \(places[1])")
    }

    @Test func `every crash is named`() throws {
        let text = try Self.text()
        let start = try #require(text.range(of: "What was found:"))
        for finding in FoundByFuzzingTests.findings {
            #expect(text[start.upperBound...].contains("\n- `\(finding.target)`:"), "\(finding.testDescription)")
        }
    }
}
