import HomeTypes
import OpenCombine
import Testing

@testable import HomeSDK

@Suite(.timeLimit(.minutes(1))) struct EventTests {
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
        let events = try #require(await device.types.get(GoogleDoorbellDeviceType.self)?.events)
        let typed = Recorder(events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        let ofTrait = Recorder(device.events.subscribe(Google.DoorbellPressTrait.self).map { String(describing: $0) })
        script.change(Self.press("one"))
        script.change(Self.press("elsewhere", device: "d2"))
        script.change(Self.press("two"))
        #expect(await typed.wait(for: 2).map(\.complementaryToneId) == ["one", "two"])
        #expect(await ofTrait.wait(for: 2).count == 2)
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
        }
        slow.request(.unlimited)
        await slow.waitForEnd()
        #expect(slow.failure?.code == .resourceExhausted)
        #expect(slow.values.map(\.complementaryToneId) == (0...1024).map { "\($0)" })
    }
}
