import HTTPTypes
import HomeFakes
import Signalling
import StationFakes
import Testing
import Transport

@testable import Gateway

/// Whose leases the gateway extends, in virtual time.
@Suite struct WHEPLeaseTests {
    /// A gateway, and the keeper of its players' leases.
    private actor World {
        nonisolated let gateway: TestGateway
        nonisolated let keeper: WHEPLeaseKeeper
        /// How often the keeper has looked at the leases.
        private(set) var looks = 0
        private var now: Double = 0
        /// When it wants to look again.
        private var next: Double = 0
        private var seen: UInt64 = 0

        init() throws {
            let gateway = try TestGateway()
            self.gateway = gateway
            keeper = WHEPLeaseKeeper(
                sessions: gateway.api.whepSessions, cameraStreams: gateway.api.cameraStreams, hub: gateway.hub,
                tokens: gateway.api.tokens)
        }

        var alive: [String] {
            get async { await gateway.liveView.list.map(\.mediaSessionId) }
        }

        /// Begins the view of a player.
        func begin(
            of principal: String = "owner", isConnected: Bool = true, secondsLeft: Double = 300
        ) async throws -> String {
            let started = try await gateway.liveView.startLiveView(
                StartLiveViewRequest(deviceID: "door", principal: principal, offerSdp: "v=0\r\n"))
            let id = started.mediaSessionId
            if isConnected { await connect(id) }
            await gateway.liveView.change(id) { $0.expiresInSeconds = secondsLeft }
            await gateway.api.whepSessions.add(
                id, .init(deviceID: "door", principal: principal, entityTag: started.iceGeneration))
            return id
        }

        func connect(_ id: String) async { await gateway.liveView.change(id) { $0.state = .connected } }

        /// Lets time pass. The keeper looks when it wants to and when a view has begun, as ``WHEPLeaseKeeper/keep()``
        /// does.
        func pass(seconds: Double) async {
            let end = now + seconds
            while now < end {
                let begun = keeper.sessions.beginnings.withLock { $0 }
                if begun != seen || next <= now {
                    seen = begun
                    looks += 1
                    next = await keeper.extendLeases().map { now + $0.inSeconds } ?? .infinity
                }
                let step = min(next, end) - now
                await gateway.liveView.pass(seconds: step)
                now += step
            }
        }
    }

    @Test func `a connected player is kept for a day, and its lease is read only when it is due`() async throws {
        let world = try World()
        let id = try await world.begin()
        await world.pass(seconds: 86_400)
        #expect(await world.alive == [id])
        #expect(await world.looks == 86_400 / 270)
    }

    @Test(arguments: [269.0, 271, 294])
    func `a player that connects late is kept`(seconds: Double) async throws {
        let world = try World()
        let id = try await world.begin(isConnected: false)
        await world.pass(seconds: seconds)
        await world.connect(id)
        await world.pass(seconds: 3_600)
        #expect(await world.alive == [id])
    }

    @Test func `a player that does not connect is not kept, nor one that may not watch`() async throws {
        let world = try World()
        let absent = try await world.begin(isConnected: false)
        let stranger = try await world.begin(of: "stranger")
        await world.pass(seconds: 299)
        #expect(await world.alive == [absent, stranger])
        await world.pass(seconds: 2)
        #expect(await world.alive.isEmpty)
        #expect(await world.gateway.api.whepSessions.begun.isEmpty)
        // Both are due for 30 s. Then nothing is left to look at.
        let looks = await world.looks
        #expect(looks == 1 + 30 / 5 + 1)
        await world.pass(seconds: 86_400)
        #expect(await world.looks == looks)
    }

    @Test func `a player that begins while the others have much time left is kept`() async throws {
        let world = try World()
        let first = try await world.begin()
        _ = try await world.gateway.liveView.extendLiveView(
            SessionReference(first, of: "door", principal: "owner"), extendedDurationSeconds: 60_000)
        await world.pass(seconds: 1_000)
        #expect(await world.looks == 1)
        let second = try await world.begin()
        await world.pass(seconds: 3_600)
        #expect(await world.alive == [first, second])
    }

    @Test func `the lease of a view that an app has started is left alone`() async throws {
        let world = try World()
        let player = try await world.begin()
        let started = try await world.gateway.liveView.startLiveView(
            StartLiveViewRequest(deviceID: "door", principal: "owner", offerSdp: "v=0\r\n"))
        await world.connect(started.mediaSessionId)
        await world.pass(seconds: 301)
        #expect(await world.alive == [player])
    }

    @Test func `a player that begins ends the keeper's wait`() async throws {
        let world = try World()
        let (keeper, liveView) = (world.keeper, world.gateway.liveView)
        let beginnings = world.gateway.api.whepSessions.beginnings
        let keeping = Task { await keeper.keep() }
        #expect(await eventually { beginnings.waitCount == 1 })
        _ = try await world.begin(secondsLeft: 10)
        #expect(await eventually { await liveView.list.map(\.expiresInSeconds) == [300] })
        #expect(await eventually { beginnings.waitCount == 1 })
        keeping.cancel()
        await keeping.value
        #expect(beginnings.waitCount == 0)
    }

    @Test func `a view of the endpoint counts as a beginning`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let response = try await client.send(.post, "/whep/door", "v=0\r\n", type: "application/sdp")
            #expect(response.status == .created)
        }
        #expect(gateway.api.whepSessions.beginnings.withLock { $0 } == 1)
    }
}
