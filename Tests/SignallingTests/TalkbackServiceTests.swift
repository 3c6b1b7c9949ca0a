import Cameras
import Dispatch
import Glibc
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// Talks and clips on a clock that the test moves.
@Suite(.ownThread) struct TalkbackServiceTests {
    static func clip(seconds: Double) throws -> TalkClip {
        let samples = [Int16](repeating: 1000, count: Int(seconds * 8000))
        return try TalkClip(wav: Self.wav(samples, rate: 8000))
    }

    static func wav(_ samples: [Int16], rate: Int) -> [UInt8] {
        func little(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes = Array("RIFF".utf8) + little(36 + samples.count * 2, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(1, 2) + little(rate, 4) + little(rate * 2, 4) + little(2, 2) + little(16, 2)
        bytes += Array("data".utf8) + little(samples.count * 2, 4)
        for sample in samples { bytes += little(Int(sample), 2) }
        return bytes
    }

    @Test func `nobody talks to a camera that another gateway runs by now`() async throws {
        let (coordinator, clock) = (FakeCoordinator(), TestClock())
        let tenures = Tenures(coordinator, now: { clock.now })
        coordinator.grant(until: clock.now + .seconds(10))
        try await tenures.take("door")
        let world = try await ServiceWorld(tenures: tenures)
        let session = try await world.start()
        clock.advance(by: .seconds(11))
        let reference = SessionReference(session.mediaSessionId, principal: "owner")
        let error = await failure { try await world.talks.startTalkback(reference, offerSdp: nil) }
        #expect(error == .station(.runsElsewhere(camera: "door")))
        #expect(await failure { _ = try await world.start() } == .station(.runsElsewhere(camera: "door")))
    }

    @Test func aTalkerThatSendsNothingLosesTheFloor() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        let (service, talks) = (world.service, world.talks)
        try await talks.startTalkback(SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
        #expect(await service.sessions().first?.talkback?.state == .talking)
        world.clock.advance(by: .seconds(4))
        await talks.expire()
        #expect(await service.sessions().first?.isTalking == true)
        world.clock.advance(by: .seconds(2))
        await talks.expire()
        let snapshot = try #require(await service.sessions().first)
        #expect(!snapshot.isTalking && snapshot.talkback?.state == .ended)
        #expect(world.announcements.talkEnds == [.silent(.seconds(5))])
        #expect(snapshot.talkback?.reason == TalkEnd.silent(.seconds(5)).words)
        #expect(world.camera.fakeSpeaker?.ends == 1)
        // The floor is free for others, and for the same talker.
        try await talks.startTalkback(SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
        #expect(await service.sessions().first?.isTalking == true)
    }

    /// Each talk that began or ended moved the time of the check.
    @Test func `a talker that sends nothing loses the floor also while others begin and end`() async throws {
        // The check comes in real time.
        let world = try await ServiceWorld(talkbackPatience: .seconds(1))
        let yard = CameraStation(id: "yard", source: FakeCamera(), relay: world.relay)
        await world.signalling.add(yard)
        let session = try await world.start()
        try await world.talks.startTalkback(SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
        world.clock.advance(by: .seconds(10))
        let speaker = FakeSpeaker()
        let hasEnded = await eventually {
            _ = try? await world.talks.take("yard", talker: .clip("c"), principal: "guest", speaker: speaker)
            await world.talks.release(.clip("c"), because: .clipStopped)
            return !world.announcements.talkEnds.isEmpty
        }
        #expect(hasEnded && world.announcements.talkEnds == [.silent(.seconds(1))])
    }

    @Test func aCameraThatRefusesIsNamedAndTheFloorIsFree() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        let speaker = try #require(world.camera.fakeSpeaker)
        speaker.answerNext(.refused(.noBackChannel))
        let refused = await failure {
            try await world.talks.startTalkback(
                SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
        }
        #expect(refused == .speaker(.noBackChannel))
        let snapshot = try #require(await world.service.sessions().first)
        #expect(!snapshot.isTalking && snapshot.talkback?.state == .refused)
        speaker.answerNext(.refused(.unreachable(.connectionClosed)))
        let unreachable = await failure {
            _ = try await world.clips.playClip(Self.clip(seconds: 0.1), deviceID: "door", principal: "owner")
        }
        #expect(unreachable == .speaker(.unreachable(.connectionClosed)))
        #expect(try await world.clips.speaker(of: "door").talker == nil)
    }

    @Test func aBrokenTalkReturnsTheFloor() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        try await world.talks.startTalkback(SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
        world.camera.fakeSpeaker?.reportNow(.refused(.brokenOff(.connectionClosed)))
        let broken = TalkEnd.refused(.brokenOff(.connectionClosed))
        #expect(await eventually { world.announcements.talkEnds == [broken] })
        #expect(await world.service.sessions().first?.isTalking == false)
    }

    /// The config gives the camera another address. The clip would be heard at the one before.
    @Test func `a clip ends when its camera is replaced, and the floor is free for a talk to the new one`() async throws
    {
        let world = try await ServiceWorld()
        let (before, after) = (FakeCamera(), FakeCamera())
        let source = ReplaceableSource(before)
        await world.signalling.add(CameraStation(id: "yard", source: source, relay: world.relay))
        _ = try await world.clips.playClip(Self.clip(seconds: 20), deviceID: "yard", principal: "owner")
        source.replace(with: after)
        #expect(await eventually { world.announcements.talkEnds == [.refused(.sourceStopped)] })
        #expect(before.fakeSpeaker?.ends == 1)
        _ = try await world.clips.playClip(Self.clip(seconds: 20), deviceID: "yard", principal: "owner")
        #expect(before.fakeSpeaker?.beginnings == 1 && after.fakeSpeaker?.beginnings == 1)
        #expect(try await world.clips.speaker(of: "yard").talker == .clip)
    }

    @Test func aClipIsATalkerOfItsOwn() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        let (talks, clips) = (world.talks, world.clips)
        let clip = try await clips.playClip(Self.clip(seconds: 20), deviceID: "door", principal: "owner")
        #expect(clip.durationSeconds == 20 && clip.talkback.state == .talking)
        #expect(try await clips.speaker(of: "door").talker == .clip)
        let busy = await failure {
            try await talks.startTalkback(SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
        }
        #expect(busy == .floorTaken(device: "door", by: .clip))
        try await clips.stopClip(clip.id, deviceID: "door", principal: "owner")
        #expect(world.camera.fakeSpeaker?.ends == 1)
        #expect(world.announcements.talkEnds == [.clipStopped])
        try await talks.startTalkback(SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
    }

    @Test func `a clip goes on with the services' clock, and is over when it has played`() async throws {
        let world = try await ServiceWorld()
        _ = try await world.clips.playClip(Self.clip(seconds: 0.1), deviceID: "door", principal: "owner")
        let speaker = try #require(world.camera.fakeSpeaker)
        // One frame of 20 ms ahead of the one that is due.
        #expect(await eventually { speaker.samples == 2 * 960 })
        // In the time that the whole clip takes, the clock has not moved.
        await world.clips.waitForClip(of: "door", atMost: .milliseconds(200))
        #expect(speaker.samples == 2 * 960)
        world.clock.advance(by: .milliseconds(20))
        #expect(await eventually { speaker.samples == 3 * 960 })
        #expect(world.announcements.talkEnds.isEmpty)
        world.clock.advance(by: .milliseconds(80))
        #expect(await eventually { world.announcements.talkEnds == [.clipPlayed] })
        #expect(speaker.samples == 5 * 960 && speaker.ends == 1)
    }

    @Test func `a wait for a clip is over when the clip has ended`() async throws {
        let world = try await ServiceWorld()
        let clips = world.clips
        // Nothing plays.
        await clips.waitForClip(of: "door", atMost: .seconds(3_600))
        func play() async throws -> (id: String, talk: Talk) {
            let clip = try await clips.playClip(Self.clip(seconds: 20), deviceID: "door", principal: "owner")
            return (clip.id, try #require(await world.talks.holder(of: "door")))
        }
        let first = try await play()
        let waits = (0..<2).map { _ in Task { await clips.waitForClip(of: "door", atMost: .seconds(3_600)) } }
        #expect(await eventually { first.talk.waitCount == 2 })
        waits[0].cancel()
        await waits[0].value
        #expect(await eventually { first.talk.waitCount == 1 })
        await clips.waitForClip(of: "door", atMost: .zero)
        #expect(first.talk.waitCount == 1 && !first.talk.hasEnded)
        try await clips.stopClip(first.id, deviceID: "door", principal: "owner")
        await waits[1].value
        #expect(try await clips.speaker(of: "door").clip?.talkback.state == .ended)
        // It is the last clip still, and its end has come.
        await clips.waitForClip(of: "door", atMost: .seconds(3_600))

        let second = try await play()
        let wait = Task { await clips.waitForClip(of: "door", atMost: .seconds(3_600)) }
        #expect(await eventually { second.talk.waitCount == 1 })
        await world.signalling.endAll()
        await wait.value
    }

    @Test func clipsThatCannotBePlayedAreRefused() throws {
        #expect(throws: SignallingError.self) { try TalkClip(wav: Array("no wav".utf8)) }
        #expect(throws: SignallingError.self) { try TalkClip(wav: Self.wav([], rate: 8000)) }
        #expect(throws: SignallingError.self) { try Self.clip(seconds: 31) }
        #expect(TalkClip.chime.durationSeconds > 1)
    }

    @Test func theTalkersVoiceMutesTheReturnPath() throws {
        let speaker = FakeSpeaker()
        let changes = Announced()
        let decoder = try TalkbackDecoder(
            speaker: speaker, codecs: [0: .pcmu], voiceHold: .milliseconds(200)
        ) { changes.add($0) }
        // µ-law: 0xFF is silence, 0x80 and 0x00 are the loudest samples.
        for number in 0..<100 {
            let isLoud = (30..<50).contains(number)
            let payload = (0..<160).map { index -> UInt8 in isLoud ? (index % 2 == 0 ? 0x80 : 0x00) : 0xFF }
            payload.withUnsafeBytes {
                decoder.receive(
                    $0, payloadType: 0, sequenceNumber: UInt16(number), timestamp: UInt32(number * 160),
                    at: .zero + .milliseconds(20 * number))
            }
        }
        #expect(changes.all == [true, false])
        #expect(decoder.counts.received == 100 && decoder.counts.lost == 0)
    }

    /// The relay's thread must not wait for a speaker, nor decode for one.
    @Test func aTalkIsDecodedOnItsOwnThread() throws {
        let speaker = StuckSpeaker()
        let decoder = try TalkbackDecoder(speaker: speaker, codecs: [0: .pcmu])
        var thread = TalkThread(decoder: decoder)
        let payload = [UInt8](repeating: 0xFF, count: 160)
        for number in 0..<200 as Range<UInt16> {
            payload.withUnsafeBytes {
                thread?.receive($0, payloadType: 0, sequenceNumber: number, timestamp: 0, at: .zero)
            }
            // The first packet is with the speaker before the others come.
            if number == 0 { speaker.entered.wait() }
        }
        for _ in 0..<33 { speaker.mayLeave.signal() }
        for _ in 0..<32 { speaker.entered.wait() }
        #expect(speaker.threads.withLock { $0.contains(UInt(pthread_self())) } == false)
        #expect(speaker.threads.withLock { $0.count } == 1)
        // The last one has come back from the speaker when the decoder's counts can be read.
        #expect(decoder.counts.received == 33)
        // Without the relay the thread ends, and lets go of the speaker.
        thread = nil
    }
}

/// A speaker that plays only when it may.
private final class StuckSpeaker: CameraSpeaker {
    let entered = DispatchSemaphore(value: 0)
    let mayLeave = DispatchSemaphore(value: 0)
    let threads = Locked<Set<UInt>>([])

    var delivery: SpeakerDelivery { SpeakerDelivery() }
    func begin(_ report: @escaping @Sendable (SpeakerState) -> Void) {}
    func play(_ samples: UnsafeBufferPointer<Int16>) {
        _ = threads.withLock { $0.insert(UInt(pthread_self())) }
        entered.signal()
        mayLeave.wait()
    }
    func end() {}
}

/// What a handler received, in order.
final class Announced: Sendable {
    private let values = Locked<[Bool]>([])
    var all: [Bool] { values.withLock { $0 } }
    func add(_ value: Bool) { values.withLock { $0.append(value) } }
}
