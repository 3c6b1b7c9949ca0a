import Cameras
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// Everybody who asks for a talk while the camera's speaker opens learns the outcome, in every order.
@Suite(.ownThread) struct TalkbackOpeningTests {
    /// A session whose talk is being opened by somebody who waits.
    private func opening(
        _ world: ServiceWorld, _ session: String, principal: String = "owner"
    ) async throws -> Task<SignallingError?, Never> {
        let speaker = try #require(world.camera.fakeSpeaker)
        speaker.answerNext(.opening)
        let before = speaker.beginnings
        let asked = await ask(world, session, principal: principal)
        #expect(await eventually { speaker.beginnings == before + 1 })
        return asked
    }

    /// Asks for a talk. The floor has the request, in its turn, when this returns.
    private func ask(
        _ world: ServiceWorld, _ session: String, principal: String = "owner"
    ) async -> Task<SignallingError?, Never> {
        await Self.ask(world.talks, SessionReference(session, principal: principal))
    }

    private static func ask(
        _ floor: isolated TalkFloor, _ session: SessionReference
    ) -> Task<SignallingError?, Never> {
        // A task of an actor waits in the actor's queue from its creation on (SE-0431).
        Task { () -> SignallingError? in
            do throws(SignallingError) {
                try await floor.startTalkback(session, offerSdp: nil)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Whether `task` still waits, after everything else that was asked of the service has been done.
    private func waits(_ world: ServiceWorld, _ task: Task<SignallingError?, Never>) async -> Bool {
        let isDone = Locked(false)
        let watcher = Task {
            _ = await task.value
            isDone.withLock { $0 = true }
        }
        // The service is an actor: what was asked before these has had its turn.
        for _ in 0..<50 {
            _ = await world.service.sessions()
            await Task.yield()
        }
        watcher.cancel()
        return !isDone.withLock { $0 }
    }

    @Test func theSameSessionAgainWaitsForTheSameOpening() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start().mediaSessionId
        let first = try await opening(world, session)
        var others: [Task<SignallingError?, Never>] = []
        for _ in 0..<3 { others.append(await ask(world, session)) }
        for other in others { #expect(await waits(world, other)) }
        #expect(await world.service.sessions().first?.talkback?.state == .opening)
        world.camera.fakeSpeaker?.reportNow(.open)
        for asked in [first] + others { #expect(await asked.value == nil) }
        #expect(await world.service.sessions().first?.isTalking == true)
        #expect(world.camera.fakeSpeaker?.beginnings == 1)
        // Once it is open, asking again answers at once.
        #expect(await ask(world, session).value == nil)
    }

    @Test func aRefusalReachesEveryWaiter() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start().mediaSessionId
        let first = try await opening(world, session)
        let second = await ask(world, session)
        #expect(await waits(world, second))
        world.camera.fakeSpeaker?.reportNow(.refused(.noBackChannel))
        for asked in [first, second] {
            #expect(await asked.value == .speaker(.noBackChannel))
        }
        #expect(await world.service.sessions().first?.talkback?.state == .refused)
        // The next one is an opening of its own.
        world.camera.fakeSpeaker?.answerNext(.open)
        #expect(await ask(world, session).value == nil)
    }

    @Test func anotherSessionLearnsThatTheSpeakerIsBusy() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start().mediaSessionId
        let other = try await world.start(principal: "guest").mediaSessionId
        let first = try await opening(world, session)
        #expect(await ask(world, other, principal: "guest").value == .floorTaken(device: "door", by: .session))
        world.camera.fakeSpeaker?.reportNow(.open)
        #expect(await first.value == nil)
    }

    @Test func aStopEndsTheWaitOfAllAndTheNextTalkIsNew() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start().mediaSessionId
        let first = try await opening(world, session)
        let second = await ask(world, session)
        #expect(await waits(world, second))
        try await world.talks.stopTalkback(SessionReference(session, principal: "owner"))
        for asked in [first, second] {
            #expect(await asked.value == .endedWhileOpening(.session))
        }
        let third = try await opening(world, session)
        world.camera.fakeSpeaker?.reportNow(.open)
        #expect(await third.value == nil)
        #expect(await world.service.sessions().first?.isTalking == true)
    }

    @Test func theEndOfTheSessionEndsTheWait() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start().mediaSessionId
        let first = try await opening(world, session)
        let second = await ask(world, session)
        #expect(await waits(world, second))
        try await world.service.stopLiveView(SessionReference(session, principal: "owner"))
        for asked in [first, second] { #expect(await asked.value != nil) }
        #expect(world.camera.fakeSpeaker?.ends == 1)
        #expect(await ask(world, session).value == .unknownSession)
    }

    @Test func stoppingAndStartingAtOnceReportsTheNewTalk() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start().mediaSessionId
        world.camera.fakeSpeaker?.answerNext(.open)
        for _ in 0..<30 {
            let start = await ask(world, session)
            let stop = Task {
                await failure {
                    try await world.talks.stopTalkback(SessionReference(session, principal: "owner"))
                }
            }
            #expect(await stop.value == nil)
            _ = await start.value
            // Whatever the order was, state and floor agree, and the next talk works.
            let isTalking = await world.service.sessions().first?.isTalking
            #expect(try await (world.clips.speaker(of: "door").talker == .session) == isTalking)
        }
        #expect(await ask(world, session).value == nil)
        #expect(await world.service.sessions().first?.isTalking == true)
    }
}

@Suite(.ownThread) struct ClipOwnershipTests {
    @Test func aClipBelongsToItsPrincipalAndTheOwnerMayEndAny() async throws {
        let world = try await ServiceWorld()
        let clips = world.clips
        func stop(_ id: String, _ principal: String) async -> SignallingError? {
            await failure { try await clips.stopClip(id, deviceID: "door", principal: principal) }
        }
        func play(_ principal: String) async throws -> String {
            try await clips.playClip(
                TalkbackServiceTests.clip(seconds: 20), deviceID: "door", principal: principal
            ).id
        }
        let first = try await play("guest")
        #expect(await stop(first, "other") == .foreignClip)
        #expect(try await clips.speaker(of: "door").talker == .clip)
        #expect(await stop(first, "guest") == nil)
        #expect(try await clips.speaker(of: "door").talker == nil)
        #expect(await stop(first, "guest") == nil)
        #expect(await stop(first, "other") == .foreignClip)
        let second = try await play("guest")
        #expect(await stop(second, PlaceShares.owner) == nil)
        #expect(try await clips.speaker(of: "door").talker == nil)
        // The one before is remembered as well, and what never was is not.
        #expect(await stop(first, "guest") == nil)
        #expect(await stop("no-such", "owner") == .unknownClip(device: "door"))
        let third = try await play("owner")
        #expect(await stop(third, "guest") == .foreignClip)
        #expect(try await clips.speaker(of: "door").talker == .clip)
    }
}
