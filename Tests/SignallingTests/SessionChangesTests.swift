import Cameras
import HomeTypes
import MediaRelay
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// An observer of the sessions learns of every change, and reads nothing but what has changed.
@Suite(.ownThread) struct SessionChangesTests {
    /// The sessions that have changed since the last look.
    private func changed(_ world: ServiceWorld) async -> Set<String> {
        // The relay has done what it was asked before it answers this.
        _ = await world.viewerCount()
        world.service.changedSessions.add("mark")
        return Set(await world.service.changedSessions.next() ?? []).subtracting(["mark"])
    }

    @Test func everyChangeOfASessionIsReported() async throws {
        let world = try await ServiceWorld()
        let id = try await world.start().mediaSessionId
        let other = try await world.start().mediaSessionId
        #expect(await changed(world) == [id, other])
        #expect(await changed(world) == [])
        let session = SessionReference(id, of: "door", principal: "owner")
        _ = try await world.service.extendLiveView(session, extendedDurationSeconds: nil)
        #expect(await changed(world) == [id])
        let status = try #require(await world.service.sessions[id]?.status)
        status.record(.firstCheck, at: world.clock.now)
        #expect(await changed(world) == [id])
        status.record(.firstCheck, at: world.clock.now)
        #expect(await changed(world) == [])
        for isWanted in [true, false] {
            status.record(wantsRestart: isWanted)
            #expect(await changed(world) == [id])
            #expect(await world.service.session(id)?.wantsICERestart == (isWanted ? true : nil))
        }
        try await world.talks.startTalkback(session, offerSdp: nil)
        #expect(await changed(world) == [id])
        world.camera.fakeSpeaker?.reportNow(.refused(.brokenOff(.connectionClosed)))
        #expect(await eventually { await world.service.session(id)?.isTalking == false })
        #expect(await changed(world) == [id])
        try await world.service.stopLiveView(session)
        #expect(await changed(world) == [id])
    }

    @Test func oneSessionIsTheSameAloneAndAmongAll() async throws {
        let world = try await ServiceWorld()
        let ids = [try await world.start().mediaSessionId, try await world.start(principal: "guest").mediaSessionId]
        for id in ids {
            let alone = try #require(await world.service.session(id))
            #expect(await world.service.sessions().first { $0.mediaSessionId == id } == alone)
        }
        #expect(await world.service.session("no-such") == nil)
        let leases = await world.service.leases()
        #expect(Set(leases.map(\.mediaSessionId)) == Set(ids))
        #expect(leases.allSatisfy { $0.expiresInSeconds == 300 && !$0.isConnected && $0.deviceID == "door" })
    }

    @Test func aSessionIsNotFoundUnderAnotherDevice() async throws {
        let world = try await ServiceWorld()
        let id = try await world.start().mediaSessionId
        func refused(_ device: String) async -> [SignallingError?] {
            let session = SessionReference(id, of: device, principal: "owner")
            return [
                await failure { try await world.service.requireSession(session) },
                await failure { _ = try await world.service.extendLiveView(session, extendedDurationSeconds: nil) },
                await failure { _ = try await world.service.changeLiveViewQuality(session, qualityHint: .hd) },
                await failure { _ = try await world.service.trickle("a=ice-ufrag:x\r\n", session) },
                await failure { try await world.talks.startTalkback(session, offerSdp: nil) },
                await failure { try await world.talks.stopTalkback(session) },
                await failure { try await world.service.stopLiveView(session) },
            ]
        }
        #expect(await refused("yard").allSatisfy { $0 == .unknownSession })
        #expect(await world.service.sessions().count == 1)
        try await world.service.stopLiveView(SessionReference(id, of: "door", principal: "owner"))
        // Only what ends may be repeated after the end, and only under the same device.
        #expect(await refused("yard").allSatisfy { $0 == .unknownSession })
        #expect(await refused("door").map { $0 == nil } == [false, false, false, false, false, true, true])
    }

    @Test func aStartThatIsTooLateForItsCallerLeavesNothing() async throws {
        let world = try await ServiceWorld(cameraTimeout: .seconds(3_600))
        var request = StartLiveViewRequest(
            deviceID: "door", principal: "owner",
            offerSdp: try ServiceWorld.text("offers/chromium-talkback-sendrecv-audio.offer.sdp"))
        request.deadline = world.clock.now
        let error = await failure { _ = try await world.service.startLiveView(request) }
        #expect(error == .noMediaBeforeDeadline(device: "door"))
        #expect(await world.service.leases().isEmpty)
        request.deadline = world.clock.now + .seconds(60)
        _ = try await world.service.startLiveView(request)
    }

    @Test func aSessionThatChangesOftenIsReportedOnce() async {
        let changes = ChangedSessions()
        for id in ["b", "a", "b", "a", "c"] { changes.add(id) }
        #expect(await changes.next() == ["b", "a", "c"])
        changes.add("a")
        #expect(await changes.next() == ["a"])
        let reader = Task { await changes.next() }
        changes.finish()
        #expect(await reader.value == nil)
    }
}
