import Testing

@testable import Gateway

/// Configs that are not YAML.
@Suite struct ConfigurationTextTests {
    private func problems(_ yaml: String) -> [String] {
        do {
            _ = try GatewayConfiguration(yaml: yaml, environment: [:])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test(arguments: ["http:\n\tport: 1\n", "http:\r\n\tport: 1\r\n", "log: {level: info}\nhttp:\n  \tport: 1\n"])
    func `a line that begins with a tab is reported as such`(yaml: String) {
        let found = problems(yaml)
        #expect(found.count == 1)
        #expect(
            found.first?.hasSuffix("; the line begins with a tab, and YAML permits only spaces there") == true,
            "\(found)")
    }

    @Test func `another mistake is reported in the parser's words`() {
        #expect(
            problems("cameras:\n  - id: a\n     source: whip\n") == [
                "line 3: is not valid YAML: mapping values are not allowed in this context"
            ])
    }
}
