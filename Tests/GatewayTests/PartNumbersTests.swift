import Foundation
import Logging
import MQTTDevices
import Testing

@testable import Gateway

/// The numbers of the parts of devices on the broker, from run to run.
@Suite struct PartNumbersTests {
    private let folder: TemporaryFolder
    private let log = LogLines()

    init() throws { folder = try TemporaryFolder() }

    /// What a start of the gateway reads.
    private func start() -> PartNumbers {
        var numbers = PartNumbers(in: folder.directory, logger: log.logger)
        numbers.read()
        return numbers
    }

    @Test func `the numbers survive a restart`() {
        var first = start()
        first.keep(.init(["plug": ["left": 1, "right": 2]]))
        #expect(start().numbers.numbers == ["plug": ["left": 1, "right": 2]])
        #expect(log.lines.isEmpty)
    }

    @Test func `which devices are gone survives a restart, and the first device to leave is still the first`() {
        var first = start()
        first.keep(.init(["plug": ["left": 1], "lamp": ["light": 1]], gone: ["plug", "lamp"]))
        #expect(start().numbers == MQTTPartNumbers(first.numbers.numbers, gone: ["plug", "lamp"]))
    }

    @Test func `a file of an earlier version is read`() throws {
        try folder.directory.writePrivate(PartNumbers.fileName, #"{"gone":{"light":1},"numbers":{"left":1}}"#)
        #expect(start().numbers == MQTTPartNumbers(["gone": ["light": 1], "numbers": ["left": 1]]))
        #expect(log.lines.isEmpty)
    }

    @Test func `a file that cannot be read is reported, and keeps its numbers until it can be read`() throws {
        var first = start()
        first.keep(.init(["plug": ["left": 1]]))
        func permit(_ permissions: Int) throws {
            try FileManager.default.setAttributes(
                [.posixPermissions: permissions], ofItemAtPath: folder.directory.file(PartNumbers.fileName))
        }
        // Others may change it, so the gateway does not trust it.
        try permit(0o666)
        var second = start()
        second.keep(.init(["lamp": ["light": 1]]))
        #expect(second.numbers.numbers == ["lamp": ["light": 1]])
        #expect(log.lines.map(\.level) == [.warning])
        try permit(0o600)
        #expect(start().numbers.numbers == ["plug": ["left": 1]])
    }

    @Test func `a damaged file is reported and set aside, and the numbers in use are kept`() throws {
        var first = start()
        first.keep(.init(["plug": ["left": 1]]))
        try folder.directory.writePrivate(PartNumbers.fileName, "{")
        // The config was changed, which reads the file again.
        first.read()
        #expect(log.lines.map(\.level) == [.warning])
        first.keep(.init(["plug": ["left": 1]]))
        #expect(start().numbers.numbers == ["plug": ["left": 1]])
        #expect(try folder.directory.readPrivate("\(PartNumbers.fileName).damaged-1") == "{")
    }
}
