import Foundation
import HomeFakes
import HomeTypes
import Signalling
import Testing
import Transport

@testable import HomeHub

/// Commands with an idempotency key or a deadline, on a clock that the test moves.
@Suite struct RepeatedCommandTests {
    let liveView = FakeLiveView()
    let clock = Locked(Instant.zero)

    func makeHub() -> HomeHub {
        let clock = self.clock
        return HomeHub(
            devices: [
                .init(id: "door", name: "Front door", kind: .doorbell),
                .init(id: "yard", name: "Yard", kind: .doorbell),
            ],
            drivers: [FakeCamera("door"), FakeCamera("yard")], signalling: liveView.services,
            clock: { clock.withLock { $0 } })
    }

    func advance(by duration: Duration) { clock.withLock { $0 += duration } }

    /// Starts a live view, and returns the result.
    func start(
        _ hub: HomeHub, key: String? = "k", seconds: Double? = nil, principal: String = "owner",
        device: String = "door", offer: String = "v=0"
    ) async throws -> String {
        let caller = Caller(principal: principal, idempotencyKey: key, remainingSeconds: seconds)
        let call = CommandCall(
            deviceID: device, trait: "WebRtcLiveView", command: "startLiveView", caller: caller, received: .zero)
        let result = try await hub.send(call, body: Data(#"{"offerSdp":"\#(offer)"}"#.utf8))
        return String(decoding: result, as: UTF8.self)
    }

    func failure(_ body: () async throws -> String) async -> HomeError? {
        do { _ = try await body() } catch { return error as? HomeError }
        return nil
    }

    @Test func aRepetitionGetsTheFirstResultAndHasNoEffect() async throws {
        let hub = makeHub()
        let first = try await start(hub)
        #expect(try await start(hub) == first)
        advance(by: CommandResults.lifetime - .seconds(1))
        #expect(try await start(hub) == first)
        #expect(await liveView.requests.count == 1)
        // Without a key, with another one, and after the time of the first, it is a command of its own.
        #expect(try await start(hub, key: nil) != first)
        #expect(try await start(hub, key: "other") != first)
        advance(by: .seconds(1))
        #expect(try await start(hub) != first)
        #expect(await liveView.requests.count == 4)
    }

    @Test func aKeyIsOnlyItsPrincipalsAndItsCommands() async throws {
        let hub = makeHub()
        let first = try await start(hub)
        #expect(try await start(hub, principal: "guest") != first)
        #expect(try await start(hub, device: "yard") != first)
        let press = CommandCall(
            deviceID: "door", trait: "DoorbellPress", command: "press",
            caller: Caller(principal: "owner", idempotencyKey: "k"))
        #expect(String(decoding: try await hub.send(press, body: Data("{}".utf8)), as: UTF8.self) == "{}")
        let error = await failure { try await start(hub, offer: "v=1") }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("other parameters") == true)
        for key in ["", String(repeating: "k", count: 256)] {
            #expect(await failure { try await start(hub, key: key) }?.code == .invalidArgument)
        }
    }

    @Test func aRepetitionWaitsForTheFirstThatRuns() async throws {
        let hub = makeHub()
        await liveView.closeGate()
        let calls = [Task { try await start(hub) }]
        while await !liveView.isWaiting { await Task.yield() }
        let repetitions = (0..<3).map { _ in Task { try await start(hub) } }
        // The hub is an actor: the repetitions have had their turn after these.
        for _ in 0..<50 {
            _ = await hub.devices()
            await Task.yield()
        }
        #expect(await liveView.requests.count == 1)
        await liveView.openGate()
        var results: [String] = []
        for call in calls + repetitions { results.append(try await call.value) }
        #expect(Set(results).count == 1)
        #expect(await liveView.requests.count == 1)
    }

    @Test func aCommandIsAppliedOnceEvenIfItsCallerLeaves() async throws {
        let hub = makeHub()
        await liveView.closeGate()
        let caller = Task { try await start(hub) }
        while await !liveView.isWaiting { await Task.yield() }
        caller.cancel()
        await liveView.openGate()
        let result = try await start(hub)
        #expect(result.contains("session-1"))
        #expect(await liveView.requests.count == 1)
    }

    @Test func aCommandThatFailedIsAppliedAgain() async throws {
        let hub = makeHub()
        await liveView.setStartError(.stopped(device: "door"))
        #expect(await failure { try await start(hub) }?.code == .unavailable)
        await liveView.setStartError(nil)
        #expect(try await start(hub).contains("session-1"))
    }

    @Test func aCommandWhoseDeadlineHasPassedIsNotApplied() async throws {
        let hub = makeHub()
        advance(by: .seconds(2))
        for key in [nil, "k"] {
            let error = await failure { try await start(hub, key: key, seconds: 2) }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.message.contains("nothing was changed") == true)
        }
        #expect(await liveView.requests.isEmpty)
        let first = try await start(hub, seconds: 2.5)
        #expect(await liveView.requests.last?.deadline == .zero + .milliseconds(2_500))
        // The result of a command that was applied is there, however late the repetition.
        advance(by: .seconds(5))
        #expect(try await start(hub, seconds: 2.5) == first)
        // Whatever number a caller writes.
        for seconds in [-1, -.infinity, .nan, .infinity, 1e300] as [Double] {
            _ = await failure { try await start(hub, key: nil, seconds: seconds) }
        }
    }

