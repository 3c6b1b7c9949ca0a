import Foundation
import HomeFakes
import HomeTypes
import Testing
import Transport

@testable import HomeHub

/// What happened is kept, within its limits, and read in pages.
@Suite struct HistoryTests {
    let folder = TestFolder()
    /// Seconds since 1970 by the wall clock, and since the start by the other one.
    let time = Locked((wall: 1_000_000.0, monotonic: 0.0))

    private func open(_ retention: HistoryRetention = HistoryRetention(), file: Bool = true) throws -> History {
        try History(
            path: file ? folder.path + "/history.sqlite" : nil, retention: retention,
            now: { [time] in Date(timeIntervalSince1970: time.withLock { $0.wall }) },
            clock: { [time] in Instant.zero + .seconds(time.withLock { $0.monotonic }) })
    }

    /// Lets time pass on both clocks.
    private func pass(_ seconds: Double) {
        time.withLock { time in
            time.wall += seconds
            time.monotonic += seconds
        }
    }

    private var now: Date { Date(timeIntervalSince1970: time.withLock { $0.wall }) }

    private func press(_ history: History, _ device: String = "door") {
        history.take(.doorbellPressed(deviceID: device, at: now, .init()), at: now)
    }

    private func read(_ history: History, _ query: HistoryQuery = HistoryQuery(pageSize: 200)) async throws
        -> [HistoryRecord]
    {
        try await history.page(query) { _ in true }.items
    }

    private func lamp(_ on: Bool?, level: UInt8? = nil, _ state: ConnectivityState = .online) -> DeviceSnapshot {
        var traits = TraitCollection([Matter.OnOffTrait(attributes: .init(onOff: on))])
        if let level { traits.set(Matter.LevelControlTrait(attributes: .init(currentLevel: level))) }
        return DeviceSnapshot(
            id: "lamp", name: "Lamp",
            endpoints: [
                .init(
                    id: 1, types: ["DimmableLightDeviceType"], traits: traits,
                    connectivity: .init(connectivityState: state, dataSourceLocality: .localPeer))
            ])
    }

    private func change(_ history: History, _ before: DeviceSnapshot, _ after: DeviceSnapshot) {
        history.take(.states(before: before, after: after, at: History.milliseconds(now)))
    }

    @Test func `a restart keeps what happened, and its end`() async throws {
        var history = try open()
        let began = DetectionEvent(kind: .motion, phase: .began, eventSessionId: "s1")
        history.take(.detection(deviceID: "door", at: now, began), at: now)
        press(history)
        change(history, lamp(false), lamp(true))
        history.flush()
        history = try open()
        pass(7)
        history.take(
            .detection(deviceID: "door", at: now, .init(kind: .motion, phase: .ended, eventSessionId: "s1")), at: now)
        let items = try await read(history)
        #expect(items.map(\.kind) == [.stateChange, .press, .cameraEvent])
        #expect(items[0].attribute == "onOff" && items[0].from == .bool(false) && items[0].to == .bool(true))
        #expect(items[0].trait == "OnOff" && items[0].endpoint == 1)
        #expect(items[1].event == "DoorbellPressed")
        #expect(items[2].endTimestamp == now)
        press(history)
        let ids = try await read(history).map(\.id)
        #expect(Set(ids).count == 4)
    }

    @Test func `a device that appears while a page is read is not on it, because nobody asked whether it may be`()
        async throws
    {
        let history = try open()
        press(history)
        let moment = now
        let page = try await history.page(HistoryQuery(pageSize: 200)) { device in
            history.take(.doorbellPressed(deviceID: "yard", at: moment, .init()), at: moment)
            history.flush()
            return device == "door"
        }
        #expect(page.items.map(\.deviceID) == ["door"])
        #expect(try await read(history).count == 2)
    }

    @Test func `items leave when they are too old, in virtual time`() async throws {
        let history = try open(HistoryRetention(days: 2))
        for _ in 0..<5 {
            press(history)
            history.flush()
            pass(86_400 / 2)
        }
        // Two and a half days have passed; the next item is the occasion.
        press(history)
        history.flush()
        let times = try await read(history).map(\.timestamp.timeIntervalSince1970)
        #expect(times.count == 5)
        #expect(times.allSatisfy { $0 >= 1_000_000 + 43_200 })
        #expect(history.status.items == 5)
    }

    @Test func `a clock that leaps ahead and comes back costs nothing`() async throws {
        let history = try open(HistoryRetention(days: 2))
        press(history)
        history.flush()
        time.withLock { $0.wall += 400 * 86_400 }
        press(history)
        history.flush()
        time.withLock { $0.wall -= 400 * 86_400 }
        pass(60)
        press(history)
        history.flush()
        #expect(try await read(history).count == 3)
        // A clock that stays ahead is believed.
        time.withLock { $0.wall += 400 * 86_400 }
        press(history)
        history.flush()
        pass(4_000)
        press(history)
        history.flush()
        #expect(try await read(history).allSatisfy { $0.timestamp.timeIntervalSince1970 > 20_000_000 })
    }

