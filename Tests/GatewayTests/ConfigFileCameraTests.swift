import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import Testing

@testable import Gateway

/// Cameras of the config file that are changed and removed over the API, which never writes that file.
@Suite struct ConfigFileCameraTests {
    private static let environment = ["PW": "hunter22"]
    private static let door =
        #"{id: door, name: Door, source: "rtsp://viewer:${PW}@192.0.2.1/a", talkback: off, webhook: true}"#
    private static let yard = #"{id: yard, name: Yard, source: "rtsp://192.0.2.2/"}"#

    private let folder: TemporaryFolder
    private let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
    private let log = LogLines()
    private var file: String { folder.path + "/gatehouse.yaml" }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ cameras: [String]) throws {
        let yaml = cameras.isEmpty ? "cameras: []\n" : "cameras:\n" + cameras.map { "  - \($0)\n" }.joined()
        try yaml.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// A gateway that starts with the files as they are.
    private func started() async throws -> ConfigurationKeeper {
        let configuration = try GatewayConfiguration(contentsOfFile: file, environment: Self.environment)
        let keeper = try ConfigurationKeeper(
            configuration: configuration, file: file, store: CameraStore(directory: folder.directory),
            cameras: FakeCameras(), hub: hub, secrets: SecretList(), logger: log.logger, environment: Self.environment)
        await keeper.begin()
        return keeper
    }

    /// The file of the API's cameras.
    private func storedText() throws -> String {
        try #require(try folder.directory.readPrivate(CameraStore.fileName))
    }

    private func name(_ name: String) -> CameraEntry { CameraEntry(values: ["name": .text(name)]) }

    private func source(_ address: String) -> CameraEntry { CameraEntry(values: ["source": .text(address)]) }

    /// How often the log says that an entry does not count.
    private var announcements: Int {
        log.lines.filter { $0.message == "a camera's entry in the config file is ignored" }.count
    }

    @Test func `a change is kept beside the config file, and survives a restart`() async throws {
        try write([Self.door, Self.yard])
        let first = try await started()
        let before = try String(contentsOfFile: file, encoding: .utf8)
        let changed = try await first.patch(name("Front"), id: "door")
        #expect(changed.origin == .overridden && changed.camera.name == "Front")
        #expect(announcements == 1)
        let same = try await first.patch(CameraEntry(), id: "yard")
        #expect(same.origin == .file)
        let second = try await started()
        #expect(announcements == 2)
        for keeper in [first, second] {
            let entries = await keeper.entries
            // In the order of the config file.
            #expect(entries.map(\.camera.id) == ["door", "yard"])
            #expect(entries.map(\.camera.name) == ["Front", "Yard"])
            #expect(entries.map(\.origin) == [.overridden, .file])
            // What was not changed is as the config file has it.
            #expect(entries[0].camera.source == .rtsp("rtsp://viewer:hunter22@192.0.2.1/a"))
            #expect(entries[0].camera.talkback == .off && entries[0].camera.acceptsWebhook)
            let ignored = await keeper.replacedEntries
            #expect(ignored.map(\.isRemoved) == [false] && ignored.map(\.hasChangedSince) == [false])
            let notes = ignored.map { ConfigurationNote.ignored($0, file: file) }
            #expect(await keeper.notes == notes)
            #expect(await keeper.configurationStatus.notes == notes.map(\.description))
        }
        await second.reload(because: "a test")
        #expect(announcements == 3)
        let after = try String(contentsOfFile: file, encoding: .utf8)
        #expect(after == before)
    }

    @Test func `a password of the environment stays a reference`() async throws {
        try write([Self.door])
        let keeper = try await started()
        _ = try await keeper.patch(name("Front"), id: "door")
        let named = try storedText()
        #expect(named.contains("rtsp://viewer:${PW}@192.0.2.1/a") && !named.contains("hunter22"))
        _ = try await keeper.patch(source("rtsp://viewer:***@192.0.2.1/b"), id: "door")
        let moved = try storedText()
        #expect(moved.contains("rtsp://viewer:${PW}@192.0.2.1/b") && !moved.contains("hunter22"))
        #expect(await keeper.entries[0].camera.source == .rtsp("rtsp://viewer:hunter22@192.0.2.1/b"))
        // The password does not go to another machine, and a client reads no variable.
        let foreign = source("rtsp://viewer:***@192.0.2.66/b")
        let refused = await #expect(throws: HomeError.self) { try await keeper.patch(foreign, id: "door") }
        #expect(refused?.code == .invalidArgument)
        let typed = try #require(CameraEntry(json: Data(#"{"source":"rtsp://192.0.2.1/${PW}"}"#.utf8)))
        let literal = try await keeper.patch(typed, id: "door")
        #expect(literal.camera.source == .rtsp("rtsp://192.0.2.1/${PW}"))
    }

    @Test func `all settings are replaced, and the id is not`() async throws {
        try write([Self.door, Self.yard])
        let keeper = try await started()
        let (replaced, isNew) = try await keeper.put(source("rtsp://viewer:***@192.0.2.1/c"), id: "door")
        #expect(!isNew && replaced.origin == .overridden)
        #expect(replaced.camera.source == .rtsp("rtsp://viewer:hunter22@192.0.2.1/c"))
        #expect(replaced.camera.talkback == .automatic && replaced.camera.name == "door")
        let other = CameraEntry(values: ["id": .text("gate")])
        let refused = await #expect(throws: HomeError.self) { try await keeper.patch(other, id: "yard") }
        #expect(refused?.code == .invalidArgument)
        #expect(await keeper.entries.map(\.origin) == [.overridden, .file])
    }

    @Test func `a removed camera stays away after a restart, and is brought back`() async throws {
        try write([Self.door, Self.yard])
        let first = try await started()
        try await first.remove("yard")
        #expect(await first.entries.map(\.camera.id) == ["door"])
        let second = try await started()
        #expect(await second.entries.map(\.camera.id) == ["door"])
        let removed = await second.replacedEntries
        #expect(removed.map(\.id) == ["yard"] && removed.map(\.name) == ["Yard"])
        #expect(removed.map(\.isRemoved) == [true] && removed.map(\.hasChangedSince) == [false])
        let notes = removed.map { ConfigurationNote.ignored($0, file: file) }
        #expect(await second.configurationStatus.notes == notes.map(\.description))
        let again = await #expect(throws: HomeError.self) { try await second.remove("yard") }
        #expect(again?.code == .notFound)

        try await second.restoreFileEntry(of: "yard")
        let third = try await started()
        for keeper in [second, third] {
            #expect(await keeper.entries.map(\.camera.name) == ["Door", "Yard"])
            #expect(await keeper.entries.map(\.origin) == [.file, .file])
            #expect(await keeper.configurationStatus.notes.isEmpty)
        }
        let nothing = await #expect(throws: HomeError.self) { try await third.restoreFileEntry(of: "door") }
        #expect(nothing?.code == .failedPrecondition)
        let unknown = await #expect(throws: HomeError.self) { try await third.restoreFileEntry(of: "attic") }
        #expect(unknown?.code == .notFound)
    }

    @Test func `a removed camera may be added again under its key`() async throws {
        try write([Self.door])
        let keeper = try await started()
        try await keeper.remove("door")
        let (made, isNew) = try await keeper.put(source("whip"), id: "door")
        #expect(isNew && made.origin == .overridden && made.camera.source == .publisher)
        try await keeper.remove("door")
        #expect(await keeper.entries.isEmpty)
        try await keeper.restoreFileEntry(of: "door")
        #expect(await keeper.entries.map(\.camera.name) == ["Door"])
    }

    @Test func `a change is taken back`() async throws {
        try write([Self.door])
        let keeper = try await started()
        _ = try await keeper.patch(name("Front"), id: "door")
        try await keeper.restoreFileEntry(of: "door")
        #expect(await keeper.entries.map(\.camera.name) == ["Door"])
        #expect(await keeper.entries.map(\.origin) == [.file])
        let text = try storedText()
        #expect(!text.contains("door"))
    }

    @Test func `an edit of the config file does not undo what was changed, and is reported`() async throws {
        try write([Self.door, Self.yard])
        let keeper = try await started()
        _ = try await keeper.patch(name("Front"), id: "door")
        try await keeper.remove("yard")
        #expect(await keeper.replacedEntries.map(\.hasChangedSince) == [false, false])
        // The order of the keys does not matter.
        try write([
            #"{name: Gate, id: door, source: "rtsp://viewer:${PW}@192.0.2.1/a"}"#,
            #"{source: "rtsp://192.0.2.2/", name: Yard, id: yard}"#,
        ])
        await keeper.reload(because: "a test")
        #expect(await keeper.entries.map(\.camera.name) == ["Front"])
        let replaced = await keeper.replacedEntries
        #expect(replaced.map(\.hasChangedSince) == [true, false])
        let findings = replaced.map { DoctorFinding.replaced($0) }
        #expect(findings.map(\.state) == [.note, .note] && findings.map(\.device) == ["Front", "Yard"])
        #expect(findings[0].message.hasSuffix("The entry in the config file has changed since then."))
        #expect(findings[1].message.contains("was removed on the page or over"))
        let notes = replaced.map { ConfigurationNote.ignored($0, file: file) }
        #expect(await keeper.configurationStatus.notes == notes.map(\.description))
        try await keeper.restoreFileEntry(of: "door")
        #expect(await keeper.entries.map(\.camera.name) == ["Gate"])
    }

    /// A slow or truncated save must not bring back what was removed, or take back what was changed.
    @Test func `an entry that is away for a while does not count when it is back`() async throws {
        try write([Self.door, Self.yard])
        let keeper = try await started()
        _ = try await keeper.patch(name("Front"), id: "door")
        try await keeper.remove("yard")
        try write([])
        await keeper.reload(because: "a test")
        #expect(await keeper.entries.map(\.camera.name) == ["Front"])
        #expect(await keeper.entries.map(\.origin) == [.api])
        #expect(await keeper.configurationStatus.notes.isEmpty)

        // Also for a gateway that starts meanwhile.
        let other = try await started()
        try write([Self.door, Self.yard])
        let next = try await started()
        await keeper.reload(because: "a test")
        await other.reload(because: "a test")
        for running in [keeper, other, next] {
            #expect(await running.entries.map(\.camera.name) == ["Front"])
            #expect(await running.entries.map(\.origin) == [.overridden])
            #expect(await running.replacedEntries.map(\.isRemoved) == [false, true])
        }
    }

    @Test func `a camera that only the API has leaves nothing behind when it is removed`() async throws {
        try write([Self.door])
        let keeper = try await started()
        _ = try await keeper.patch(name("Front"), id: "door")
        try write([])
        await keeper.reload(because: "a test")
        try await keeper.remove("door")
        let text = try storedText()
        #expect(!text.contains("replaced"))
        try write([Self.door])
        await keeper.reload(because: "a test")
        #expect(await keeper.entries.map(\.origin) == [.file])
    }

    @Test func `settings that are written again as they are leave the entry in force`() async throws {
        try write([Self.door])
        let keeper = try await started()
        let entry = try #require(await keeper.current.cameraEntries["door"])
        let (same, isNew) = try await keeper.put(entry, id: "door")
        #expect(same.origin == .file && !isNew)
        #expect(await keeper.replacedEntries.isEmpty)
    }

    @Test func `a damaged list of entries that do not count is named`() async throws {
        try write([Self.door])
        for list in ["[door]", "{\"no key\": x}", "{door: [x]}", "door"] {
            try folder.directory.writePrivate(CameraStore.fileName, "cameras: []\nreplaced: \(list)\n")
            let error = await #expect(throws: ConfigurationError.self) { try await started() }
            #expect(error?.problems.map(\.key) == ["replaced"], "\(list)")
        }
        for list in ["", "~", "{}"] {
            try folder.directory.writePrivate(CameraStore.fileName, "cameras: []\nreplaced: \(list)\n")
            let keeper = try await started()
            #expect(await keeper.entries.map(\.origin) == [.file])
        }
    }

    @Test func `the API says which camera was changed, and the doctor says why the file does not count`() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let json = "application/json"
            let before = try await client.get("/v1/cameras/yard")
            #expect(try before.decoded(CameraAnswer.self).origin == .file)
            let tag = try #require(before.headers[.eTag])
            let patch = #"{"name":"Garden"}"#
            let changed = try await client.send(
                .patch, "/v1/cameras/yard", patch, type: json, headers: [.ifMatch: tag])
            #expect(changed.status == .ok)
            let camera = try changed.decoded(CameraAnswer.self)
            #expect(camera.origin == .overridden && camera.name == "Garden" && camera.source == "rtsp://192.0.2.1/")
            for path in ["/v1/cameras/yard", "/v1/cameras/yard/override"] {
                let late = try await client.send(.delete, path, headers: [.ifMatch: tag])
                #expect(late.failure?.code == .aborted)
            }
            func findings() async throws -> [DoctorFinding] {
                try await client.get("/v1/doctor").decoded(DoctorReport.self).findings
                    .filter { $0.message.contains("entry in the config file is ignored") }
            }
            let found = try await findings()
            #expect(found.map(\.device) == ["Garden"] && found.map(\.state) == [.note])
            #expect(found.first?.advice?.contains("Use the config file") == true)

            let removed = try await client.send(.delete, "/v1/cameras/yard")
            #expect(removed.status == .noContent)
            let list = try await client.get("/v1/cameras").decoded(GatewayAPI.CameraList.self)
            #expect(list.cameras.map(\.id) == ["door"])
            #expect(list.removed == [.init(id: "yard", name: "Yard", type: "camera")])
            #expect(try await client.get("/v1/devices/yard").status == .notFound)

            let back = try await client.send(.delete, "/v1/cameras/yard/override")
            #expect(back.status == .noContent)
            let restored = try await client.get("/v1/cameras/yard").decoded(CameraAnswer.self)
            #expect(restored.origin == .file && restored.name == "Yard")
            let left = try await findings()
            #expect(left.isEmpty)
            let nothing = try await client.send(.delete, "/v1/cameras/yard/override")
            #expect(nothing.status == .conflict)
        }
    }
}