    @Test func resultsAreBoundedAndAPrincipalPushesOutOnlyItsOwn() throws {
        var results = CommandResults()
        func key(_ principal: String, _ number: Int) -> CommandResults.Key {
            .init(principal: principal, deviceID: "d", trait: "t", command: "c", idempotencyKey: "\(number)")
        }
        func add(_ key: CommandResults.Key, at now: Instant = .zero) throws {
            try results.makeRoom(for: key.principal, at: now)
            results.add(key, parameters: Data(), CommandResults.Outcome { .success(Data()) })
        }
        try add(key("guest", 0))
        results.end(key("guest", 0), hasSucceeded: true, at: .zero)
        for number in 0..<(2 * CommandResults.capacity) {
            try add(key("owner", number))
            results.end(key("owner", number), hasSucceeded: true, at: .zero)
        }
        #expect(results.count == CommandResults.capacity)
        #expect(try results.outcome(of: key("guest", 0), parameters: Data(), at: .zero) != nil)
        #expect(try results.outcome(of: key("owner", 0), parameters: Data(), at: .zero) == nil)
        // With time all go.
        try results.makeRoom(for: "owner", at: .zero + CommandResults.lifetime)
        #expect(results.count == 0)
        // Commands that are running are not pushed out.
        for number in 0..<CommandResults.capacity { try add(key("owner", number)) }
        let error = #expect(throws: HomeError.self) { try add(key("guest", 1)) }
        #expect(error?.code == .resourceExhausted)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a command counts as applied after what it changed was reported, and before its result is on the disk`()
        async throws
    {
        let store = FailingStore()
        let lamp = SlowDiskLamp(
            lamp: try VirtualDevice(
                id: "lamp", name: "Lamp", types: [OnOffLightDeviceType.self], store: MemorySharedStore()),
            store: store)
        let hub = HomeHub(
            devices: [], drivers: [], signalling: liveView.services, log: ChangeLog(store))
        await hub.setDevices([lamp.lamp.description()], drivers: [lamp], of: .virtual)
        let observer = OrderedObserver()
        await hub.add(observer)
        observer.order.withLock { $0 = [] }
        let (applied, signal) = AsyncStream.makeStream(of: Void.self)
        let call = CommandCall(
            deviceID: "lamp", trait: "OnOff", command: "toggle",
            caller: Caller(principal: "owner", idempotencyKey: "k"))
        let sent = Task {
            try await hub.send(call, body: Data("{}".utf8)) {
                observer.order.withLock { $0.append("applied") }
                signal.finish()
            }
        }
        for await _ in applied {}
        #expect(observer.order.withLock { $0 } == ["lamp is on", "applied"])
        store.release()
        _ = try await sent.value
    }

    @Test func `commands of a guest that run without end keep nobody else's away, and displace no results`() throws {
        var results = CommandResults()
        func key(_ principal: String, _ number: Int) -> CommandResults.Key {
            .init(principal: principal, deviceID: "d", trait: "t", command: "c", idempotencyKey: "\(number)")
        }
        func add(_ key: CommandResults.Key) throws {
            try results.makeRoom(for: key.principal, at: .zero)
            results.add(key, parameters: Data(), CommandResults.Outcome { .success(Data()) })
        }
        try add(key("owner", 0))
        results.end(key("owner", 0), hasSucceeded: true, at: .zero)
        for number in 0..<CommandResults.shares.share { try add(key("guest", number)) }
        let error = #expect(throws: HomeError.self) { try add(key("guest", -1)) }
        #expect(error?.code == .resourceExhausted)
        try add(key("other", 0))
        // Many guests leave a reserve.
        for name in ["a", "b", "c"] {
            for number in 0..<CommandResults.shares.share { try? add(key(name, number)) }
        }
        #expect(results.count == 1 + CommandResults.capacity - CommandResults.shares.reserve)
        try add(key("owner", 1))
        #expect(try results.outcome(of: key("owner", 0), parameters: Data(), at: .zero) != nil)
    }

    // MARK: Restarts

    /// A home over files, in which each call begins another run of the gateway.
    private func restart(_ folder: TestFolder, now: Date = Date(timeIntervalSince1970: 1_000)) async throws -> HomeHub {
        let lamp = try VirtualDevice(
            id: "lamp", name: "Lamp", types: [OnOffLightDeviceType.self],
            store: try SQLiteSharedStore(path: folder.path + "/shared.sqlite"))
        let log = ChangeLog(try SQLiteLocalStore(path: folder.path + "/local.sqlite"))
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, log: log, now: { now })
        await hub.setDevices([lamp.description()], drivers: [lamp], of: .virtual)
        return hub
    }

