import Foundation
import HomeFakes
import HomeTypes
import Logging
import Testing
import Transport

@testable import Gateway
@testable import HomeHub
@testable import MQTTDevices

/// The devices of a broker in the home, without a broker.
@Suite final class MQTTDeviceListTests {
    private let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
    private let store = MemorySharedStore()
    private let following: Task<Void, Never>

    init() async {
        let hub = self.hub
        // A camera keeps the home following while the broker has no devices.
        await hub.setDevices([.init(id: "door", name: "Door", kind: .camera)], drivers: [FakeCamera("door")])
        following = Task { await hub.run() }
        #expect(await becomesTrue { await hub.isRunning })
    }

    deinit { following.cancel() }

    /// The devices of the broker.
    private func devices() async -> [DeviceSnapshot] { await hub.devices().filter { $0.source == nil } }

    private func makeList(maximumDevices: Int = 100) -> MQTTDeviceList {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return MQTTDeviceList(
            hub: hub, kept: KeptMQTTDevices(store: store, logger: logger), maximumDevices: maximumDevices,
            logger: logger)
    }

    private func plug(_ name: String = "Plug", isOn: Bool? = nil, room: String? = nil) -> MQTTDevice {
        var values = TraitValues()
        values["OnOff", "onOff"] = isOn.map(JSONValue.bool) ?? .null
        return MQTTDevice(
            key: "plug", identifiers: ["plug", "mac:1"], name: name, suggestedRoom: room, product: MQTTProduct(),
            endpoints: [
                .init(number: 1, types: ["OnOffPluginUnitDeviceType"], values: values, isReachable: true),
                .init(number: 2, types: ["OnOffPluginUnitDeviceType"], values: values, isReachable: true),
            ])
    }

    private func values(_ isOn: Bool, endpoint: Int = 1) -> MQTTDeviceReport {
        .values(key: "plug", endpoint: endpoint, TraitValues("OnOff", ["onOff": .bool(isOn)]))
    }

    /// Takes reports, and waits until the home knows what they mean.
    private func take(
        _ groups: [[MQTTDeviceReport]], _ list: MQTTDeviceList, until isDone: (DeviceSnapshot) -> Bool = { _ in true }
    ) async throws -> DeviceSnapshot {
        await list.take(groups)
        var found: DeviceSnapshot?
        _ = await becomesTrue {
            found = await devices().first { isDone($0) }
            return found != nil
        }
        return try #require(found)
    }

    private func isOn(_ device: DeviceSnapshot, _ endpoint: Int = 1) -> Bool? {
        device.endpoints[endpoint].traits[Matter.OnOffTrait.self]?.onOff
    }

    @Test func `a device keeps its identifier when it leaves and comes back under another name`() async throws {
        let list = makeList()
        let id = try await take([[.described(plug())]], list).id
        await list.take([[.removed(key: "plug")]])
        #expect(await devices().isEmpty)
        let back = try await take([[.described(plug("Kettle"))]], list)
        #expect(back.id == id && back.name == "Kettle")
    }

    @Test func `an identifier that two devices share means the one that it names, in every run`() async throws {
        let list = makeList()
        func device(_ key: String, _ identifiers: Set<String>) -> MQTTDevice {
            MQTTDevice(
                key: key, identifiers: identifiers, name: key, product: MQTTProduct(),
                endpoints: [.init(number: 1, types: ["OnOffPluginUnitDeviceType"], values: TraitValues())])
        }
        await list.take([
            [.described(device("b", ["b", "mac"]))], [.described(device("a", ["a", "b", "mac"]))],
            [.described(device("c", ["c", "mac"]))],
        ])
        #expect(await list.keys == ["a": "a", "b": "b", "c": "c", "mac": "a"])
    }

    @Test func `a description that comes with its removal leaves nothing behind`() async {
        let list = makeList()
        await list.take([[.described(plug())], [.removed(key: "plug")]])
        #expect(await devices().isEmpty)
        #expect(store.objects("mqttDevice").isEmpty)
    }

    @Test func `the parts that one message changes, and the whole device, change at once`() async throws {
        let list = makeList()
        _ = try await take([[.described(plug(isOn: false))]], list)
        let before = hub.log.newest.sequence
        _ = try await take([[values(true), values(true, endpoint: 2)]], list) {
            isOn($0) == true && isOn($0, 2) == true
        }
        #expect(hub.log.newest.sequence == before + 1)
        // What is known already is not news.
        await list.take([[values(true)]])
        _ = try await take([[values(false)]], list) { isOn($0) == false }
        #expect(hub.log.newest.sequence == before + 2)
    }

