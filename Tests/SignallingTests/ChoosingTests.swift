import Cameras
import HomeTypes
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

@Suite(.ownThread) struct ChoosingTests {
    static let chromium = "offers/chromium-recvonly-av.offer.sdp"

    /// An offer without the lines that name `codec`, as of a viewer that does not know it.
    static func offer(without codec: String) throws -> String {
        try ServiceWorld.text(chromium).replacing(codec, with: "X-UNKNOWN")
    }

    @Test func soundThatNoBrowserPlaysIsTranscodedToOpus() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let response = try await world.start(try ServiceWorld.text(Self.chromium))
        let session = try #require(await world.service.sessions().first)
        #expect(session.codecs.map { $0.lowercased() }.sorted() == ["opus", "vp8"])
        let note = SessionNote.transcoded(.audio, from: "L16", hasBFrames: false, to: "opus")
        #expect(response.notes.contains(note) && session.notes.contains(note.description))
    }

    @Test func whatTheViewerPlaysIsPassedThrough() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear, .pcma])
        _ = try await world.start(try ServiceWorld.text(Self.chromium))
        #expect(await world.service.sessions().first?.codecs.sorted() == ["PCMA", "VP8"])
        #expect(world.station.derived.allSatisfy { !$0.status.isRunning })
    }

    @Test func opusIsPreferredWhereverTheCameraNamesIt() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear, .pcma, .opus])
        _ = try await world.start(try ServiceWorld.text(Self.chromium))
        #expect(await world.service.sessions().first?.codecs.contains("opus") == true)
    }

    @Test func aSubstreamIsUsedIfTheMainStreamCannotBePlayed() async throws {
        let world = try await ServiceWorld(codecs: [])
        world.camera.reportTracks([.h265, .h264(profileLevelID: "42e01f")]) { $0[1].stream = .sub }
        _ = try await world.start(try ServiceWorld.text(Self.chromium))
        #expect(await world.service.sessions().first?.codecs == ["H264"])
    }

    @Test func aViewerThatPlaysH265GetsTheMainStream() async throws {
        let world = try await ServiceWorld(codecs: [])
        world.camera.reportTracks([.h265, .h264(profileLevelID: "42e01f")]) { $0[1].stream = .sub }
        let offer = try ServiceWorld.text(Self.chromium).replacing("VP9/90000", with: "H265/90000")
            .replacing("profile-id=0", with: "profile-id=1")
        _ = try await world.start(offer)
        #expect(await world.service.sessions().first?.codecs == ["H265"])
    }

    @Test func aViewerThatAsksForASmallPictureGetsTheSubstream() async throws {
        let world = try await ServiceWorld(codecs: [])
        world.camera.reportTracks([.vp8, .h264(profileLevelID: "42e01f")]) { $0[1].stream = .sub }
        for (hint, codec) in [(QualityHint.sd, "H264"), (.fhd, "VP8"), (.unspecified, "VP8")] {
            let response = try await world.service.startLiveView(
                StartLiveViewRequest(
                    deviceID: "door", principal: "owner", offerSdp: try ServiceWorld.text(Self.chromium),
                    qualityHint: hint))
            #expect(await world.service.sessions().first?.codecs == [codec])
            try await world.service.stopLiveView(SessionReference(response.mediaSessionId, principal: "owner"))
        }
    }

    @Test func bFramesAreNeverPassedToABrowser() async throws {
        let world = try await ServiceWorld(codecs: [])
        world.camera.reportTracks([.h264(profileLevelID: "4d001f"), .opus]) { $0[0].reordersPictures = true }
        let error = await failure { _ = try await world.start(try ServiceWorld.text(Self.chromium)) }
        guard case .refusedOffer(let refusal) = error, case .noPlayableVideo(let mismatch) = refusal.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(mismatch.sent.map(\.reordersPictures) == [true])
        #expect(mismatch.remedies == [.allowTranscoding, .addSubstream, .changeCodec])
        #expect(await world.service.sessions().isEmpty)
    }

    @Test func bFramesAreTranscodedToVP8IfTheConfigSaysSo() async throws {
        let world = try await ServiceWorld(codecs: [], station: { $0.transcodesVideo = .always })
        world.camera.reportTracks([.h264(profileLevelID: "4d001f"), .opus]) { $0[0].reordersPictures = true }
        let response = try await world.start(try ServiceWorld.text(Self.chromium))
        let session = try #require(await world.service.sessions().first)
        #expect(session.codecs == ["VP8", "opus"] || session.codecs == ["opus", "VP8"])
        let note = SessionNote.transcoded(.video, from: "H264", hasBFrames: true, to: "VP8")
        #expect(response.notes.contains(note) && session.notes.contains(note.description))
    }

    /// The default of the config: nothing is made where a stream of the camera's fits.
    @Test func autoTranscodesOnlyIfNoStreamCanBePlayed() async throws {
        let world = try await ServiceWorld(codecs: [], station: { $0.transcodesVideo = .automatic })
        world.camera.reportTracks([.h265, .h264(profileLevelID: "42e01f")]) { $0[1].stream = .sub }
        _ = try await world.start(try ServiceWorld.text(Self.chromium))
        #expect(await world.service.sessions().first?.codecs == ["H264"])
        #expect(world.station.derived.allSatisfy { $0.status.users == 0 })
        world.camera.reportTracks([.h265])
        _ = try await world.start(try ServiceWorld.text(Self.chromium), principal: "guest")
        #expect(await world.service.sessions().contains { $0.codecs == ["VP8"] })
    }

    @Test func aViewIsRefusedWithoutEnoughProcessorTime() async throws {
        let budget = TranscodingBudget(capacity: 0.3)
        let world = try await ServiceWorld(
            codecs: [.h265],
            station: {
                $0.transcodesVideo = .automatic
                $0.transcodingBudget = budget
            })
        let other = try #require(budget.admit(source: nil, isExempt: false))
        let error = await failure { _ = try await world.start(try ServiceWorld.text(Self.chromium)) }
        #expect(
            error == .station(.transcodingRefused(TranscodingRefusal(camera: "door", running: 1, cores: 0.3))))
        #expect(await world.service.sessions().isEmpty)
        #expect(world.station.derived.allSatisfy { $0.status.users == 0 })
        // With room it starts, and its end gives the room back.
        budget.release(other)
        let session = try await world.start(try ServiceWorld.text(Self.chromium))
        #expect(budget.report.running == 1)
        try await world.service.stopLiveView(SessionReference(session.mediaSessionId, principal: "owner"))
        #expect(budget.report.running == 0 && budget.report.refused == 1)
    }

    @Test func bFramesThatShowLaterEndTheSessionsThatWouldStutter() async throws {
        let world = try await ServiceWorld(codecs: [.h264(profileLevelID: "4d001f"), .opus])
        _ = try await world.start(try ServiceWorld.text(Self.chromium))
        world.camera.reportTracks([.h264(profileLevelID: "4d001f"), .opus]) { $0[0].reordersPictures = true }
        await world.announcements.waitForEnd()
        #expect(world.announcements.ends == [.relay(.viewer(.bFrames))])
    }

    @Test func qualityMovesAViewerBetweenTheStreams() async throws {
        let world = try await ServiceWorld(codecs: [])
        let h264 = MediaCodec.h264(profileLevelID: "42e01f")
        world.camera.reportTracks([h264, h264, .opus]) { $0[1].stream = .sub }
        let session = try await world.start(try ServiceWorld.text(Self.chromium))
        func change(_ hint: QualityHint) async throws -> QualityHint {
            try await world.service.changeLiveViewQuality(
                SessionReference(session.mediaSessionId, principal: "owner"), qualityHint: hint)
        }
        #expect(try await change(.sd) == .sd)
        #expect(await world.service.sessions().first?.codecs.contains("H264") == true)
        #expect(try await change(.sd) == .sd)
        #expect(try await change(.fhd) == .fhd)
        #expect(await world.viewerCount() == 1)
    }

    /// The viewer's path chooses below what the viewer has asked for.
    @Test func thePathMovesAViewerBetweenTheStreams() async throws {
        let world = try await ServiceWorld(codecs: [])
        let h264 = MediaCodec.h264(profileLevelID: "42e01f")
        world.camera.reportTracks([h264, h264, .opus]) { $0[1].stream = .sub }
        let session = try await world.start(try ServiceWorld.text(Self.chromium))
        func stream() async -> LiveViewSnapshot.Stream? { await world.service.sessions().first?.stream }
        func change(_ hint: QualityHint) async throws -> QualityHint {
            try await world.service.changeLiveViewQuality(
                SessionReference(session.mediaSessionId, principal: "owner"), qualityHint: hint)
        }
        func wish(_ wish: StreamWish) async {
            await world.service.viewerChanged(session.mediaSessionId, .streamWanted(wish))
        }
        #expect(await stream() == LiveViewSnapshot.Stream(name: .main, reason: .largest))
        await wish(.larger)
        #expect(await stream()?.name == .main)
        await wish(.smaller)
        #expect(await stream() == LiveViewSnapshot.Stream(name: .sub, reason: .path))
        await wish(.smaller)
        #expect(await stream()?.name == .sub, "there is no smaller one")
        // The path does not carry what the viewer asks for now. It gets that when the path does.
        #expect(try await change(.fhd) == .sd)
        #expect(await stream() == LiveViewSnapshot.Stream(name: .sub, reason: .path))
        await wish(.larger)
        #expect(await stream() == LiveViewSnapshot.Stream(name: .main, reason: .largest))
        await wish(.smaller)
        #expect(try await change(.sd) == .sd)
        #expect(await stream() == LiveViewSnapshot.Stream(name: .sub, reason: .hint), "what was asked for is had")
        #expect(try await change(.hd) == .hd)
        // A viewer that has asked for a small picture keeps it.
        #expect(try await change(.sd) == .sd)
        #expect(await stream() == LiveViewSnapshot.Stream(name: .sub, reason: .hint))
        await wish(.larger)
        #expect(await stream()?.name == .sub)
        #expect(try await change(.unspecified) == .hd)
        #expect(await stream()?.name == .main)
        await world.service.viewerChanged("nobody", .streamWanted(.smaller))
    }

    @Test func aCameraWithoutASuitableStreamHasNoOtherForANarrowPath() async throws {
        let world = try await ServiceWorld(codecs: [])
        world.camera.reportTracks([.h264(profileLevelID: "42e01f"), .vp8]) { $0[1].stream = .sub }
        let session = try await world.start(try ServiceWorld.text(Self.chromium))
        await world.service.viewerChanged(session.mediaSessionId, .streamWanted(.smaller))
        let snapshot = try #require(await world.service.sessions().first)
        #expect(snapshot.stream == LiveViewSnapshot.Stream(name: .main, reason: .only))
        #expect(snapshot.statistics.estimatedBitrate == 0 && !snapshot.statistics.isLimited)
    }

    @Test func aMismatchNamesBothSidesAndWhatWouldHelp() async throws {
        let world = try await ServiceWorld(codecs: [.h265, .opus])
        let error = await failure { _ = try await world.start(try ServiceWorld.text(Self.chromium)) }
        #expect(error?.kind == .codecMismatch)
        let message = error?.words ?? ""
        for part in ["H265", "VP8", "H264", "set transcodeVideo: auto for door", "substream in H.264"] {
            #expect(message.contains(part), "\(part) in \(message)")
        }
    }

    @Test func soundThatCannotBeTranscodedDoesNotStopThePicture() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, MediaCodec(name: "G723", clockRate: 8_000)])
        let response = try await world.start(try ServiceWorld.text(Self.chromium))
        let session = try #require(await world.service.sessions().first)
        #expect(session.codecs == ["VP8"])
        let found = response.notes.first { note in
            if case .camera(.untranscodable(codec: "G723", _)) = note { true } else { false }
        }
        let note = try #require(found)
        #expect(session.notes.contains(note.description))
        let answer = try SessionDescription(parsing: response.answerSdp)
        let audio = try #require(answer.media.first { $0.kind == .audio })
        #expect(answer.direction(of: audio) == .inactive && !audio.isRejected)
    }

    @Test func aViewerWithoutG711GetsOpus() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .pcmu])
        _ = try await world.start(try Self.offer(without: "PCMU"))
        #expect(await world.service.sessions().first?.codecs.contains("opus") == true)
    }
}

extension CameraStation {
    /// What the gateway makes.
    var derived: [DerivedTrack] { state.withLock { Array($0.derived.values) } }
}
