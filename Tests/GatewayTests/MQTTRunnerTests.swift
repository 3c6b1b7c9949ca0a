import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import Testing
import Transport

@testable import Gateway
@testable import MQTTDevices

/// The bridge to a broker, without a broker.
@Suite struct MQTTRunnerTests {
    private let runner = MQTTRunner(directory: nil, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })

    @Test func `a broker whose file could not be read is used after the next reload`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "ca.pem")
        // Nothing answers there.
        var wanted = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        wanted.tls = .init()
        wanted.tls?.authorities = file.path
        await runner.apply(wanted)
        #expect(await runner.status?.state == "unusable")
        await runner.apply(wanted)
        #expect(await runner.status?.state == "unusable")
        try Data().write(to: file)
        await runner.apply(wanted)
        let state = try #require(await runner.status?.state)
        #expect(["connecting", "lost"].contains(state))
        await runner.stop()
    }

    @Test func `a device cannot be forgotten while the config's broker cannot be asked about it`() async throws {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        await runner.use(hub)
        var wanted = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        wanted.publishes = false
        await runner.apply(wanted)
        await runner.take([
            [.described(MQTTDevice(key: "a", identifiers: ["a"], name: "A", product: .init(), endpoints: []))]
        ])
        wanted.tls = .init()
        wanted.tls?.authorities = "/does/not/exist.pem"
        await runner.apply(wanted)
        let refusal = await #expect(throws: HomeError.self) { try await runner.forget("mqtt:a") }
        #expect(refusal?.code == .failedPrecondition && refusal?.message.contains("exist.pem") == true)
        // A device of which the broker knows nothing does not come back.
        try await runner.forget("mqtt:b")
        await runner.apply(nil)
        try await runner.forget("mqtt:a")
        #expect(await hub.devices().isEmpty)
    }

    @Test func `a device can be forgotten when its broker has been away for an hour`() async throws {
        let (log, clock) = (LogLines(), Locked(Instant.zero))
        let runner = MQTTRunner(directory: nil, logger: log.logger, now: { clock.withLock { $0 } })
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        await runner.use(hub)
        // Nothing answers there.
        var wanted = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        wanted.publishes = false
        await runner.apply(wanted)
        await runner.take([
            [.described(MQTTDevice(key: "a", identifiers: ["a"], name: "A", product: .init(), endpoints: []))]
        ])
        #expect(await becomesTrue { log.lines.contains { $0.message == "MQTT broker cannot be reached" } })
        clock.withLock { $0 += .seconds(3_599) }
        let refusal = await #expect(throws: HomeError.self) { try await runner.forget("mqtt:a") }
        #expect(refusal?.code == .failedPrecondition && refusal?.message.contains("an hour") == true)
        clock.withLock { $0 += .seconds(1) }
        try await runner.forget("mqtt:a")
        #expect(await hub.devices().isEmpty)
        await runner.stop()
    }

    @Test func `a broker that has refused the gateway has to be away for an hour since then`() async throws {
        let (log, clock) = (LogLines(), Locked(Instant.zero))
        let runner = MQTTRunner(directory: nil, logger: log.logger, now: { clock.withLock { $0 } })
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        await runner.use(hub)
        // Nothing answers there.
        var wanted = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        wanted.publishes = false
        await runner.apply(wanted)
        await runner.take([
            [.described(MQTTDevice(key: "a", identifiers: ["a"], name: "A", product: .init(), endpoints: []))]
        ])
        #expect(await becomesTrue { log.lines.contains { $0.message == "MQTT broker cannot be reached" } })
        clock.withLock { $0 += .seconds(3_600) }
        await runner.take(.lost(since: Date(), .refused(code: 4)))
        await runner.take(.lost(since: Date(), .unreachable("nothing answers")))
        clock.withLock { $0 += .seconds(3_599) }
        await #expect(throws: HomeError.self) { try await runner.forget("mqtt:a") }
        clock.withLock { $0 += .seconds(1) }
        try await runner.forget("mqtt:a")
        #expect(await hub.devices().isEmpty)
        await runner.stop()
    }

    @Test func `who has come home is kept as soon as the disk takes it, and only the newest`() async throws {
        let disk = FullDisk()
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, directory: try HomeDirectory(disk))
        await runner.use(hub)
        var wanted = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        wanted.publishes = false
        await runner.apply(wanted)
        func isHome() async -> Google.AreaPresenceStateTrait.PresenceState? {
            await hub.structures().first?.traits[Google.AreaPresenceStateTrait.self]?.presenceState
        }
        let anna = MQTTTracker(id: "anna", name: "Anna", topic: "anna")
        disk.isFull.withLock { $0 = true }
        await runner.take([[.tracker(anna), .presence(anna, isHome: false)], [.presence(anna, isHome: true)]])
        let before = await isHome()
        #expect(before != .presenceStateOccupied)
        await runner.take([[]])
        #expect(await isHome() == before)
        disk.isFull.withLock { $0 = false }
        await runner.take([[]])
        #expect(await isHome() == .presenceStateOccupied)
        await runner.stop()
    }

    @Test func `while the disk is full, no more people wait for it than the home takes`() async throws {
        let (log, disk) = (LogLines(), FullDisk())
        let runner = MQTTRunner(directory: nil, logger: log.logger)
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, directory: try HomeDirectory(disk))
        await runner.use(hub)
        var wanted = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        wanted.publishes = false
        await runner.apply(wanted)
        func report(_ name: String, isHome: Bool) async {
            let tracker = MQTTTracker(id: name, name: name, topic: name)
            await runner.take([[.tracker(tracker), .presence(tracker, isHome: isHome)]])
        }
        await report("Anna", isHome: true)
        disk.isFull.withLock { $0 = true }
        for number in 0..<HomeDirectory.maximumPersons + 50 { await report("t\(number)", isHome: true) }
        // The home has room for all but Anna's.
        #expect(
            log.lines.count { $0.message.contains("cannot be kept yet") } == HomeDirectory.maximumPersons - 1)
        #expect(
            log.lines.count { $0.message.hasSuffix("about a person is lost") } == MQTTRunner.mostLostPersons)
        // A person whom the home knows needs no room.
        await report("Anna", isHome: false)
        disk.isFull.withLock { $0 = false }
        await runner.take([[]])
        let structure = try #require(await hub.structures().first?.id)
        let persons = try await hub.presence(in: structure)
        #expect(persons.count == HomeDirectory.maximumPersons)
        #expect(persons.first { $0.person == "Anna" }?.isHome == false)
        await runner.stop()
    }

    @Test func `trackers of persons whom the home does not take do not fill the log`() async throws {
        let log = LogLines()
        let runner = MQTTRunner(directory: nil, logger: log.logger)
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, directory: try HomeDirectory(FullDisk()))
        await runner.use(hub)
        var wanted = GatewayConfiguration.MQTT(host: "127.0.0.1", port: 1)
        wanted.publishes = false
        await runner.apply(wanted)
        func report(_ number: Int) async -> Int {
            // No person can have this name.
            let tracker = MQTTTracker(id: "t\(number)", name: "\u{202E}\(number)", topic: "t\(number)")
            await runner.take([
                [.tracker(tracker)], [.presence(tracker, isHome: true)], [.presence(tracker, isHome: false)],
            ])
            return log.lines.count { $0.message.hasSuffix("about a person is lost") }
        }
        #expect(await report(0) == 1)
        var warnings = 0
        for number in 1..<50 { warnings = await report(number) }
        #expect(warnings == MQTTRunner.mostLostPersons)
        await runner.stop()
    }

    @Test func `without a discovery prefix no devices are read, and the descriptions of cameras are found`() {
        var broker = GatewayConfiguration.MQTT(host: "a")
        broker.discoveryPrefix = nil
        #expect(broker.bridge.home.discoveryPrefix == nil)
        #expect(broker.publisher.descriptionFilter == "homeassistant/device/+/config")
        broker.discoveryPrefix = "ha"
        #expect(broker.bridge.home.discoveryPrefix == "ha")
        #expect(broker.publisher.descriptionFilter == "ha/device/+/config")
    }

    @Test func `what trackers have said counts only as long as they are the same`() {
        let broker = GatewayConfiguration.MQTT(host: "a")
        var other = broker
        other.presence = .nobody
        other.password = "new"
        #expect(broker.hasSameTrackers(as: other))
        for change: (inout GatewayConfiguration.MQTT) -> Void in [
            { $0.host = "b" }, { $0.port = 1884 }, { $0.discoveryPrefix = "ha" },
        ] {
            var other = broker
            change(&other)
            #expect(!broker.hasSameTrackers(as: other))
        }
    }
}