    @Test func `the reports of a device keep their order through its descriptions`() async throws {
        let list = makeList()
        let last = try await take(
            [
                [.described(plug(isOn: false))], [values(true)], [.described(plug("Kettle", isOn: true))],
                [values(false)],
            ],
            list
        ) { isOn($0) == false && $0.name == "Kettle" }
        #expect(isOn(last, 2) == true)
    }

    @Test func `a part that cannot be reached makes the device partially online`() async throws {
        let list = makeList()
        func unreachable(_ endpoint: Int) -> MQTTDeviceReport {
            .reachability(key: "plug", endpoint: endpoint, isReachable: false)
        }
        _ = try await take([[.described(plug())]], list) { $0.connectivityState == .online }
        let half = try await take([[unreachable(1)]], list) { $0.connectivityState == .partiallyOnline }
        #expect(half.endpoints.map(\.connectivityState) == [.online, .offline, .online])
        let none = try await take([[unreachable(2)]], list) { $0.connectivityState == .offline }
        #expect(none.endpoints.map(\.connectivityState) == [.offline, .offline, .offline])
    }

    @Test func `a device of an earlier run is offline, and its commands fail, until it is described`() async throws {
        let first = makeList()
        let id = try await take([[.described(plug(isOn: true))]], first).id
        await first.leave()
        let second = makeList()
        await second.begin()
        let known = try #require(await devices().first)
        #expect(known.id == id && known.connectivityState == .offline)
        #expect(known.endpoints.flatMap(\.types).contains("OnOffPluginUnitDeviceType"))
        #expect(await second.keys == ["plug": "plug", "mac:1": "plug"])
        let call = CommandCall(
            deviceID: id, endpoint: 1, trait: "OnOff", command: "on", caller: Caller(principal: "owner"))
        let failure = await #expect(throws: HomeError.self) { _ = try await hub.send(call, body: Data("{}".utf8)) }
        #expect(failure?.code == .unavailable)
        _ = try await take([[.described(plug())]], second) { $0.connectivityState == .online }
    }

    @Test func `a device can be forgotten only while nothing describes it`() async throws {
        let list = makeList()
        _ = try await take([[.described(plug())]], list)
        let refusal = await #expect(throws: HomeError.self) { try await list.forget("mqtt:plug") }
        #expect(refusal?.code == .failedPrecondition)
        await list.waitForDescriptions()
        try await list.forget("mqtt:plug")
        #expect(await devices().isEmpty)
        let next = makeList()
        await next.begin()
        #expect(await devices().isEmpty)
    }

    @Test func `a device cannot be forgotten while the broker has not sent all descriptions`() async throws {
        let list = makeList()
        _ = try await take([[.described(plug())]], list)
        // Nothing answers there, so nobody knows what is described.
        let bridge = try MQTTBridge(
            settings: .init(broker: .init(host: "127.0.0.1", port: 1)), observers: .init(home: { _ in }))
        await bridge.start()
        list.link.use(bridge)
        for isKnownFromEarlier in [false, true] {
            if isKnownFromEarlier { await list.waitForDescriptions() }
            let refusal = await #expect(throws: HomeError.self) { try await list.forget("mqtt:plug") }
            #expect(refusal?.code == .failedPrecondition && refusal?.message.contains("may still describe") == true)
        }
        #expect(await devices().count == 1)
        // The config no longer names a broker.
        list.link.use(nil)
        try await list.forget("mqtt:plug")
        #expect(await devices().isEmpty)
        #expect(store.objects("mqttDevice").isEmpty)
        await bridge.stop()
    }

