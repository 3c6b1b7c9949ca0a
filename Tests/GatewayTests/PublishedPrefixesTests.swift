import Foundation
import Logging
import Testing

@testable import Gateway

/// The prefixes at which the gateway has published before.
@Suite struct PublishedPrefixesTests {
    private let folder: TemporaryFolder
    private let log = LogLines()

    init() throws { folder = try TemporaryFolder() }

    /// A start of the gateway with this `topicPrefix`.
    /// - Returns: the prefixes below which something may be left.
    private func start(_ prefix: String, host: String = "broker", keeps: Bool = true) -> [String] {
        var wanted = GatewayConfiguration.MQTT(host: host)
        wanted.topicPrefix = prefix
        return PublishedPrefixes.update(
            in: keeps ? folder.directory : nil, for: wanted, logger: log.logger
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

    @Test func `without a state folder nothing is kept`() {
        #expect(start("a", keeps: false) == [])
        #expect(start("b", keeps: false) == [])
    }

    @Test func `a damaged file is reported and set aside, and the next prefixes are kept`() throws {
        let name = PublishedPrefixes.fileName
        for (number, text) in [(1, "{"), (2, "[]")] {
            try folder.directory.writePrivate(name, text)
            #expect(start("c") == [])
            #expect(log.lines.map(\.level) == Array(repeating: .warning, count: number))
            #expect(start("d") == ["c"])
            #expect(try folder.directory.readPrivate("\(name).damaged-\(number)") == text)
        }
        #expect(log.lines.count == 2)
    }

    @Test func `a file that cannot be read is reported, and keeps its prefixes until it can be read`() throws {
        #expect(start("a") == [])
        #expect(start("b") == ["a"])
        func permit(_ permissions: Int) throws {
            try FileManager.default.setAttributes(
                [.posixPermissions: permissions], ofItemAtPath: folder.directory.file(PublishedPrefixes.fileName))
        }
        // Others may change it, so the gateway does not trust it.
        try permit(0o666)
        #expect(start("c") == [])
        #expect(log.lines.map(\.level) == [.warning])
        try permit(0o600)
        #expect(start("d") == ["b", "a"])
        #expect(log.lines.count == 1)
    }
}
