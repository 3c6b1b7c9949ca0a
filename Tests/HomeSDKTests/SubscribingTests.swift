import Dispatch
import HomeTypes
import OpenCombine
import Testing
import Transport

@testable import HomeSDK

@Suite(.timeLimit(.minutes(10))) struct SubscribingTests {
    @Test @MainActor func `an app's view gets its values on the main actor`() async {
        let script = ScriptedHome()
        var names: [String] = []
        let done = AsyncStream.makeStream(of: Void.self)
        // The closure is the main actor's, and is checked to run there.
        let cancellable = script.home.structures().batched().sink { structures in
            names += structures.map(\.name)
            done.continuation.yield()
        }
        script.state([Sample.structure()])
        var waiting = done.stream.makeAsyncIterator()
        await waiting.next()
        #expect(names == ["Home"])
        cancellable.cancel()
    }

    @Test func `a closure for values alone leaves a failure to the app's handler`() async {
        let failures = AsyncStream.makeStream(of: HomeError.self)
        await Home.configure { $0.unhandledStreamFailure = { failures.continuation.yield($0) } }
        let script = ScriptedHome()
        let seen = AsyncStream.makeStream(of: String.self)
        let cancellable = script.home.structures().batched().sink { seen.continuation.yield($0.first?.name ?? "") }
        script.state([Sample.structure()])
        var names = seen.stream.makeAsyncIterator()
        #expect(await names.next() == "Home")
        script.lose()
        var errors = failures.stream.makeAsyncIterator()
        #expect(await errors.next()?.code == .unavailable)
        cancellable.cancel()
    }

    @Test func `a device that was removed ends its stream, and a later subscription to it fails`() async {
        let script = ScriptedHome()
        let device = script.home.device(id: "d1")
        let first = Recorder(device)
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        await first.wait(for: 1)
        script.change(Sample.removed("device", "d1"))
        await first.waitForEnd()
        #expect(first.isFinished)
        // The same publisher.
        let second = Recorder(device)
        await second.waitForEnd()
        #expect(second.failure?.code == .notFound)
    }

    @Test func `the first object of a collection is the method and the property`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure()])
        let structures = try await script.home.structures().list()
        let byMethod = structures.first()
        let byProperty = structures.first
        #expect(byMethod?.name == "Home" && byProperty == byMethod)
        #expect(try await script.home.rooms().list().first() == nil)
    }

    @Test func `what only another platform can do says what to do instead`() async {
        let script = ScriptedHome()
        await #expect { try await script.home.discoverAvailableHubs() } throws: { error in
            (error as? HomeError)?.code == .unimplemented && "\(error)".contains("PUT /v1/cameras")
        }
        await #expect { try await script.home.presentPermissionsUpdate() } throws: { error in
            (error as? HomeError)?.code == .unimplemented
        }
    }

    @Test func `a device has no data of apps`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        let device = await script.device()
        await #expect { _ = try await device.customAppData } throws: { ($0 as? HomeError)?.code == .unimplemented }
    }

    @Test func `a device without endpoints is not one of this gateway's`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.devices().batched())
        script.state([("device", #"{"id":"d1","name":"Lamp","type":"OnOffLightDeviceType","traits":{}}"#)])
        await recorder.waitForEnd()
        #expect(recorder.failure?.message.contains("device") == true)
    }

    @Test func `a trait that was made by hand has no way to a device`() async {
        let trait = Matter.OnOffTrait(attributes: .init())
        await #expect { try await trait.on() } throws: { ($0 as? HomeError)?.code == .failedPrecondition }
    }

    @Test func `a type that was made by hand has no events`() async throws {
        var traits = TraitCollection()
        traits.set(Google.PushAvStreamTransportTrait(attributes: .init()))
        traits.set(Google.WebRtcLiveViewTrait(attributes: .init()))
        traits.set(Google.DoorbellPressTrait(attributes: .init()))
        let doorbell = try GoogleDoorbellDeviceType(traits: traits, metadata: DeviceTypeMetadata())
        #expect(!doorbell.events.contains(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        let recorder = Recorder(doorbell.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        await recorder.waitForEnd()
        #expect(recorder.failure == nil)
    }

    @Test func `without a gateway and a token, connecting says what to set`() throws {
        let nowhere = ["XDG_STATE_HOME": "/nonexistent"]
        #expect { try Home(HomeClientConfiguration(), environment: nowhere) } throws: { error in
            (error as? HomeError)?.code == .unavailable && "\(error)".contains("Home.configure")
        }
        let addressOnly = nowhere.merging(["GATEHOUSE_URL": "http://127.0.0.1:9"]) { $1 }
        #expect { try Home(HomeClientConfiguration(), environment: addressOnly) } throws: { error in
            (error as? HomeError)?.code == .unauthenticated
        }
    }
}
