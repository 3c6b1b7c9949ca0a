import Foundation
import HomeFakes
import HomeTypes
import Testing
import Transport

@testable import HomeHub

/// Many devices and many watchers.
@Suite(.timeLimit(.minutes(10))) struct CrowdTests {
    private typealias OnOff = Matter.OnOffTrait

    private func light(_ id: String, on: Bool = false) -> DeviceDescription {
        var description = DeviceDescription(id: id, name: id)
        description.endpoints = [
            EndpointDescription(
                id: 1, types: [OnOffLightDeviceType.self],
                traits: TraitCollection([OnOff(attributes: .init(onOff: on))]), connectivity: .online)
        ]
        return description
    }

    private func makeHub(_ count: Int, log: ChangeLog = ChangeLog(MemoryStore(log: "r"))) async -> HomeHub {
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, log: log,
            now: { Date(timeIntervalSince1970: 1_000) })
        await hub.setDevices((0..<count).map { light("d\($0)") }, drivers: [], of: .virtual)
        return hub
    }

    private func turn(_ hub: HomeHub, _ id: String, on: Bool) async {
        await hub.apply(.report(endpoint: 1, TraitCollection([OnOff(attributes: .init(onOff: on))])), deviceID: id)
    }

    private func collect(_ stream: HomeEvents) async -> [HomeEvent] {
        await stream.batches.reduce(into: []) { $0 += $1 }
    }

    @Test func `a thousand watchers of a thousand devices have places`() async throws {
        let hub = await makeHub(1_000)
        var streams: [HomeEvents] = []
        for _ in 0..<1_000 { streams.append(try await hub.changes(principal: "owner")) }
        for number in 0..<50 { await turn(hub, "d\(number)", on: true) }
        await hub.finishChanges()
        for stream in streams {
            var count = 0
            for await batch in stream.batches { count += batch.count }
            // The structure, the devices, and the changes.
            #expect(count == 1_051)
        }
    }

    @Test func `what watchers send on is made once for each change, and once for the state`() async throws {
        let hub = await makeHub(3)
        let streams = [try await hub.changes(principal: "a"), try await hub.changes(principal: "b")]
        await turn(hub, "d1", on: true)
        let late = try await hub.changes(principal: "c")
        await hub.finishChanges()
        let made = Locked<[String]>([])
        func forms(_ stream: HomeEvents) async -> [String] {
            await collect(stream).map { event in
                event.form { event in
                    made.withLock { $0.append(event.id) }
                    return event.data
                }
            }
        }
        let first = await forms(streams[0])
        let second = await forms(streams[1])
        #expect(first == second && first.count == 5)
        // The structure is written for each watcher, and so is the last event of the state, which has a watcher's own place.
        #expect(made.withLock { $0.count { $0.isEmpty } } == 4)
        #expect(made.withLock { $0.count { !$0.isEmpty } } == 3)
        // A later watcher gets the state as it is then.
        let state = await forms(late)
        #expect(state.count == 4 && state.count { $0.contains(#""onOff":true"#) } == 1)
    }

    @Test func `the present state follows every change of a device`() async throws {
        let hub = await makeHub(2)
        func state() async throws -> [HomeEvent] {
            let stream = try await hub.changes(principal: "owner")
            var batches = stream.batches.makeAsyncIterator()
            return await batches.next() ?? []
        }
        func device(_ id: String) async throws -> DeviceSnapshot? {
            for event in try await state() {
                if case .device(let device) = event.change, device.id == id { return device }
            }
            return nil
        }
        _ = try await state()
        await turn(hub, "d0", on: true)
        #expect(try await device("d0") == hub.device("d0"))
        await hub.apply(.connectivity(endpoint: nil, .cloud), deviceID: "d0")
        #expect(try await device("d0") == hub.device("d0"))
        _ = try await hub.moveDevice("d0", name: .value("Lamp"))
        #expect(try await device("d0")?.name == "Lamp")
        await hub.setDevices([light("d1", on: true)], drivers: [], of: .virtual)
        #expect(try await device("d0") == nil)
        #expect(try await device("d1") == hub.device("d1"))
    }

    /// `GATEHOUSE_CHANGES` makes it as long as one likes.
    @Test(arguments: [1, 2, 3]) func `nothing is lost or comes twice while watchers come, go and stall`(seed: UInt64)
        async throws
    {
        let total = ProcessInfo.processInfo.environment["GATEHOUSE_CHANGES"].flatMap { Int($0) } ?? 3_000
        let hub = await makeHub(20)
        let start = hub.log.newest
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<6 {
                group.addTask {
                    var random = RandomSource.seeded(seed &* 31 &+ UInt64(number))
                    var cursor = start.text
                    var expected = start.sequence + 1
                    while expected <= start.sequence + Int64(total) {
                        let stream = try await hub.changes(principal: "p\(number)", after: cursor)
                        var batches = stream.batches.makeAsyncIterator()
                        // It leaves after some batches, and stalls by letting others go first.
                        for _ in 0..<Int.random(in: 1...20, using: &random) {
                            for _ in 0..<Int.random(in: 0...30, using: &random) { await Task.yield() }
                            guard expected <= start.sequence + Int64(total), let batch = await batches.next() else {
                                break
                            }
                            for event in batch {
                                #expect(event.id == "r-1-\(expected)")
                                cursor = event.id
                                expected += 1
                            }
                        }
                    }
                    return Int(expected - start.sequence - 1)
                }
            }
            for number in 0..<total {
                await turn(hub, "d\(number % 20)", on: (number / 20).isMultiple(of: 2))
            }
            for try await count in group { #expect(count == total) }
        }
    }

    /// What makes the hub report a device, each twice.
    static let triggers: [(name: String, change: @Sendable (HomeHub, _ room: String) async throws -> Void)] = [
        ("name", { hub, _ in _ = try await hub.moveDevice("d0", name: .value("Lamp")) }),
        ("room", { hub, room in _ = try await hub.moveDevice("d0", room: .value(room)) }),
        ("connectivity", { hub, _ in await hub.apply(.connectivity(endpoint: nil, .cloud), deviceID: "d0") }),
        (
            "a trait's connectivity",
            { hub, _ in
                await hub.apply(.traitConnectivity(endpoint: 1, trait: "OnOff", .cloud), deviceID: "d0")
            }
        ),
        (
            "an attribute",
            { hub, _ in
                let report = TraitCollection([OnOff(attributes: .init(onOff: true))])
                await hub.apply(.report(endpoint: 1, report), deviceID: "d0")
            }
        ),
        (
            "types and traits",
            { hub, _ in
                let traits = TraitCollection([OnOff(), Matter.LevelControlTrait()])
                let part = EndpointDescription(
                    id: 1, types: [DimmableLightDeviceType.self], traits: traits, connectivity: .online)
                await hub.apply(.endpoints([part]), deviceID: "d0")
            }
        ),
    ]

    @Test(arguments: triggers.indices) func `each trigger reports the device once, also when it comes twice`(index: Int)
        async throws
    {
        let hub = await makeHub(2)
        let structure = try #require(await hub.structures().first)
        let room = try await hub.addRoom("Hall", in: structure.id).value.id
        let stream = try await hub.changes(principal: "owner", after: hub.log.newest.text)
        for _ in 0..<2 { try await Self.triggers[index].change(hub, room) }
        // What comes after it would show a report too many.
        await turn(hub, "d1", on: true)
        await hub.finishChanges()
        let devices = await collect(stream).compactMap { event -> String? in
            if case .device(let device) = event.change { device.id } else { nil }
        }
        #expect(devices == ["d0", "d1"], "\(Self.triggers[index].name)")
    }
}
