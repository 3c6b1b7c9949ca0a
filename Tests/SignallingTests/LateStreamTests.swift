import Cameras
import HomeTypes
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// A camera may need longer for its second stream than the start of a view waits.
@Suite(.ownThread) struct LateStreamTests {
    private static let h264 = MediaCodec.h264(profileLevelID: "42e01f")

    /// A camera that has reported one of its streams, and a view of it.
    private struct Late {
        let world: ServiceWorld
        let session: SessionReference

        init(_ codec: MediaCodec = LateStreamTests.h264, of stream: CameraStream, hint: QualityHint) async throws {
            world = try await ServiceWorld(codecs: [], station: { $0.otherStreamTimeout = .milliseconds(1) })
            world.camera.awaitsTracks = true
            world.camera.reportTracks([codec]) { $0[0].stream = stream }
            let response = try await world.service.startLiveView(
                StartLiveViewRequest(
                    deviceID: "door", principal: "owner", offerSdp: try ServiceWorld.text(ChoosingTests.chromium),
                    qualityHint: hint))
            session = SessionReference(response.mediaSessionId, principal: "owner")
        }

        /// The camera reports both of its streams.
        func reportBoth(_ main: MediaCodec = LateStreamTests.h264, _ sub: MediaCodec = LateStreamTests.h264) {
            world.camera.awaitsTracks = false
            world.camera.reportTracks([main, sub]) { $0[1].stream = .sub }
        }

        var stream: LiveViewSnapshot.Stream? {
            get async { await world.service.session(session.mediaSessionId)?.stream }
        }
    }

    @Test func aViewerThatAskedForASmallPictureGetsTheSmallerStreamAsSoonAsItIsKnown() async throws {
        let late = try await Late(of: .main, hint: .sd)
        #expect(await late.stream == LiveViewSnapshot.Stream(name: .main, reason: .only))
        late.reportBoth()
        #expect(await eventually { await late.stream == LiveViewSnapshot.Stream(name: .sub, reason: .hint) })
        #expect(await late.world.viewerCount() == 1)
    }

    @Test func aViewerGetsTheMainStreamAsSoonAsItIsKnown() async throws {
        let late = try await Late(of: .sub, hint: .unspecified)
        #expect(await late.stream == LiveViewSnapshot.Stream(name: .sub, reason: .only))
        late.reportBoth()
        #expect(await eventually { await late.stream == LiveViewSnapshot.Stream(name: .main, reason: .largest) })
    }

    @Test func aHintCountsForAStreamThatIsNotKnownYet() async throws {
        let late = try await Late(of: .main, hint: .unspecified)
        let answer = try await late.world.service.changeLiveViewQuality(late.session, qualityHint: .sd)
        #expect(answer == .unspecified)
        late.reportBoth()
        #expect(await eventually { await late.stream?.name == .sub })
    }

    @Test func aViewerThatHasWhatItAskedForKeepsIt() async throws {
        let late = try await Late(of: .main, hint: .unspecified)
        late.reportBoth()
        await late.world.service.takeWantedStream(late.session.mediaSessionId)
        #expect(await late.stream == LiveViewSnapshot.Stream(name: .main, reason: .largest))
    }

    /// Only the relay knows when the path carries more.
    @Test func aViewerWhosePathIsTooSlowKeepsTheSmallerStream() async throws {
        let late = try await Late(of: .main, hint: .unspecified)
        late.reportBoth()
        await late.world.service.viewerChanged(late.session.mediaSessionId, .streamWanted(.smaller))
        await late.world.service.takeWantedStream(late.session.mediaSessionId)
        #expect(await late.stream == LiveViewSnapshot.Stream(name: .sub, reason: .path))
    }

    /// The answer names one codec, and only a new one could name another.
    @Test func aStreamOfAnotherCodecIsNotTaken() async throws {
        let late = try await Late(of: .main, hint: .sd)
        late.reportBoth(Self.h264, .vp8)
        await late.world.service.takeWantedStream(late.session.mediaSessionId)
        #expect(await late.stream == LiveViewSnapshot.Stream(name: .main, reason: .only))
    }

    /// The gateway could make VP8 of the main stream here.
    @Test func nothingIsTranscodedForAViewerThatCanGetAStreamOfTheCamera() async throws {
        let world = try await ServiceWorld(codecs: [], station: { $0.transcodesVideo = .automatic })
        world.camera.reportTracks([.h265, .vp8]) { $0[1].stream = .sub }
        let session = try await world.start(try ServiceWorld.text(ChoosingTests.chromium)).mediaSessionId
        await world.service.takeWantedStream(session)
        #expect(await world.service.session(session)?.stream?.name == .sub)
        #expect(world.station.derived.allSatisfy { $0.status.users == 0 })
    }

    @Test func aSessionSaysWhatIsTranscodedForTheStreamThatItHasNow() async throws {
        let world = try await ServiceWorld(
            codecs: [],
            station: {
                $0.otherStreamTimeout = .milliseconds(1)
                $0.transcodesVideo = .automatic
            })
        world.camera.awaitsTracks = true
        world.camera.reportTracks([.h265])
        let id = try await world.start(try ServiceWorld.text(ChoosingTests.chromium)).mediaSessionId
        let note = SessionNote.transcoded(.video, from: "H265", hasBFrames: false, to: "VP8").description
        #expect(await world.service.session(id)?.notes.contains(note) == true)
        world.camera.awaitsTracks = false
        world.camera.reportTracks([.h265, .vp8]) { $0[1].stream = .sub }
        let session = SessionReference(id, principal: "owner")
        _ = try await world.service.changeLiveViewQuality(session, qualityHint: .sd)
        let moved = try #require(await world.service.session(id))
        #expect(moved.stream?.name == .sub && !moved.notes.contains(note))
    }

    @Test func aViewThatEndsLeavesNoObserverBehind() async throws {
        let world = try await ServiceWorld()
        let before = world.station.observerCount
        let session = try await world.start().mediaSessionId
        #expect(world.station.observerCount > before)
        try await world.service.stopLiveView(SessionReference(session, principal: "owner"))
        #expect(world.station.observerCount == before)
    }
}

extension CameraStation {
    fileprivate var observerCount: Int { state.withLock { $0.observers.count } }
}
