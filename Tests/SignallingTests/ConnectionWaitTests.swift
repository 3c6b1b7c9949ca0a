import DatagramPort
import MediaRelay
import StationFakes
import Testing
import Transport

@testable import Signalling

/// What needs the connection of a session waits for it, and does not ask again and again.
@Suite(.ownThread) struct ConnectionWaitTests {
    private func reference(_ id: String) -> SessionReference { SessionReference(id, of: "door", principal: "owner") }

    /// Begins to wait for a session. Returns when it is the wait number `count`.
    private func wait(for id: String, in world: ServiceWorld, count: Int = 1) async -> Task<Bool, Never> {
        let (service, session) = (world.service, reference(id))
        let task = Task { await service.waitUntilConnected(session, atMost: .seconds(30)) }
        #expect(await eventually { await service.connectionWaits.count == count })
        return task
    }

    /// Does what the relay does when a viewer has connected.
    private func connect(_ id: String, in world: ServiceWorld) async throws {
        let status = try #require(await world.service.sessions[id]?.status)
        status.record(.dtls, at: world.clock.now)
        await world.service.viewerChanged(id, .connected)
    }

    @Test func `a wait for a session that is connected already is over`() async throws {
        let world = try await ServiceWorld()
        let id = try await world.start().mediaSessionId
        try await connect(id, in: world)
        #expect(await world.service.waitUntilConnected(reference(id), atMost: .seconds(30)))
        #expect(await world.service.connectionWaits.count == 0)
    }

    @Test func `everybody who waits for a session learns that it has connected, and nobody else`() async throws {
        let world = try await ServiceWorld()
        let id = try await world.start().mediaSessionId
        let other = try await world.start().mediaSessionId
        let waits = [await wait(for: id, in: world), await wait(for: id, in: world, count: 2)]
        let otherWait = await wait(for: other, in: world, count: 3)
        try await connect(id, in: world)
        for wait in waits { #expect(await wait.value) }
        #expect(await world.service.connectionWaits.count == 1)
        try await connect(other, in: world)
        #expect(await otherWait.value)
    }

    @Test func `a viewer's own connection ends the wait for it`() async throws {
        let world = try await ServiceWorld()
        let viewer = try LoopbackViewer()
        let session = try await world.start(viewer.offer)
        let begun = await wait(for: session.mediaSessionId, in: world)
        try viewer.accept(session.answerSdp)
        world.camera.sendKeyFrame(number: 1, at: MonotonicClock.now)
        // The relay sends nothing before its side is connected.
        #expect(viewer.run { viewer.packets >= 4 })
        #expect(await begun.value)
    }

    @Test func `a session that ends before it connects ends the wait for it`() async throws {
        let ends: [@Sendable (ServiceWorld, SessionReference) async throws -> Void] = [
            { try await $0.service.stopLiveView($1) },
            { await $0.service.viewerChanged($1.mediaSessionId, .ended(.viewer(.trackGone))) },
            { world, _ in await world.signalling.remove("door") },
            { world, _ in await world.signalling.endAll() },
        ]
        for end in ends {
            let world = try await ServiceWorld()
            let id = try await world.start().mediaSessionId
            let begun = await wait(for: id, in: world)
            try await end(world, reference(id))
            #expect(await !begun.value)
            #expect(await world.service.connectionWaits.count == 0)
        }
    }

    @Test func `nobody waits for a session that is not alive, or that is another principal's`() async throws {
        let world = try await ServiceWorld()
        let id = try await world.start().mediaSessionId
        let foreign = SessionReference(id, of: "door", principal: "guest")
        #expect(await !world.service.waitUntilConnected(foreign, atMost: .seconds(30)))
        try await world.service.stopLiveView(reference(id))
        #expect(await !world.service.waitUntilConnected(reference(id), atMost: .seconds(30)))
        #expect(await !world.service.waitUntilConnected(reference("no-such"), atMost: .seconds(30)))
    }

    @Test func `a task that is cancelled does not wait`() async throws {
        let world = try await ServiceWorld()
        let id = try await world.start().mediaSessionId
        let begun = await wait(for: id, in: world)
        begun.cancel()
        #expect(await !begun.value)
        #expect(await world.service.connectionWaits.count == 0)

        let (service, session) = (world.service, reference(id))
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await service.waitUntilConnected(session, atMost: .seconds(30))
        }
        late.cancel()
        #expect(await !late.value)
        // The session has not noticed.
        try await connect(id, in: world)
        #expect(await service.waitUntilConnected(session, atMost: .seconds(30)))
    }

    @Test func `a wait is over after its time, and the session goes on`() async throws {
        let world = try await ServiceWorld()
        let id = try await world.start().mediaSessionId
        let begun = await wait(for: id, in: world)
        world.clock.advance(by: .seconds(29))
        await world.service.expire()
        #expect(await world.service.connectionWaits.count == 1)
        world.clock.advance(by: .seconds(1))
        await world.service.expire()
        #expect(await !begun.value)
        try await connect(id, in: world)
        #expect(await world.service.waitUntilConnected(reference(id), atMost: .zero))
    }
}