    @Test func `a clock that is wrong when the gateway starts deletes nothing`() async throws {
        var history = try open(HistoryRetention(days: 2))
        press(history)
        history.flush()
        time.withLock { $0.wall += 400 * 86_400 }
        history = try open(HistoryRetention(days: 2))
        #expect(try await read(history).count == 1)
        // The first check, an hour later, believes it.
        pass(3_600)
        press(history)
        history.flush()
        #expect(try await read(history).count == 1)
        #expect(history.status.items == 1)
    }

    @Test func `pages hold each item once, newest first, while others arrive and the clock is set back`() async throws {
        let history = try open(file: false)
        for _ in 0..<50 {
            press(history)
            pass(1)
        }
        var query = HistoryQuery(pageSize: 7)
        var seen: [HistoryRecord] = []
        for _ in 0..<20 {
            let page = try await history.page(query) { _ in true }
            seen += page.items
            // Newer ones, and with a clock that was set back ones that would belong to a later page.
            press(history)
            time.withLock { $0.wall -= 5 }
            press(history)
            time.withLock { $0.wall += 6 }
            query.cursor = page.cursor
            if page.cursor == nil { break }
        }
        #expect(query.cursor == nil)
        #expect(seen.count == 50)
        #expect(Set(seen.map(\.id)).count == 50)
        #expect(seen.map(\.timestamp) == seen.map(\.timestamp).sorted(by: >))
    }

    @Test func `a cursor that the history did not give out is refused`() async throws {
        let history = try open(file: false)
        press(history)
        for text in ["", "x", "AAAA", HistoryCursor(history: "other", time: 1, id: 1, newest: 1).text] {
            var query = HistoryQuery()
            query.cursor = text
            await #expect(throws: HomeError.self) { try await history.page(query) { _ in true } }
        }
        var random = RandomSource.seeded(11)
        let real = HistoryCursor(history: history.file.name, time: 5, id: 1, newest: 1)
        #expect(HistoryCursor(real.text) == real)
        for _ in 0..<2_000 {
            var bytes = Array(real.text.utf8)
            bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(33 + random.next() % 94)
            // Whatever it reads, reading it must not fail otherwise.
            if let cursor = HistoryCursor(String(decoding: bytes, as: UTF8.self)) {
                #expect(HistoryCursor(cursor.text) == cursor)
            }
        }
    }

    @Test func `filters narrow a query, and nobody reads of devices that they may not see`() async throws {
        let history = try open(file: false)
        for index in 0..<100 {
            press(history, "device-\(index)")
            history.take(
                .detection(
                    deviceID: "device-\(index)", at: now,
                    .init(kind: .motion, phase: .momentary, eventSessionId: "\(index)")),
                at: now)
            pass(1)
        }
        var query = HistoryQuery(pageSize: 200)
        query.devices = ["device-3", "device-4"]
        #expect(Set(try await read(history, query).map(\.deviceID)) == ["device-3", "device-4"])
        query.kinds = [.press]
        #expect(try await read(history, query).count == 2)
        query = HistoryQuery(pageSize: 200)
        query.events = ["Motion"]
        query.since = Date(timeIntervalSince1970: 1_000_010)
        query.until = Date(timeIntervalSince1970: 1_000_020)
        #expect(try await read(history, query).map(\.deviceID) == (10..<20).reversed().map { "device-\($0)" })
        // Few devices are asked one by one, and many along the time.
        for limit in [2, 90] {
            let sees: @Sendable (String) -> Bool = { id in Int(id.dropFirst(7)).map { $0 < limit } ?? false }
            let page = try await history.page(HistoryQuery(pageSize: 200), sees: sees)
            #expect(page.items.count == limit * 2)
            #expect(page.items.allSatisfy { sees($0.deviceID) })
            let filters = try await history.filters(sees: sees)
            #expect(filters.devices.count == limit)
            #expect(filters.events == ["DoorbellPressed", "Motion"])
            #expect(filters.oldest == Date(timeIntervalSince1970: 1_000_000))
        }
        #expect(try await history.page(HistoryQuery(), sees: { _ in false }).items.isEmpty)
    }

