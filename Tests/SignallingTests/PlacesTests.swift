import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// Views of many principals at once, none of whose viewers ever connects.
@Suite(.ownThread) struct PlacesTests {
    private func principals(_ world: ServiceWorld) async -> [String: Int] {
        await world.service.sessions().reduce(into: [:]) { $0[$1.principal, default: 0] += 1 }
    }

    private func isRefused(_ world: ServiceWorld, _ principal: String) async -> Bool {
        guard case .limitReached = await failure({ _ = try await world.start(principal: principal) }) else {
            return false
        }
        return true
    }

    @Test func oneGuestCannotFillACameraHoweverManyStartsItMakesAtOnce() async throws {
        let world = try await ServiceWorld { $0.perCamera = 16 }
        let started = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<60 { group.addTask { (try? await world.start(principal: "guest")) != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(started == 4)
        #expect(await principals(world) == ["guest": 4])
        _ = try await world.start(principal: "other")
        _ = try await world.start()
    }

    @Test func startsThatWaitForTheCameraCount() async throws {
        let world = try await ServiceWorld(codecs: [], cameraTimeout: .seconds(3_600)) { $0.perCamera = 4 }
        async let first = world.start(principal: "guest")
        #expect(await eventually { await world.isWaiting })
        #expect(await isRefused(world, "guest"))
        world.camera.reportTracks([.vp8, .opus])
        _ = try await first
        #expect(await isRefused(world, "guest"))
        try await world.service.stopLiveView(
            SessionReference(try await first.mediaSessionId, principal: "guest"))
        // A start that fails gives its place back.
        #expect(await failure { _ = try await world.start("v=0\r\n", principal: "guest") } != nil)
        _ = try await world.start(principal: "guest")
    }

    @Test func viewsThatNeverConnectAreReplaced() async throws {
        let world = try await ServiceWorld { $0.perCamera = 4 }
        for guest in ["a", "b", "c"] { _ = try await world.start(principal: guest) }
        world.clock.advance(by: .seconds(1))
        _ = try await world.start()
        // At first they may still connect.
        #expect(await isRefused(world, "owner"))
        world.clock.advance(by: .seconds(9))
        _ = try await world.start()
        #expect(world.announcements.ends == [.gaveWay])
        #expect(await principals(world)["owner"] == 2)
    }

    @Test func onlyAPrincipalsOwnViewsFreeItsShare() async throws {
        let world = try await ServiceWorld { $0.perCamera = 16 }
        for _ in 0..<4 { _ = try await world.start(principal: "guest") }
        _ = try await world.start(principal: "other")
        _ = try await world.start()
        world.clock.advance(by: .seconds(10))
        _ = try await world.start(principal: "guest")
        #expect(await principals(world) == ["guest": 4, "other": 1, "owner": 1])
    }

    @Test func thePrincipalWithTheMostUnconnectedViewsLosesOneFirstAndTheOwnerOnlyToTheOwner() async throws {
        let world = try await ServiceWorld { $0.perCamera = 8 }
        for _ in 0..<2 { _ = try await world.start(principal: "a") }
        _ = try await world.start(principal: "b")
        for _ in 0..<5 { _ = try await world.start() }
        world.clock.advance(by: .seconds(10))
        _ = try await world.start(principal: "c")
        #expect(await principals(world) == ["a": 1, "b": 1, "c": 1, "owner": 5])
        // Of what is left, guests end guests' views and never the owner's.
        world.clock.advance(by: .seconds(10))
        for guest in ["d", "e", "f", "g"] {
            _ = try await world.start(principal: guest)
            world.clock.advance(by: .seconds(10))
        }
        #expect(await principals(world)["owner"] == 5)
        #expect(await world.service.sessions().count == 8)
    }

    @Test func aViewThatConnectedStays() async throws {
        let world = try await ServiceWorld { $0.perCamera = 2 }
        let first = try await world.start()
        _ = try await world.start(principal: "guest")
        for session in await world.service.sessions.values { session.status.record(.dtls, at: world.clock.now) }
        world.clock.advance(by: .seconds(60))
        #expect(await isRefused(world, "owner"))
        #expect(await world.service.sessions().contains { $0.mediaSessionId == first.mediaSessionId })
    }
}