    @Test func `a device of a broker that has been away for an hour can be forgotten`() async throws {
        let list = makeList()
        _ = try await take([[.described(plug())]], list)
        // Nothing answers there.
        let bridge = try MQTTBridge(
            settings: .init(broker: .init(host: "127.0.0.1", port: 1)), observers: .init(home: { _ in }))
        list.link.use(bridge)
        // It has not tried to connect yet.
        await #expect(throws: HomeError.self) { try await list.forget("mqtt:plug", absence: .seconds(7_200)) }
        await bridge.start()
        #expect(
            await becomesTrue {
                guard case .lost = await bridge.status.state else { return false }
                return true
            })
        let refusal = await #expect(throws: HomeError.self) {
            try await list.forget("mqtt:plug", absence: .seconds(3_599))
        }
        #expect(refusal?.code == .failedPrecondition && refusal?.message.contains("gone for good") == true)
        #expect(await devices().count == 1)
        try await list.forget("mqtt:plug", absence: .seconds(3_600))
        #expect(await devices().isEmpty)
        #expect(store.objects("mqttDevice").isEmpty)
        await bridge.stop()
    }

    @Test(
        arguments: [
            (.unreachable("nothing answers"), true), (.unknownHost("broker.local"), true), (.timeout, true),
            (.disconnected, false), (.refused(code: 4), false), (.tls, false), (.other("protocol error"), false),
        ] as [(BrokerFailure, Bool)])
    func `a broker that refuses the gateway or closes its connection is not away`(
        failure: BrokerFailure, isAbsence: Bool
    ) {
        #expect(failure.isAbsence == isAbsence)
    }

    @Test func `a device that is forgotten without a broker brings no others back`() async throws {
        let list = makeList()
        let other = MQTTDevice(
            key: "fan", identifiers: ["fan"], name: "Fan", product: MQTTProduct(),
            endpoints: [.init(number: 1, types: ["FanDeviceType"], values: TraitValues(), isReachable: true)])
        _ = try await take([[.described(plug()), .described(other)]], list)
        // The config does not name the broker any more.
        await list.leave()
        try await list.forget("mqtt:plug")
        #expect(await devices().isEmpty)
        await list.begin()
        #expect(await devices().map(\.name) == ["Fan"])
    }

    @Test func `a room that a description names moves the device once`() async throws {
        let list = makeList()
        let device = try await take([[.described(plug(room: "Study"))]], list)
        #expect(await hub.rooms().map(\.name) == ["Study"])
        #expect(device.roomID == (await hub.rooms().first?.id))
        _ = try await hub.moveDevice(device.id, room: .cleared)
        #expect(try await take([[.described(plug("New", room: "Study"))]], list).roomID == nil)
        let moved = try await take([[.described(plug("New", room: "Hall"))]], list)
        let hall = try #require(await hub.rooms().first { $0.name == "Hall" })
        #expect(moved.roomID == hall.id)
        // A name that no room can have moves nothing.
        #expect(try await take([[.described(plug("New", room: "\u{202E}"))]], list).roomID == hall.id)
    }

    @Test func `a broker that describes devices without end does not fill the store`() async {
        let list = makeList(maximumDevices: 10)
        for batch in 0..<3 {
            let devices = (0..<8).map { number in
                var device = plug()
                device.key = "\(batch)-\(number)"
                return device
            }
            await list.take([devices.map(MQTTDeviceReport.described)])
            await list.take([devices.map { .removed(key: $0.key) }])
        }
        #expect(hub.directory.deviceRecords.count == 10 + 1)
    }

    @Test func `a device that the disk did not take joins later, as it is then`() async throws {
        let disk = FullDisk()
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, directory: try HomeDirectory(disk))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let list = MQTTDeviceList(hub: hub, kept: KeptMQTTDevices(store: store, logger: logger), logger: logger)
        disk.isFull.withLock { $0 = true }
        var lamp = plug(isOn: false)
        lamp.key = "lamp"
        await list.take([[.described(plug(isOn: false)), .described(lamp)]])
        #expect(await hub.devices().isEmpty)
        #expect(await list.hasLateDevices())
        await list.take([
            [values(true)], [.reachability(key: "plug", endpoint: 2, isReachable: false)], [.removed(key: "lamp")], [],
        ])
        #expect(await hub.devices().isEmpty)
        #expect(await list.hasLateDevices())
        disk.isFull.withLock { $0 = false }
        await list.take([[]])
        let joined = await hub.devices()
        #expect(joined.map(\.name) == ["Plug"])
        #expect(joined.first.flatMap { isOn($0) } == true)
        #expect(joined.first?.connectivityState == .partiallyOnline)
        #expect(await !list.hasLateDevices())
    }

    @Test func `a value that the vocabulary does not have is left out alone`() {
        var values = TraitValues("LevelControl", ["currentLevel": 70_000, "minLevel": 1])
        values["OnOff", "onOff"] = true
        let traits = TraitCollection(mqtt: values)
        #expect(traits[Matter.LevelControlTrait.self]?.minLevel == 1)
        #expect(traits[Matter.LevelControlTrait.self]?.currentLevel == nil)
        #expect(traits[Matter.OnOffTrait.self]?.onOff == true)
    }

    @Test func `texts of a product are cut to the lengths that Matter allows`() throws {
        var device = plug()
        device.product.vendorName = String(repeating: "ü", count: 40)
        device.product.softwareVersion = String(repeating: "1", count: 100)
        device.product.uniqueID = String(repeating: "x", count: 40)
        let root = device.endpointDescriptions(id: "d123")[0]
        let information = try #require(root.traits[Matter.BasicInformationTrait.self])
        #expect(information.vendorName == String(repeating: "ü", count: 16))
        #expect(information.softwareVersionString?.count == 64)
        #expect(information.uniqueID == "d123")
        try information.validate()
    }
}

