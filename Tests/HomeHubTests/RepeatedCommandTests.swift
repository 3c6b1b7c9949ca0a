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
        await liveView.setStartError(.cameraUnavailable("it is off"))
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
            try results.makeRoom(at: now)
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
        try results.makeRoom(at: .zero + CommandResults.lifetime)
        #expect(results.count == 0)
        // Commands that are running are not pushed out.
        for number in 0..<CommandResults.capacity { try add(key("owner", number)) }
        let error = #expect(throws: HomeError.self) { try add(key("guest", 1)) }
        #expect(error?.code == .resourceExhausted)
    }
}
