import Foundation
import Testing

@testable import Gateway

/// A `topicPrefix` that the gateway publishes below while the state folder does not take it.
@Suite struct LatePrefixesTests {
    /// What becomes of the section `mqtt` while the prefix is late.
    enum Change: CaseIterable, Sendable {
        /// It stays as it is.
        case none
        /// The cameras are no longer published.
        case publishesNothing
        /// It is removed.
        case removal
    }

    private let folder: TemporaryFolder
    private let log = LogLines()

    init() throws { folder = try TemporaryFolder() }

    private func section(_ prefix: String) -> GatewayConfiguration.MQTT {
        // Nothing answers there.
        var section = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        section.topicPrefix = prefix
        return section
    }

    /// The prefixes in the file, the newest first.
    private var kept: [String] {
        folder.directory.readJSON(PublishedPrefixes.self, from: PublishedPrefixes.fileName).value?.prefixes ?? []
    }

    /// Changes who may read and write the file. The gateway does not trust one that others may change.
    private func permit(_ permissions: Int) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: permissions], ofItemAtPath: folder.directory.file(PublishedPrefixes.fileName))
    }

    @Test(arguments: Change.allCases)
    func `a late prefix is kept as soon as possible, whether the gateway still publishes or not`(
        change: Change
    ) async throws {
        let runner = MQTTRunner(
            directory: folder.directory, logger: log.logger, pauseBeforeRetry: .milliseconds(1))
        await runner.apply(section("a"))
        #expect(kept == ["a"])
        try permit(0o666)
        await runner.apply(section("b"))
        switch change {
        case .none: break
        case .publishesNothing:
            var silent = section("b")
            silent.publishes = false
            await runner.apply(silent)
        case .removal: await runner.apply(nil)
        }
        #expect(kept == [])
        try permit(0o600)
        // Nobody changes the config again.
        #expect(await becomesTrue { kept == ["b", "a"] })
        await runner.stop()
    }
}