/// A store that takes nothing while the disk is full.
final class FullDisk: SharedStore {
    let memory = MemorySharedStore()
    let isFull = Locked(false)

    var home: String { memory.home }
    func object(_ kind: String, _ id: String) throws(StoreFailure) -> SharedObject? { memory.object(kind, id) }
    func objects(_ kind: String) throws(StoreFailure) -> [SharedObject] { memory.objects(kind) }
    func write(
        _ kind: String, _ id: String, _ body: String, expecting version: Int64
    ) throws(StoreFailure) -> Int64? {
        if isFull.withLock({ $0 }) { throw StoreFailure(path: "store", reason: "the disk is full") }
        return memory.write(kind, id, body, expecting: version)
    }
    func delete(_ kind: String, _ id: String, expecting version: Int64) throws(StoreFailure) -> Int64? {
        memory.delete(kind, id, expecting: version)
    }
    func watch(_ kind: String) -> AsyncStream<Void> { memory.watch(kind) }
}

/// Who is at home, from what trackers say.
@Suite struct TrackedPersonsTests {
    private let phone = MQTTTracker(id: "phone-1", name: "Phone", topic: "trackers/phone")
    private let watch = MQTTTracker(id: "watch-1", name: "Watch", topic: "trackers/watch")

    private func answers(_ persons: inout TrackedPersons, _ tracker: MQTTTracker, _ isHome: Bool) -> [String] {
        persons.take(tracker, isHome: isHome).map { "\($0.person) \($0.isHome)" }
    }

    @Test func `a person is at home while one of the trackers is, named in any of three ways`() {
        var persons = TrackedPersons(.persons(["Anna": ["phone-1", "Watch"], "Ben": ["trackers/watch"]]))
        #expect(answers(&persons, phone, true) == ["Anna true"])
        #expect(answers(&persons, watch, false) == ["Anna true", "Ben false"])
        #expect(answers(&persons, phone, false) == ["Anna false"])
    }

    @Test func `a person is away only once every tracker has spoken, so nobody leaves because the gateway starts`() {
        var persons = TrackedPersons(.persons(["Anna": ["phone-1", "Watch"]]))
        #expect(persons.silent == ["Anna": ["Watch", "phone-1"]])
        // The broker delivers what it kept one message after the other.
        persons.add(phone)
        #expect(answers(&persons, phone, false).isEmpty)
        #expect(persons.silent == ["Anna": ["Watch"]])
        persons.add(watch)
        #expect(answers(&persons, phone, false).isEmpty)
        #expect(answers(&persons, watch, true) == ["Anna true"])
        #expect(answers(&persons, watch, false) == ["Anna false"])
        #expect(persons.silent.isEmpty)
    }

    @Test func `what trackers have said survives a change of the config`() {
        var persons = TrackedPersons(.persons(["Anna": ["phone-1", "Watch"]]))
        _ = persons.take(watch, isHome: true)
        persons.choose(.persons(["Anna": ["phone-1", "Watch"], "Ben": ["phone-1"]]))
        #expect(answers(&persons, phone, false) == ["Anna true", "Ben false"])
    }

    @Test func `where each tracker is a person, trackers with one name are one person`() {
        var persons = TrackedPersons(.everyTracker)
        let other = MQTTTracker(id: "phone-2", name: "Phone", topic: "trackers/phone-2")
        persons.add(phone)
        persons.add(other)
        #expect(answers(&persons, phone, false).isEmpty)
        #expect(answers(&persons, other, true) == ["Phone true"])
        #expect(answers(&persons, phone, false) == ["Phone true"])
        #expect(answers(&persons, other, false) == ["Phone false"])
        // One that nothing describes any more keeps nobody at home.
        persons.remove(phone)
        #expect(answers(&persons, other, true) == ["Phone true"])
        persons.remove(other)
        #expect(answers(&persons, phone, false) == ["Phone false"])
        persons.add(watch)
        persons.remove(watch)
        let second = MQTTTracker(id: "watch-2", name: "Watch", topic: "trackers/watch-2")
        #expect(answers(&persons, second, false) == ["Watch false"])
    }

    @Test func `every tracker or none counts where nobody is named`() {
        var everyone = TrackedPersons(.everyTracker)
        #expect(answers(&everyone, phone, true) == ["Phone true"])
        var nobody = TrackedPersons(.nobody)
        #expect(answers(&nobody, phone, true).isEmpty)
    }
}
