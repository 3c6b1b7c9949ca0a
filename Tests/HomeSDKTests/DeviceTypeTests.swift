import ExampleOrganization
import HomeTypes
import OpenCombine
import Testing

@testable import HomeSDK

/// The types of a device: which it has, which one is primary, and several at once.
@Suite(.timeLimit(.minutes(10))) struct DeviceTypeTests {
    /// A loudspeaker that is also a dimmable light: both have OnOff and LevelControl.
    static let collision = Sample.device(
        type: "SpeakerDeviceType",
        [
            Sample.rootNode, Sample.light(on: true, level: 10, type: "SpeakerDeviceType"),
            Sample.light(on: false, level: 20, type: "DimmableLightDeviceType"),
        ])

    @Test func `a type that the device lacks completes at once, and is nil`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        let device = await script.device()
        let recorder = Recorder(device.types.subscribe(FanDeviceType.self))
        await recorder.waitForEnd()
        #expect(recorder.values.isEmpty && recorder.isFinished)
        let fan = await device.types.get(FanDeviceType.self)
        #expect(fan == nil && !device.types.contains(FanDeviceType.self) && device.types.count(FanDeviceType.self) == 0)
        #expect(try await device.types.getAll(of: FanDeviceType.self).isEmpty)
    }

    @Test func `an extended colour light is every kind of light, and primarily itself`() async throws {
        let script = ScriptedHome()
        var part = Sample.light(on: true, type: "ExtendedColorLightDeviceType")
        part.traits.removeLast()
        part.traits += #","ColorControl":{"currentHue":3}}"#
        script.state([
            Sample.structure(), Sample.device(type: "ExtendedColorLightDeviceType", [Sample.rootNode, part]),
        ])
        let types = await script.device().types
        let kinds: [any DeviceType.Type] = [
            OnOffLightDeviceType.self, DimmableLightDeviceType.self, ColorTemperatureLightDeviceType.self,
            ExtendedColorLightDeviceType.self,
        ]
        for kind in kinds {
            #expect(types.contains(kind))
            let value = try #require(await types.get(kind), "\(kind)")
            #expect(value.metadata.isPrimaryType == (kind == ExtendedColorLightDeviceType.self), "\(kind)")
            #expect(value.traits[Matter.OnOffTrait.self]?.onOff == true)
            let recorder = Recorder(types.subscribe(kind))
            #expect(await recorder.wait(for: 1).count == 1)
        }
        #expect(!types.contains(OnOffPluginUnitDeviceType.self))
        let root = try #require(await types.get(RootNodeDeviceType.self))
        #expect(!root.metadata.isPrimaryType && root.matterTraits.basicInformationTrait?.vendorID == 65521)
    }

    @Test func `a type that is only known at run time works as one in the source`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.collision])
        let types = await script.device().types
        let kind: any DeviceType.Type = OnOffLightDeviceType.self
        let parts = try await types.getAll(of: kind)
        #expect(parts.count == 1 && parts.first?.traits[Matter.OnOffTrait.self]?.onOff == false)
        let recorder = Recorder(types.subscribeAll(of: kind).map { $0.count })
        #expect(await recorder.wait(for: 1) == [1])
        let collection = try #require(await Recorder(types.subscribeAll()).wait(for: 1).first)
        #expect(collection.getAll(of: kind).count == 1 && collection[kind] is OnOffLightDeviceType)
        let missing: any DeviceType.Type = FanDeviceType.self
        #expect(try await types.getAll(of: missing).isEmpty && collection[missing] == nil)
        let none = Recorder(types.subscribeAll(of: missing).map { $0.count })
        await none.waitForEnd()
        #expect(none.isFinished && none.values.isEmpty)
    }

    @Test func `traits of one name are told apart by their types`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.collision])
        let device = await script.device()
        let speaker = try #require(await device.types.get(SpeakerDeviceType.self))
        let light = try #require(await device.types.get(DimmableLightDeviceType.self))
        #expect(speaker.matterTraits.onOffTrait?.onOff == true && light.matterTraits.onOffTrait?.onOff == false)
        #expect(speaker.metadata.isPrimaryType && !light.metadata.isPrimaryType)
        // Without a type, the primary type's trait counts.
        #expect(await device.traits.get(Matter.LevelControlTrait.self)?.currentLevel == 10)
        let all = Recorder(device.types.subscribeAll())
        let types = try #require(await all.wait(for: 1).first)
        #expect(types[SpeakerDeviceType.self]?.matterTraits.levelControlTrait?.currentLevel == 10)
        #expect(types[OnOffLightDeviceType.self]?.matterTraits.onOffTrait?.onOff == false)
        #expect(types[FanDeviceType.self] == nil && types.contains(DimmableLightDeviceType.self))
        #expect(types.all.count == 3)
    }

    @Test func `a vendor's trait stands beside the standard one of the same name`() async throws {
        Vocabulary.register(ExampleOrganization.OnOffTrait.self)
        let script = ScriptedHome()
        var part = Sample.light(on: true)
        part.traits.removeLast()
        part.traits += #","ExampleOrganization.OnOff":{"onOff":false}}"#
        script.state([Sample.structure(), Sample.device([part])])
        let light = try #require(await script.device().types.get(DimmableLightDeviceType.self))
        #expect(light.matterTraits.onOffTrait?.onOff == true)
        #expect(light.traits[ExampleOrganization.OnOffTrait.self] != nil)
        #expect(light.traits.names.count == 3)
    }

    @Test func `a device with two parts of a type has both`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.light(on: true), Sample.light(on: false)])])
        let types = await script.device().types
        #expect(types.count(DimmableLightDeviceType.self) == 2)
        let both = try await types.getAll(of: OnOffLightDeviceType.self)
        #expect(both.map { $0.matterTraits.onOffTrait?.onOff } == [true, false])
    }

    @Test(arguments: [true, false])
    func `a device with several parts is one device, whatever an app asks for`(isMultipart: Bool) async throws {
        let script = ScriptedHome()
        let strip = Sample.light(on: true, level: nil, type: "OnOffPluginUnitDeviceType")
        script.state([
            Sample.structure(),
            Sample.device(type: "OnOffPluginUnitDeviceType", [Sample.rootNode, strip, strip, strip]),
        ])
        let devices = try await script.home.devices(enableMultipartDevices: isMultipart).list()
        #expect(devices.map(\.id) == ["d1"])
        let recorder = Recorder(script.home.device(id: "d1", enableMultipartDevices: isMultipart))
        let device = try #require(await recorder.wait(for: 1).first)
        #expect(device.enableMultipartDevices && devices == [device])
        #expect(try await device.types.getAll(of: OnOffPluginUnitDeviceType.self).count == 3)
    }

    @Test func `a device that is not there is not found, and one that goes ends its streams`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        let unknown = Recorder(script.home.device(id: "d9"))
        await unknown.waitForEnd()
        #expect(unknown.failure?.code == .notFound)
        let object = Recorder(script.home.device(id: "d1"))
        let type = Recorder(await script.device().types.subscribe(DimmableLightDeviceType.self))
        await object.wait(for: 1)
        await type.wait(for: 1)
        script.change(Sample.removed("device", "d1"))
        await object.waitForEnd()
        await type.waitForEnd()
        #expect(object.isFinished && type.isFinished)
    }

    @Test func `types and traits of a newer gateway are left out`() async throws {
        let script = ScriptedHome()
        var part = Sample.light(on: true)
        part.types.append("TeleporterDeviceType")
        part.traits.removeLast()
        part.traits += #","Teleport":{"target":3},"Identify":7}"#
        script.state([Sample.structure(), Sample.device([part])])
        let light = try #require(await script.device().types.get(DimmableLightDeviceType.self))
        #expect(light.traits.names.sorted() == ["LevelControl", "OnOff"])
    }
}