    @Test func `dimming is one item, and a lamp that flaps is not noted without end`() async throws {
        let history = try open(file: false)
        for level in 1...100 {
            change(history, lamp(true, level: UInt8(level - 1)), lamp(true, level: UInt8(level)))
            pass(0.1)
        }
        var items = try await read(history)
        #expect(items.count == 1)
        #expect(items.first?.from == .integer(0) && items.first?.to == .integer(100))
        #expect(items.first?.endTimestamp != nil)
        pass(3_600)
        for index in 0..<1_000 {
            change(history, lamp(index % 2 == 0), lamp(index % 2 == 1))
            pass(0.05)
        }
        items = try await read(history)
        #expect((3...20).contains(items.count))
        #expect(items.first?.to == .bool(true))
    }

    @Test func `a sensor's jitter is left out, and its drift is not`() async throws {
        func sensor(_ value: Int16) -> DeviceSnapshot {
            DeviceSnapshot(
                id: "sensor", name: "Sensor",
                endpoints: [
                    .init(
                        id: 1, types: ["TemperatureSensorDeviceType"],
                        traits: TraitCollection([
                            Matter.TemperatureMeasurementTrait(attributes: .init(measuredValue: value))
                        ]), connectivity: .init(connectivityState: .online, dataSourceLocality: .localPeer))
                ])
        }
        let history = try open(file: false)
        for index in 0..<1_000 {
            change(history, sensor(Int16(2_000 + index % 3)), sensor(Int16(2_000 + (index + 1) % 3)))
            pass(60)
        }
        #expect(try await read(history).isEmpty)
        for index in 0..<100 {
            change(history, sensor(Int16(2_000 + index)), sensor(Int16(2_001 + index)))
            pass(60)
        }
        let items = try await read(history)
        #expect((1...2).contains(items.count))
        #expect(items.last?.from == .integer(2_000) || items.last?.from == .integer(2_001))
    }

    @Test func `a lost device is a change, but the first report of an attribute is not`() async throws {
        let history = try open(file: false)
        change(history, lamp(nil, .unknown), lamp(true, .online))
        #expect(try await read(history).isEmpty)
        change(history, lamp(true, .online), lamp(true, .offline))
        let item = try #require(try await read(history).first)
        #expect(item.attribute == "connectivityState" && item.trait == nil)
        #expect(item.from == .text("online") && item.to == .text("offline"))
    }

    @Test func `a thousand devices that report all the time stay within the limits, and presses stay`() async throws {
        let history = try open(HistoryRetention(days: 30, megabytes: 256, items: 2_000), file: false)
        press(history)
        for round in 0..<20 {
            for device in 0..<1_000 {
                var before = lamp(round % 2 == 0)
                var after = lamp(round % 2 == 1)
                (before.id, after.id) = ("lamp-\(device)", "lamp-\(device)")
                change(history, before, after)
            }
            history.flush()
            pass(60)
        }
        #expect(history.status.items <= 2_000)
        #expect(history.status.lost == 0)
        var query = HistoryQuery()
        query.kinds = [.press]
        #expect(try await read(history, query).count == 1)
        let (count, known) = (try history.file.count(), history.status.items)
        #expect(count == known)
    }

    @Test func `a file that is too large loses its oldest items`() async throws {
        let history = try open(HistoryRetention(days: 30, megabytes: 1, items: 1_000_000))
        for _ in 0..<40 {
            for _ in 0..<1_000 {
                press(history)
                pass(0.01)
            }
            history.flush()
        }
        #expect(try history.file.bytes() <= 1_000_000)
        #expect(history.status.items > 2_000)
        #expect(try await read(history).first.map { now.timeIntervalSince($0.timestamp) < 1 } == true)
    }

    @Test func `a home notes what its devices do, and a command does not wait for it`() async throws {
        let history = try open(file: false)
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Door", kind: .doorbell)], drivers: [FakeCamera("door")],
            signalling: FakeLiveView().services, history: history,
            now: { [time] in Date(timeIntervalSince1970: time.withLock { $0.wall }) })
        await hub.apply(.doorbellPressed(.init()), deviceID: "door")
        await hub.apply(.detection(.init(kind: .person, phase: .began, eventSessionId: "s")), deviceID: "door")
        pass(3)
        await hub.apply(.detection(.init(kind: .person, phase: .ended, eventSessionId: "s")), deviceID: "door")
        let page = try await hub.history(HistoryQuery(), access: .everything)
        #expect(page.items.map(\.event) == ["Person", "DoorbellPressed"])
        #expect(page.items[0].endTimestamp?.timeIntervalSince(page.items[0].timestamp) == 3)
        let nobody = try await hub.history(HistoryQuery(), access: .nothing)
        #expect(nobody.items.isEmpty)
        let onlyControl = Access([.init([.control])])
        #expect(try await hub.history(HistoryQuery(), access: onlyControl).items.isEmpty)
    }
}
