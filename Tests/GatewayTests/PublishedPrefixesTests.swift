import Logging
import Testing

@testable import Gateway

/// The prefixes at which the gateway has published before.
@Suite struct PublishedPrefixesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A start of the gateway with this `topicPrefix`.
    /// - Returns: the prefixes below which something may be left.
    private func start(_ prefix: String, host: String = "broker", keeps: Bool = true) -> [String] {
        var wanted = GatewayConfiguration.MQTT(host: host)
        wanted.topicPrefix = prefix
        return PublishedPrefixes.update(
            in: keeps ? folder.directory : nil, for: wanted,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).former
    }

    @Test func `the prefixes before the present one survive restarts, each once`() {
        #expect(start("a") == [])
        #expect(start("a") == [])
        #expect(start("b") == ["a"])
        #expect(start("b") == ["a"])
        #expect(start("c") == ["b", "a"])
        #expect(start("a") == ["c", "b"])
    }

    @Test func `another broker has nothing of them`() {
        #expect(start("a") == [])
        #expect(start("b", host: "other") == [])
        #expect(start("c", host: "other") == ["b"])
    }

    @Test func `only the newest are kept`() {
        for number in 0..<20 { _ = start("p\(number)") }
        let former = start("last")
        #expect(former.count == PublishedPrefixes.most - 1)
        #expect(former.first == "p19")
    }

    @Test func `a damaged file, or none, leaves the gateway without former prefixes`() throws {
        #expect(start("a", keeps: false) == [])
        #expect(start("b", keeps: false) == [])
        try folder.directory.writePrivate(PublishedPrefixes.fileName, "{")
        #expect(start("c") == [])
        #expect(start("d") == ["c"])
    }
}
