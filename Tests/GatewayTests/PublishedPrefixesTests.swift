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
        var kept = KeptPrefixes(in: keeps ? folder.directory : nil, logger: log.logger)
        return kept.update(for: wanted(prefix, host: host)).former
    }

    private func wanted(_ prefix: String, host: String = "broker") -> GatewayConfiguration.MQTT {
        var wanted = GatewayConfiguration.MQTT(host: host)
        wanted.topicPrefix = prefix
        return wanted
    }

    /// Changes who may read and write the file. The gateway does not trust one that others may change.
    private func permit(_ permissions: Int) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: permissions], ofItemAtPath: folder.directory.file(PublishedPrefixes.fileName))
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
        try permit(0o666)
        #expect(start("c") == [])
        #expect(log.lines.map(\.level) == [.warning])
        try permit(0o600)
        #expect(start("d") == ["b", "a"])
        #expect(log.lines.count == 1)
    }
    @Test func `a prefix that is used while the file cannot be read is kept as soon as it can be`() throws {
        #expect(start("a") == [])
        let path = folder.directory.file(PublishedPrefixes.fileName)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var kept = KeptPrefixes(in: folder.directory, logger: log.logger)
        try permit(0o666)
        #expect(kept.update(for: wanted("b")).former == [])
        // It is remembered for the next config, too.
        #expect(kept.update(for: wanted("c")).former == ["b"])
        kept.tryAgain()
        #expect(kept.areLate)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(log.lines.map(\.level) == [.warning, .warning])
        try permit(0o600)
        kept.tryAgain()
        #expect(!kept.areLate)
        #expect(log.lines.map(\.level) == [.warning, .warning, .notice])
        // The process ends, and the next one finds them all.
        #expect(start("d") == ["c", "b", "a"])
    }

    @Test func `a prefix that was used at another broker meanwhile does not count`() throws {
        #expect(start("a") == [])
        var kept = KeptPrefixes(in: folder.directory, logger: log.logger)
        try permit(0o666)
        #expect(kept.update(for: wanted("b", host: "other")).former == [])
        try permit(0o600)
        #expect(kept.update(for: wanted("c")).former == ["a"])
        #expect(!kept.areLate)
    }
}
