import Dispatch
import GatewayClient
import HomeTypes
import OpenCombine
import Testing
import Transport

@testable import HomeSDK

/// Lost gateways, slow subscribers, and subscribers that come and go.
@Suite(.timeLimit(.minutes(10))) struct ConnectionTests {
    @Test func `a lost gateway fails every stream with unavailable`() async {
        let script = ScriptedHome()
        let devices = Recorder(script.home.devices().batched())
        let rooms = Recorder(script.home.rooms().stream())
        script.state([Sample.structure(), Sample.room("r1", name: "Hall")])
        await devices.wait(for: 1)
        script.lose()
        await devices.waitForEnd()
        await rooms.waitForEnd()
        #expect(devices.failure?.code == .unavailable)
        #expect(rooms.failure?.code == .unavailable)
    }

    @Test func `a new subscription reconnects, and begins with the home as it is then`() async {
        let script = ScriptedHome()
        let first = Recorder(script.home.structures().batched())
        script.state([Sample.structure()])
        await first.wait(for: 1)
        script.change(Sample.structure(name: "House"))
        await first.wait(for: 2)
        script.lose()
        await first.waitForEnd()
        let second = Recorder(script.home.structures().batched())
        // The home was renamed during the outage.
        script.connected()
        script.state([Sample.structure(name: "Hut")])
        #expect(await second.wait(for: 1).map { $0.map(\.name) } == [["Hut"]])
        script.change(Sample.structure(name: "Villa"))
        #expect(await second.wait(for: 2).last?.map(\.name) == ["Villa"])
        #expect(script.cursors.withLock { $0 } == [nil, nil])
    }

    @Test func `what a device has is known during a cut too`() async throws {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.devices().batched())
        script.state([Sample.structure(), Sample.device([Sample.rootNode, Sample.light(on: true)])])
        let device = try #require(await recorder.wait(for: 1).first?.first)
        #expect(device.traits.contains(Matter.OnOffTrait.self) && !device.traits.contains(Matter.DoorLockTrait.self))
        // The stream is cut before the structure's name is known to have changed.
        script.change(Sample.structure(name: "House"))
        script.lose()
        await recorder.waitForEnd()
        #expect(device.traits.contains(Matter.OnOffTrait.self) && !device.traits.contains(Matter.DoorLockTrait.self))
    }

    @Test func `a short cut is not noticed, and nothing comes twice`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.structures().batched())
        script.state([Sample.structure()])
        await recorder.wait(for: 1)
        script.interrupted()
        script.connected()
        script.change(Sample.structure(name: "House"))
        await recorder.wait(for: 2)
        script.interrupted()
        script.connected()
        script.change(Sample.structure(name: "Villa"))
        let names = await recorder.wait(for: 3).map { $0.map(\.name) }
        #expect(names == [["Home"], ["House"], ["Villa"]])
        #expect(recorder.failure == nil)
    }

    @Test func `a state after a cut emits what it changes, and removes what it lacks`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.rooms().batched())
        script.state([Sample.structure(), Sample.room("r1", name: "Hall"), Sample.room("r2", name: "Bath")])
        await recorder.wait(for: 1)
        script.state([Sample.structure(), Sample.room("r1", name: "Hall"), Sample.room("r2", name: "Bath")])
        script.state([Sample.structure(), Sample.room("r2", name: "Bath")])
        #expect(await recorder.wait(for: 2).map { $0.map(\.name).sorted() } == [["Bath", "Hall"], ["Bath"]])
    }

    @Test func `a subscription that begins during a cut waits for its end`() async {
        let script = ScriptedHome()
        let early = Recorder(script.home.structures().batched())
        script.state([Sample.structure()])
        await early.wait(for: 1)
        script.interrupted()
        for _ in 0..<1_000_000 {
            if script.model.current == nil { break }
            await Task.yield()
        }
        #expect(script.model.current == nil)
        let late = Recorder(script.home.structures().batched())
        // A subscription that did not wait would get the old home now.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(late.values.isEmpty)
        script.connected()
        #expect(await late.wait(for: 1).map { $0.map(\.name) } == [["Home"]])
    }

    @Test func `a disconnected home ends its streams and refuses new ones`() async {
        let script = ScriptedHome()
        let before = Recorder(script.home.devices().batched())
        script.state([Sample.structure()])
        await before.wait(for: 1)
        await script.home.disconnect()
        await before.waitForEnd()
        #expect(before.failure?.code == .cancelled)
        let after = Recorder(script.home.devices().batched())
        await after.waitForEnd()
        #expect(after.failure?.code == .cancelled)
        await #expect(throws: HomeError.self) { try await script.home.devices().list() }
    }

    @Test func `a list in a task that is cancelled is not an empty home`() async {
        let script = ScriptedHome()
        let listing = Task { try await script.home.devices().list() }
        listing.cancel()
        let error = await #expect(throws: HomeError.self) { try await listing.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a subscriber that blocks holds up nobody else`() async {
        let script = ScriptedHome()
        let gate = DispatchSemaphore(value: 0)
        let begun = AsyncStream.makeStream(of: Void.self)
        let blocked = Recorder(
            script.home.structures().batched().handleEvents(receiveOutput: { _ in
                begun.continuation.yield()
                gate.wait()
            }))
        let free = Recorder(script.home.structures().batched())
        script.state([Sample.structure()])
        await free.wait(for: 1)
        for await _ in begun.stream { break }
        for index in 1...50 {
            script.change(Sample.structure(name: "Home \(index)"))
            await free.wait(for: index + 1)
        }
        #expect(free.values.count == 51)
        #expect(blocked.values.isEmpty)
        gate.signal()
        gate.signal()
        // It gets the state that it had begun with, and then the newest.
        #expect(await blocked.wait(for: 2).last?.map(\.name) == ["Home 50"])
        gate.signal()
    }

    @Test func `a subscriber that asks late gets the newest state, and only that`() async {
        let script = ScriptedHome()
        let slow = Recorder(script.home.structures().batched(), demand: .max(1))
        let fast = Recorder(script.home.structures().batched())
        script.state([Sample.structure()])
        await slow.wait(for: 1)
        // One that has not yet read the first state would read the next in its place.
        await fast.wait(for: 1)
        for index in 1...20 {
            script.change(Sample.structure(name: "Home \(index)"))
            await fast.wait(for: index + 1)
        }
        slow.request(.max(1))
        #expect(await slow.wait(for: 2).map { $0.map(\.name) } == [["Home"], ["Home 20"]])
    }

    @Test func `values can be read as an asynchronous sequence, and a loss is thrown`() async throws {
        let script = ScriptedHome()
        script.state([Sample.structure()])
        var names: [String] = []
        do {
            for try await structures in script.home.structures().batched().values {
                names += structures.map(\.name)
                if names.count == 1 { script.change(Sample.structure(name: "House")) } else { script.lose() }
            }
            Issue.record("the sequence ended without an error")
        } catch let error as HomeError {
            #expect(error.code == .unavailable)
        }
        #expect(names == ["Home", "House"])
    }

    @Test func `a cancelled subscription gets nothing more`() async {
        let script = ScriptedHome()
        let cancelled = Recorder(script.home.structures().batched())
        let other = Recorder(script.home.structures().batched())
        script.state([Sample.structure()])
        await cancelled.wait(for: 1)
        // A subscriber that has not read the first state yet would get only the newest.
        await other.wait(for: 1)
        cancelled.cancel()
        script.change(Sample.structure(name: "House"))
        await other.wait(for: 2)
        #expect(cancelled.values.count == 1)
    }

    @Test func `an event that cannot be read fails the streams with what was wrong`() async {
        let script = ScriptedHome()
        let recorder = Recorder(script.home.devices().batched())
        script.state([Sample.structure()])
        await recorder.wait(for: 1)
        script.change(("device", #"{"id":7}"#))
        await recorder.waitForEnd()
        #expect(recorder.failure?.message.contains("device") == true)
    }
}
