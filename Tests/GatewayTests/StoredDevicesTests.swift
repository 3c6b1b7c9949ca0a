import Testing

@testable import Gateway
@testable import HomeHub

/// The devices of a state folder, as commands find them that read the folder without the gateway.
@Suite struct StoredDevicesTests {
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.directory.create()
    }

    private func openHome() throws -> HomeDirectory {
        try HomeDirectory(SQLiteSharedStore(path: folder.directory.file(SQLiteSharedStore.fileName)))
    }

    private func stored(_ configuration: GatewayConfiguration? = nil) throws -> StoredDevices {
        try StoredDevices(in: folder.directory, configuration: configuration, environment: [:])
    }

    /// The home stays open, as in a gateway that runs.
    @Test func aDeviceIsNamedByItsIDItsKeyOrItsName() throws {
        let home = try openHome()
        let records = try home.identify([.init("front-door"), .init("yard")])
        let door = try #require(records["front-door"]).id
        let yard = try #require(records["yard"]).id
        _ = try home.changeDevice(door) { $0.name = "Bell" }
        var configuration = GatewayConfiguration()
        configuration.devices = [
            .init(key: "yard", name: "The yard", types: []), .init(key: "front-door", name: "Front door", types: []),
        ]
        let devices = try stored(configuration)
        for text in [door, "front-door", "bell"] { #expect(try devices.ids(named: text) == [door]) }
        for text in [yard, "yard", "the YARD"] { #expect(try devices.ids(named: text) == [yard]) }
        #expect(try devices.ids(named: "copied", known: ["copied"]) == ["copied"])
        // The name of the config no longer counts for a device that was renamed.
        for text in ["attic", "Front door", ""] {
            #expect(throws: StoredDevices.Failure.unknown(text, keys: ["front-door", "yard"])) {
                try devices.ids(named: text)
            }
        }
    }

    @Test func aNameOfTwoDevicesIsRefused() throws {
        let home = try openHome()
        let records = try home.identify([.init("a"), .init("b")])
        for record in records.values { _ = try home.changeDevice(record.id) { $0.name = "Lamp" } }
        do {
            let ids = try stored().ids(named: "lamp")
            Issue.record("the name stands for \(ids)")
        } catch let error as StoredDevices.Failure {
            #expect(error.description.contains("2 devices are called \"lamp\""))
        }
    }

    @Test func theRecordingsOfADeviceThatWasRemovedAreFoundByItsKey() throws {
        let home = try openHome()
        let first = try #require(try home.identify([.init("yard")])["yard"]).id
        try home.removeDevice(first)
        #expect(try stored().ids(named: "yard") == [first])
        let second = try #require(try home.identify([.init("yard")])["yard"]).id
        #expect(try stored().ids(named: "yard") == [second])
        #expect(try stored().ids(named: first) == [first])
        try home.removeDevice(second)
        #expect(try stored().ids(named: "yard") == [first, second])
    }

    @Test func aFolderWithoutAHomeHasNoDevices() throws {
        #expect(throws: StoredDevices.Failure.unknown("yard", keys: [])) { try stored().ids(named: "yard") }
    }
}