    private func toggle(_ hub: HomeHub, key: String = "k") async throws {
        let call = CommandCall(
            deviceID: "lamp", trait: "OnOff", command: "toggle",
            caller: Caller(principal: "owner", idempotencyKey: key))
        _ = try await hub.send(call, body: Data("{}".utf8))
    }

    private func isOn(_ hub: HomeHub) async throws -> Bool? {
        try await (hub.trait("OnOff", of: "lamp") as? Matter.OnOffTrait)?.onOff
    }

    @Test func `a command takes effect once, even if the gateway is restarted before its repetition`() async throws {
        let folder = TestFolder()
        try await toggle(try await restart(folder))
        let second = try await restart(folder)
        #expect(try await isOn(second) == true)
        try await toggle(second)
        #expect(try await isOn(second) == true)
        // Another key is another command, and the first one's time is limited.
        try await toggle(second, key: "other")
        #expect(try await isOn(second) == false)
        let third = try await restart(folder, now: Date(timeIntervalSince1970: 1_601))
        try await toggle(third)
        #expect(try await isOn(third) == true)
    }

    @Test func `nobody knows what became of a command that the end of the gateway has interrupted`() async throws {
        let folder = TestFolder()
        let store = try SQLiteLocalStore(path: folder.path + "/local.sqlite")
        var kept = KeptResult(
            principal: "owner", deviceID: "lamp", endpoint: 1, trait: "OnOff", command: "toggle", idempotencyKey: "k",
            parameters: CommandResults.fingerprint(Data("{}".utf8)), result: nil,
            time: Date(timeIntervalSince1970: 990))
        try store.keep(kept)
        let hub = try await restart(folder)
        let error = await #expect(throws: HomeError.self) { try await toggle(hub) }
        #expect(error?.code == .aborted)
        #expect(try await isOn(hub) == false)
        // One that failed had no effect, and its repetition is applied.
        kept.idempotencyKey = "failed"
        try store.keep(kept)
        try store.forget(kept)
        try await toggle(try await restart(folder), key: "failed")
        #expect(try store.results(since: Date(timeIntervalSince1970: 0)).count == 2)
        #expect(try store.results(since: Date(timeIntervalSince1970: 995)).map(\.idempotencyKey) == ["failed"])
    }

    @Test func `a live view that is asked for again after a restart begins again`() {
        func key(_ trait: String, _ command: String) -> CommandResults.Key {
            .init(principal: "owner", deviceID: "d", trait: trait, command: command, idempotencyKey: "k")
        }
        #expect(!key("WebRtcLiveView", "startLiveView").actsTwice)
        #expect(!key("OnOff", "on").actsTwice && key("OnOff", "toggle").actsTwice)
        #expect(key("", "room").actsTwice)
    }
}

/// A lamp with a log whose disk no longer answers once the lamp has a command.
private struct SlowDiskLamp: DeviceBackend {
    let lamp: VirtualDevice
    let store: FailingStore

    var deviceID: String { lamp.deviceID }

    func updates() -> AsyncStream<DeviceUpdate> { lamp.updates() }

    func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
        store.hold()
        return try await lamp.execute(call, body: body)
    }
}

/// Writes down what the home reports, in its order.
private final class OrderedObserver: HomeObserver {
    let order = Locked<[String]>([])

    func watches(deviceID: String) -> Bool { true }

    func take(_ observation: HomeObservation) {
        guard case .device(let device) = observation else { return }
        let isOn = device.traits[Matter.OnOffTrait.self]?.onOff == true
        order.withLock { $0.append("\(device.id) is \(isOn ? "on" : "off")") }
    }
}
