import ExampleOrganization
import Foundation
import GatewayProcess
import GoogleHomeSDK
import GoogleHomeTypes
import Testing

/// The snippets of the documents, each against a running gateway.
@Suite(.serialized, .timeLimit(.minutes(10))) @MainActor struct SnippetTests {
    @Test func `every snippet is counted, and eleven are changed`() {
        let forms = SnippetTable.forms
        #expect(forms.count == 46)
        #expect(Set(forms.map(\.snippet)).count == 46)
        let changed = forms.count { entry in
            if case .changed = entry.form { true } else { false }
        }
        #expect(changed == 11)
    }

    @Test func `A1 and A3: devices are listed, and one is got as a type`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        try await app.a1()
        let devices = try await world.home.devices().list()
        await app.a3(devices)
        #expect(app.found == ["A1": ["\(devices.count)"], "A3": ["true"]])
    }

    @Test func `A2: a command is seen by the subscription that sent it, once`() async throws {
        let world = try await SnippetWorld.make()
        // No other test changes this light: the snippet stops the process at an update that it did not cause.
        let app = try await world.app("hall")
        try await app.a2()
        #expect(try await app.wait(for: 1, of: "A2") == ["true"])
        let light = try #require(await app.device.types.get(OnOffLightDeviceType.self))
        #expect(light.matterTraits.onOffTrait?.onOff == true)
    }

    @Test func `A4: all types come at once`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        await app.a4(try await world.home.devices().list())
        #expect(try await app.wait(for: 1, of: "A4") == ["true"])
    }

    @Test func `A5 to A8: traits are taken from types`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        await app.a5()
        Vocabulary.register(ExampleOrganization.SpinnerTrait.self)
        await app.a7(app.device)
        await app.a8(try await world.home.devices().list())
        let door = try await world.app("front-door")
        await door.a6()
        // No device of this home has the vendor's trait.
        #expect(app.found == ["A5": ["true"], "A7": ["true"], "A8": ["true"]])
        #expect(door.found == ["A6": ["true"]])
    }

    @Test func `A7: a vendor's trait is read from a light that has it`() async throws {
        Vocabulary.register(ExampleOrganization.SpinnerTrait.self)
        let home = VendorHome.make()
        let lamp = try #require(try await home.devices().list().first())
        let app = SnippetApp(home: home, device: lamp)
        await app.a7(lamp)
        #expect(app.found["A7"]?.last == "true" && app.found["A7"]?.first?.contains("33") == true)
        #expect(app.found["A7"]?.count == 2)
    }

    @Test func `A9 and A10: devices are found by trait and by kind of light`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        try await app.a9()
        try await app.a10()
        #expect(app.found["A9"] == [#"["Bedroom Lamp", "Radio", "Stage"]"#])
        #expect(app.found["A10"] == [#"["Bedroom Lamp", "Ceiling", "Hall", "Radio", "Stage"]"#])
    }

    @Test func `A11: a device names its vendor and product`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        let root = try #require(await app.device.types.get(RootNodeDeviceType.self))
        app.a11(try #require(root.matterTraits.basicInformationTrait))
        #expect(app.found["A11"]?.count == 1)
    }

    @Test func `A12: the fields of a cloud device's identity can be read`() throws {
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(snippetA12.utf8)) as? [String: Any])
        let payload = try #require(answer["payload"] as? [String: Any])
        let device = try #require((payload["devices"] as? [[String: Any]])?.first)
        #expect(device["matterOriginalVendorId"] as? String == "0xfff1")
        #expect(device["matterOriginalProductId"] as? String == "0x1234")
        #expect(device["matterUniqueId"] as? String == "matter-device-id")
    }

    @Test func `A13: a type is primary or not`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bath-humidity")
        await app.a13(app.device)
        #expect(app.found == ["A13": ["true"]])
    }

    @Test func `A14 to A17: connectivity is read from traits and types`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        let type = try #require(await app.device.types.get(DimmableLightDeviceType.self))
        let trait = try #require(type.matterTraits.levelControlTrait)
        app.a14(trait)
        app.a15(type)
        app.a16(trait)
        app.a17(type)
        #expect(app.found["A14"] == ["online"] && app.found["A15"] == ["online"])
        #expect(app.found["A16"] == app.found["A17"])
    }

    @Test func `A18: a renamed device is returned, and the old value stays`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("renamed")
        try await app.a18(app.device)
        #expect(app.found["A18"] == ["Renamed → new device name"])
        let long = String(repeating: "é", count: 80)
        #expect(try await app.device.setName(long).name == String(repeating: "é", count: 60))
    }

    @Test func `O1 and O2: optional objects are unwrapped`() async throws {
        let world = try await SnippetWorld.make()
        let app = ObservingApp()
        #expect(app.o2() == nil && app.structure(structureID: nil) == nil)
        app.home = world.home
        #expect(app.o2() === world.home)
        app.structures = Array(try await world.home.structures().list())
        let structure = try #require(app.structures.first)
        #expect(app.structure(structureID: structure.id) == structure)
    }

    @Test func `O3: a structure is emitted when it is renamed`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        let structure = try #require(try await world.home.structures().list().first())
        let cancellable = app.o3(structure.id)
        _ = try await app.wait(for: 1, of: "O3")
        try await structure.setName("Our house")
        #expect(try await app.wait(for: 2, of: "O3").last == "Our house")
        cancellable.cancel()
    }

    @Test func `O4: one device is picked out of all by its name`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        let cancellable = app.o4()
        #expect(try await app.wait(for: 1, of: "O4") == ["Bedroom Lamp"])
        cancellable.cancel()
    }

    @Test func `O5 and O6: the changes of a trait are observed`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        let type = try #require(await app.device.types.get(DimmableLightDeviceType.self))
        let (onOff, level) = (
            try #require(type.matterTraits.onOffTrait), try #require(type.matterTraits.levelControlTrait)
        )
        try await onOff.off()
        let cancellables = [app.o5(), app.o6()]
        try await app.wait(until: "false", of: "O5")
        _ = try await app.wait(for: 1, of: "O6")
        try await onOff.on()
        // The test's time limit ends what does not come.
        try await app.wait(until: "true", of: "O5")
        try await level.moveToLevel(level: 77, transitionTime: nil, optionsMask: [], optionsOverride: [])
        try await app.wait(until: "77", of: "O6")
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test func `O7: rooms are observed`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("bedroom")
        let cancellable = app.o7()
        let before = try await app.wait(for: 1, of: "O7").count
        let structure = try #require(try await world.home.structures().list().first())
        let room = try await structure.createRoom(name: "Attic")
        #expect(try await app.wait(for: before + 1, of: "O7").last?.contains("Attic") == true)
        try await structure.deleteRoom(room)
        cancellable.cancel()
    }

    @Test func `O8: a fan's tile follows the fan`() async throws {
        let world = try await SnippetWorld.make()
        let app = try await world.app("fan")
        app.o8()
        _ = try await app.wait(for: 1, of: "O8")
        let fan = try #require(await app.device.types.get(FanDeviceType.self))
        try await fan.matterTraits.fanControlTrait?.update { $0.setFanMode(.high) }
        _ = try await app.wait(for: 2, of: "O8")
        #expect(app.fanDeviceType?.matterTraits.fanControlTrait?.fanMode == .high)
    }
}
