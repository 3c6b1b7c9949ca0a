import HomeTypes
import OpenCombine
import Testing

@testable import HomeSDK

@Suite(.timeLimit(.minutes(10))) struct EventTests {
    static let doorbell = Sample.device(
        id: "d1", name: "Door", type: "GoogleDoorbellDeviceType",
        [
            Sample.Part(
                types: ["GoogleDoorbellDeviceType"],
                traits: #"{"PushAvStreamTransport":{},"WebRtcLiveView":{},"DoorbellPress":{}}"#)
        ])

    static func press(_ tone: String, device: String = "d1") -> (String, String) {
        (
            "DoorbellPressed",
            #"{"deviceID":"\#(device)","timestamp":"2026-01-31T12:00:00Z","complementaryToneId":"\#(tone)"}"#
        )
    }

    @Test func `an event reaches each subscriber of its device once`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let events = try #require(await device.types.get(GoogleDoorbellDeviceType.self)).events
        let typed = Recorder(events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        let ofTrait = Recorder(device.events.subscribe(Google.DoorbellPressTrait.self).map { String(describing: $0) })
        script.change(Self.press("one"))
        script.change(Self.press("elsewhere", device: "d2"))
        script.change(Self.press("two"))
        #expect(await typed.wait(for: 2).map(\.complementaryToneId) == ["one", "two"])
        #expect(await ofTrait.wait(for: 2).count == 2)
    }

    @Test func `an event says when it happened and how important it is`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let recorder = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        script.change(Self.press("one"))
        let press = try #require(await recorder.wait(for: 1).first)
        // 2026-01-31T12:00:00Z
        #expect(press.timestamp == 1_769_860_800)
        #expect(press.importance == .info && press.payload.complementaryToneId == "one")
        #expect(Matter.SmokeCoAlarmTrait.SmokeAlarmEvent.importance == .critical)
    }

    @Test func `an event of one part reaches the subscribers of that part and of the device`() async throws {
        let script = ScriptedHome()
        let part = Sample.Part(
            types: ["OnOffLightSwitchDeviceType"], traits: #"{"OnOff":{},"Switch":{},"Identify":{}}"#)
        script.state([Sample.structure(), Sample.device(type: "OnOffLightSwitchDeviceType", [part, part])])
        let device = await script.device()
        let parts = try await device.types.getAll(of: OnOffLightSwitchDeviceType.self)
        try #require(parts.count == 2)
        let kind = Matter.SwitchTrait.InitialPressEvent.self
        let first = Recorder(parts[0].events.subscribe(kind))
        let second = Recorder(parts[1].events.subscribe(kind))
        let whole = Recorder(device.events.subscribe(kind))
        for position in 1...3 {
            script.change(
                (
                    "InitialPress",
                    #"{"deviceID":"d1","endpoint":\#(position % 2),"timestamp":"2026-01-31T12:00:00Z","newPosition":\#(position)}"#
                ))
        }
        #expect(await whole.wait(for: 3).map(\.newPosition) == [1, 2, 3])
        #expect(await second.wait(for: 2).map(\.newPosition) == [1, 3])
        #expect(await first.wait(for: 1).map(\.newPosition) == [2])
    }

    @Test func `events that the device does not send complete at once`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.light(on: true)])])
        let device = await script.device()
        let recorder = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        await recorder.waitForEnd()
        #expect(recorder.isFinished)
        #expect(!device.events.contains(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
    }

    @Test func `events of a device of unspecified locality fail at once, and come when it is known`() async throws {
        let script = ScriptedHome()
        func device(_ localities: [String]) -> (String, String) {
            let parts = localities.map { locality in
                Sample.Part(
                    types: ["GenericSwitchDeviceType"], traits: #"{"Switch":{},"Identify":{}}"#, locality: locality)
            }
            return Sample.device(type: "GenericSwitchDeviceType", parts)
        }
        script.state([Sample.structure(), device(["unspecified", "localPeer"])])
        let button = await script.device()
        let parts = try await button.types.getAll(of: GenericSwitchDeviceType.self)
        let kind = Matter.SwitchTrait.InitialPressEvent.self
        let unknown = Recorder(parts[0].events.subscribe(kind))
        await unknown.waitForEnd()
        #expect(unknown.failure?.code == .unavailable && unknown.values.isEmpty)
        // One part that can be reached is enough for the device's events.
        let whole = Recorder(button.events.subscribe(kind))
        let localities = Recorder(button.types.subscribeAll(of: GenericSwitchDeviceType.self))
        await localities.wait(for: 1)
        script.change(device(["localPeer", "localPeer"]))
        let changed = try #require(await localities.wait(for: 2).last)
        let known = Recorder(changed[0].events.subscribe(kind))
        script.change(
            ("InitialPress", #"{"deviceID":"d1","endpoint":0,"timestamp":"2026-01-31T12:00:00Z","newPosition":1}"#))
        #expect(await whole.wait(for: 1).count == 1)
        #expect(await known.wait(for: 1).count == 1)
    }

    @Test func `a subscriber to events learns that some may be missing, and states go on`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let events = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        let devices = Recorder(script.home.devices().batched())
        await devices.wait(for: 1)
        script.change(Self.press("one"))
        // The gateway ends a stream that was read too slowly. The next one goes on, and nothing is missing.
        script.missed()
        script.interrupted()
        script.connected()
        script.change(Self.press("two"))
        #expect(await events.wait(for: 2).map(\.complementaryToneId) == ["one", "two"])
        // It no longer has what came after the cursor.
        script.interrupted()
        script.state([Sample.structure(), Self.doorbell])
        script.missed()
        await events.waitForEnd()
        #expect(events.failure?.code == .dataLoss)
        let later = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        script.change(Self.press("three"))
        #expect(await later.wait(for: 1).map(\.complementaryToneId) == ["three"])
        #expect(devices.failure == nil && !devices.isFinished)
    }

    @Test func `a stream that is cut off in a quiet home goes on, and nothing is missing`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let events = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        // The app's rights have changed. Nothing has happened since the home was described.
        script.missed()
        script.interrupted()
        script.connected()
        script.change(Self.press("one"))
        #expect(await events.wait(for: 1).map(\.complementaryToneId) == ["one"])
        // The same after a gap that another subscription was informed of.
        script.interrupted()
        script.state([Sample.structure(), Self.doorbell])
        script.missed()
        await events.waitForEnd()
        #expect(events.failure?.code == .dataLoss)
        let later = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        script.missed()
        script.interrupted()
        script.connected()
        script.change(Self.press("two"))
        #expect(await later.wait(for: 1).map(\.complementaryToneId) == ["two"])
        #expect(later.failure == nil)
    }

    @Test func `a subscription to events goes on after the app's rights change, and misses no event`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let events = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        let rights = #"{"reason":"what the token may read has changed","eventsFollow":true}"#
        script.interrupted()
        script.state([Sample.structure(), Self.doorbell])
        script.missed(rights)
        script.change(Self.press("one"))
        #expect(await events.wait(for: 1).map(\.complementaryToneId) == ["one"])
        // The gateway may no longer have every event later.
        script.interrupted()
        script.state([Sample.structure(), Self.doorbell])
        script.missed()
        await events.waitForEnd()
        #expect(events.failure?.code == .dataLoss)
    }

    @Test func `a subscription to events finishes when its device is removed, after the events that wait`() async {
        let script = ScriptedHome()
        script.state([
            Sample.structure(), Self.doorbell, Sample.device(id: "d2", name: "Lamp", [Sample.light(on: true)]),
        ])
        let device = await script.device()
        let kind = Google.DoorbellPressTrait.DoorbellPressedEvent.self
        let events = Recorder(device.events.subscribe(kind))
        // A subscriber that has asked for no more is informed, too.
        let slow = Recorder(device.events.subscribe(kind), demand: .max(1))
        script.change(Self.press("one"))
        script.change(Sample.removed("device", "d2"))
        script.change(Self.press("two"))
        await events.wait(for: 2)
        script.change(Sample.removed("device", "d1"))
        await events.waitForEnd()
        #expect(events.isFinished && events.values.map(\.complementaryToneId) == ["one", "two"])
        #expect(!slow.isFinished)
        slow.request(.max(1))
        await slow.waitForEnd()
        #expect(slow.isFinished && slow.values.map(\.complementaryToneId) == ["one", "two"])
        let late = Recorder(device.events.subscribe(kind))
        await late.waitForEnd()
        #expect(late.isFinished)
        // It comes back.
        script.change(Self.doorbell)
        let devices = Recorder(script.home.devices().batched().filter { !$0.isEmpty })
        await devices.wait(for: 1)
        let again = Recorder(await script.device().events.subscribe(kind))
        script.change(Self.press("three"))
        #expect(await again.wait(for: 1).map(\.complementaryToneId) == ["three"])
    }

    @Test func `a subscription to events goes on while its device is missing for a moment`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let events = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        let rights = #"{"reason":"what the token may read has changed","eventsFollow":true}"#
        script.interrupted()
        script.state([Sample.structure()])
        script.missed(rights)
        script.interrupted()
        script.state([Sample.structure(), Self.doorbell])
        script.missed(rights)
        script.change(Self.press("one"))
        #expect(await events.wait(for: 1).map(\.complementaryToneId) == ["one"])
        #expect(!events.isFinished)
    }

    @Test func `a subscription to events finishes if its device was removed while the app's rights changed`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let events = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        script.interrupted()
        script.state([Sample.structure()])
        script.missed(#"{"reason":"what the token may read has changed","eventsFollow":true}"#)
        script.change(Self.press("one"))
        script.change(Sample.removed("device", "d1"))
        await events.waitForEnd()
        #expect(events.isFinished && events.values.map(\.complementaryToneId) == ["one"])
    }

    @Test func `a subscription without a connection finishes if its device was removed before`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let kind = Google.DoorbellPressTrait.DoorbellPressedEvent.self
        for isResumed in [true, false] {
            script.change(Self.doorbell)
            let there = Recorder(script.home.devices().batched().filter { !$0.isEmpty })
            await there.wait(for: 1)
            let former = Recorder(device.events.subscribe(kind))
            script.change(Sample.removed("device", "d1"))
            await former.waitForEnd()
            script.interrupted()
            while script.model.current != nil, !Task.isCancelled { await Task.yield() }
            let later = Recorder(device.events.subscribe(kind))
            if isResumed { script.connected() } else { script.state([Sample.structure()]) }
            await later.waitForEnd()
            #expect(later.isFinished)
        }
    }

    @Test func `a subscription to events of a device that was removed during an outage finishes`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let events = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        script.lose()
        await events.waitForEnd()
        #expect(events.failure?.code == .unavailable)
        let later = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        script.state([Sample.structure()])
        await later.waitForEnd()
        #expect(later.isFinished)
    }

    @Test func `events wait for a slow subscriber up to a limit, and then its stream fails`() async {
        let script = ScriptedHome()
        script.state([Sample.structure(), Self.doorbell])
        let device = await script.device()
        let slow = Recorder(
            device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self), demand: .max(1))
        let fast = Recorder(device.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        for index in 0...1030 {
            script.change(Self.press("\(index)"))
            await fast.wait(for: index + 1)
            if index == 0 { await slow.wait(for: 1) }
        }
        slow.request(.unlimited)
        await slow.waitForEnd()
        #expect(slow.failure?.code == .resourceExhausted)
        #expect(slow.values.map(\.complementaryToneId) == (0...1024).map { "\($0)" })
    }
}
