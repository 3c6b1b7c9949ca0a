import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import PushAvStreamTransport
import Testing
import Transport

@testable import Gateway

/// The section `recording` of the config.
@Suite struct RecordingConfigurationTests {
    private func problems(_ yaml: String) -> [ConfigurationError.Problem] {
        do {
            _ = try GatewayConfiguration(yaml: yaml, environment: [:])
            return []
        } catch {
            return error.problems
        }
    }

    @Test func `every key is read, and a camera's rules replace those of the section one by one`() throws {
        let configuration = try GatewayConfiguration(
            yaml: """
                recording:
                  folder: footage
                  trigger: continuous
                  preRoll: 0
                  days: 30
                  gigabytes: 50
                  totalGigabytes: 500
                  uploadGigabytes: 20
                  freeGigabytes: 0
                  cameras:
                    - {id: yard, trigger: command, days: 3}
                    - {id: door, preRoll: 30, gigabytes: 1}
                """, directory: "/etc/gatehouse", environment: [:])
        let recording = try #require(configuration.recording)
        #expect(recording.folder == "/etc/gatehouse/footage")
        #expect(recording.totalGigabytes == 500 && recording.freeGigabytes == 0)
        #expect(recording.uploadLimits.maximumByteCount == 20_000_000_000)
        #expect(GatewayConfiguration.Recording().uploadLimits.maximumByteCount == 8 << 30)
        #expect(recording.rules.trigger == .continuous && recording.rules.preRollSeconds == 0)
        #expect(recording.rules.days == 30 && recording.rules.gigabytes == 50)
        let yard = recording.rules(of: "yard")
        #expect(yard.trigger == .command && yard.days == 3 && yard.gigabytes == 50 && yard.preRollSeconds == 0)
        let door = recording.rules(of: "door")
        #expect(door.trigger == .continuous && door.preRollSeconds == 30 && door.gigabytes == 1 && door.days == 30)
        #expect(recording.rules(of: "other") == recording.rules)
    }

    @Test func `an empty section records with the defaults, and none records nothing`() throws {
        for yaml in ["recording:\n", "recording: {}\n", "recording: true\n"] {
            let recording = try #require(try GatewayConfiguration(yaml: yaml).recording, "\(yaml)")
            #expect(recording == .init())
            #expect(recording.rules.trigger == .motion && recording.rules.preRollSeconds == 4)
            #expect(recording.rules.days == 14 && recording.freeGigabytes == 2)
        }
        for yaml in ["", "recording: false\n"] { #expect(try GatewayConfiguration(yaml: yaml).recording == nil) }
    }

    @Test(arguments: [
        ("trigger: always", "recording.trigger"), ("trigger: 5", "recording.trigger"),
        ("trigger: [motion]", "recording.trigger"), ("preRoll: 31", "recording.preRoll"),
        ("preRoll: -1", "recording.preRoll"), ("preRoll: 1.5", "recording.preRoll"),
        ("days: 0", "recording.days"), ("days: 36501", "recording.days"), ("days: forever", "recording.days"),
        ("gigabytes: 0", "recording.gigabytes"), ("gigabytes: 1000001", "recording.gigabytes"),
        ("totalGigabytes: 0", "recording.totalGigabytes"),
        ("uploadGigabytes: 0", "recording.uploadGigabytes"),
        ("totalGigabytes: 99999999999999999999", "recording.totalGigabytes"),
        ("freeGigabytes: -1", "recording.freeGigabytes"), ("freeGigabytes: {}", "recording.freeGigabytes"),
        ("folder: [a]", "recording.folder"), ("folders: a", "recording.folders"), ("Days: 3", "recording.Days"),
        ("cameras: yard", "recording.cameras"), ("cameras: [yard]", "recording.cameras[0]"),
        ("cameras: [{days: 3}]", "recording.cameras[0]"),
        ("cameras: [{id: yard, days: 0}]", "recording.cameras[0].days"),
        ("cameras: [{id: yard, trigger: x}]", "recording.cameras[0].trigger"),
        ("cameras: [{id: yard, freeGigabytes: 3}]", "recording.cameras[0].freeGigabytes"),
        ("cameras: [{id: yard}, {id: yard}]", "recording.cameras[1]"),
    ])
    func `what is wrong is reported with its line and key`(line: String, key: String) {
        let found = problems("log: {level: info}\nrecording:\n  \(line)\n")
        #expect(Set(found.map(\.key)) == [key], "\(found)")
        #expect(Set(found.map(\.line)) == [3], "\(found)")
        #expect(found.allSatisfy { !$0.reason.isEmpty })
    }

    @Test func `a section that is not a mapping is a problem`() {
        #expect(problems("recording: [motion]\n").map(\.key) == ["recording"])
        #expect(problems("recording: motion\n").map(\.key) == ["recording"])
    }

    @Test func `a change of the section waits for the next start`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/gatehouse.yaml"
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        let camera = "cameras:\n  - {id: a, source: \"rtsp://192.0.2.1/\"}\n"
        func write(_ yaml: String) throws {
            try (yaml + camera).write(toFile: file, atomically: true, encoding: .utf8)
        }
        try write("recording: {trigger: continuous, days: 7}\n")
        let started = try GatewayConfiguration(contentsOfFile: file, environment: [:])
        let keeper = try ConfigurationKeeper(
            configuration: started, file: file, store: CameraStore(directory: folder.directory),
            cameras: FakeCameras(), hub: hub, secrets: SecretList(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, environment: [:])
        await keeper.begin()
        #expect(await keeper.configurationStatus.needsRestart == [])

        try write("recording: {trigger: motion, days: 8}\n")
        await keeper.reload(because: "a test")
        #expect(await keeper.configurationStatus.needsRestart == ["recording"])
        #expect(await hub.devices().map(\.key) == ["a"])

        try write("recording: {trigger: never}\n")
        await keeper.reload(because: "a test")
        #expect(await keeper.configurationStatus.problems.map(\.key) == ["recording.trigger"])
        // What was pending stays pending: a broken file changes nothing.
        #expect(await keeper.configurationStatus.needsRestart == ["recording"])

        try write("")
        await keeper.reload(because: "a test")
        #expect(await keeper.configurationStatus.needsRestart == ["recording"])
        try write("recording: {trigger: continuous, days: 7}\n")
        await keeper.reload(because: "a test")
        #expect(await keeper.configurationStatus.needsRestart == [])
    }
}
