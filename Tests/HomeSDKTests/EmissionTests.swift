import GatewayClient
import HomeTypes
import OpenCombine
import Testing

@testable import HomeSDK

/// What makes a collection or an object emit again, and what does not. Each test ends with a change that has to be emitted,
/// so that an emission too many would show.
@Suite(.timeLimit(.minutes(10))) struct EmissionTests {
    @Test func `structures emit when one is added, renamed or removed, and not for their traits`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.structures().batched())
        script.state([Sample.structure()])
        await recorder.wait(for: 1)
        script.change(Sample.structure(traits: #"{"AreaPresenceState":{"presenceState":"presenceStateVacant"}}"#))
        script.change(Sample.room("r1", name: "Hall"))
        script.change(Sample.structure(name: "House"))
        await recorder.wait(for: 2)
        script.change(Sample.structure("s2", name: "Cabin"))
        await recorder.wait(for: 3)
        script.change(Sample.removed("structure", "s1"))
        let names = await recorder.wait(for: 4).map { $0.map(\.name).sorted() }
        #expect(names == [["Home"], ["House"], ["Cabin", "House"], ["Cabin"]])
    }

    @Test func `rooms emit when one is added, renamed or removed, and not for their devices`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.rooms().batched())
        script.state([Sample.structure(), Sample.room("r1", name: "Hall")])
        await recorder.wait(for: 1)
        script.change(Sample.device(room: "r1", [Sample.light(on: true)]))
        script.change(Sample.room("r1", name: "Entrance"))
        await recorder.wait(for: 2)
        script.change(Sample.room("r2", name: "Bath"))
        await recorder.wait(for: 3)
        script.change(Sample.removed("room", "r1"))
        let names = await recorder.wait(for: 4).map { $0.map(\.name).sorted() }
        #expect(names == [["Hall"], ["Entrance"], ["Bath", "Entrance"], ["Bath"]])
    }

    @Test func `devices emit when one is added or removed`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.devices().batched())
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        await recorder.wait(for: 1)
        script.change(("deviceAdded", Sample.device(id: "d2", name: "Two", [Sample.light(on: true)]).1))
        await recorder.wait(for: 2)
        script.change(Sample.removed("device", "d1"))
        let names = await recorder.wait(for: 3).map { $0.map(\.name).sorted() }
        #expect(names == [["Lamp"], ["Lamp", "Two"], ["Two"]])
    }

    @Test func `a stream emits an object that went and came back as it was`() throws {
        let model = ScriptedHome().model
        func home(_ events: [(String, String)]) throws -> HomeState {
            try HomeState(events.map { GatewayEvent(name: $0.0, data: $0.1) })
        }
        let present = try home([Sample.structure(), Sample.device([Sample.light(on: true)])])
        var stream = ChangedObjects { home in home.devices.values.map { HomeDevice(model, $0) } }
        func emitted(_ stream: inout ChangedObjects<HomeDevice>, _ home: HomeState) -> Int {
            stream.update(home)
            var count = 0
            while count < 10, case .value = stream.next() { count += 1 }
            return count
        }
        var counts: [Int] = []
        for state in [present, present, try home([Sample.structure()]), present] {
            counts.append(emitted(&stream, state))
        }
        #expect(counts == [1, 0, 0, 1])
    }

    /// The changes that emit a device, and how the device reports them.
    static let triggers: [(change: (String, String), isSeen: @Sendable (HomeDevice) -> Bool)] = [
        (
            Sample.device(state: "offline", [Sample.light(on: true)]),
            { $0.sourceConnectivity.connectivityState == .offline }
        ),
        (Sample.device(name: "Desk lamp", [Sample.light(on: true)]), { $0.name == "Desk lamp" }),
        (Sample.device(room: "r1", [Sample.light(on: true)]), { $0.roomID == "r1" }),
        (Sample.device([Sample.light(on: true, level: nil)]), { !$0.content.contains(Matter.LevelControlTrait.self) }),
        (
            Sample.device([Sample.light(on: true, type: "ColorTemperatureLightDeviceType")]),
            { $0.types.contains(ColorTemperatureLightDeviceType.self) }
        ),
    ]

    @Test(arguments: triggers.indices)
    func `devices emit for connectivity, name, room, traits and types, and not for attributes`(index: Int) async {
        let (change, isSeen) = Self.triggers[index]
        let script = ScriptedHome()
        let all = Recorder(script.home.devices().batched())
        let one = Recorder(script.home.device(id: "d1"))
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        await all.wait(for: 1)
        await one.wait(for: 1)
        script.change(Sample.device([Sample.light(on: false, level: 7)]))
        script.change(change)
        let devices = await one.wait(for: 2)
        let sets = await all.wait(for: 2)
        #expect(devices.map(isSeen) == [false, true])
        #expect(sets.map { $0.map(isSeen) } == [[false], [true]])
    }

    @Test func `a type emits for a change of any of its traits, once, and not for the device's name`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.rootNode, Sample.light(on: true)])])
        let device = await script.device()
        let recorder = Recorder(device.types.subscribe(DimmableLightDeviceType.self))
        await recorder.wait(for: 1)
        script.change(Sample.device(name: "Other", [Sample.rootNode, Sample.light(on: true)]))
        script.change(Sample.device([Sample.rootNode, Sample.light(on: false)]))
        await recorder.wait(for: 2)
        script.change(Sample.device([Sample.rootNode, Sample.light(on: false)]))
        script.change(Sample.device([Sample.rootNode, Sample.light(on: false, level: 9)]))
        let types = await recorder.wait(for: 3)
        #expect(types.map { $0.matterTraits.onOffTrait?.onOff } == [true, false, false])
        #expect(types.map { $0.matterTraits.levelControlTrait?.currentLevel } == [100, 100, 9])
    }

    @Test func `a trait's connectivity is a change of its type`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        let device = await script.device()
        let recorder = Recorder(device.types.subscribe(DimmableLightDeviceType.self))
        await recorder.wait(for: 1)
        var part = Sample.light(on: true)
        part.differing = #""LevelControl":{"connectivityState":"offline","dataSourceLocality":"remote"}"#
        script.change(Sample.device([part]))
        let last = await recorder.wait(for: 2).last
        #expect(last?.metadata.sourceConnectivity.connectivityState == .partiallyOnline)
        #expect(last?.metadata.sourceConnectivity.dataSourceLocality == .mixed)
        #expect(last?.matterTraits.levelControlTrait?.metadata.sourceConnectivity.connectivityState == .offline)
        #expect(last?.matterTraits.onOffTrait?.metadata.sourceConnectivity.connectivityState == .online)
    }

    @Test func `removed duplicates leave one emission for each change`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        let device = await script.device()
        let recorder = Recorder(
            device.types.subscribe(DimmableLightDeviceType.self)
                .compactMap { $0.matterTraits.onOffTrait }.removeDuplicates().map(\.onOff))
        await recorder.wait(for: 1)
        for level in 1...20 { script.change(Sample.device([Sample.light(on: true, level: level)])) }
        script.change(Sample.device([Sample.light(on: false, level: 20)]))
        #expect(await recorder.wait(for: 2) == [true, false])
    }

    @Test func `a stream emits every object and then those that changed`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.devices().stream())
        script.state([
            Sample.structure(), Sample.device(id: "d1", name: "One", [Sample.light(on: true)]),
            Sample.device(id: "d2", name: "Two", [Sample.light(on: true)]),
        ])
        #expect(await Set(recorder.wait(for: 2).map(\.name)) == ["One", "Two"])
        script.change(Sample.device(id: "d2", name: "Two", [Sample.light(on: false)]))
        script.change(Sample.device(id: "d2", name: "Second", [Sample.light(on: false)]))
        await recorder.wait(for: 3)
        script.change(Sample.removed("device", "d1"))
        script.change(Sample.device(id: "d1", name: "First", [Sample.light(on: true)]))
        #expect(await recorder.wait(for: 4).suffix(2).map(\.name) == ["Second", "First"])
    }
}

extension ScriptedHome {
    /// The device `d1` as it is now.
    func device() async -> HomeDevice {
        let recorder = Recorder(home.device(id: "d1"))
        return await recorder.wait(for: 1)[0]
    }
}
