import DTLS
import Foundation
import GoogleHomeSDK
import GoogleHomeTypes
import LiveViewClient
import Testing

/// The camera snippets, with a peer of our own in place of the app's.
@Suite(.serialized, .timeLimit(.minutes(10))) @MainActor struct CameraTests {
    /// A doorbell's app, and an offer as apps send it: sound in both directions, without waiting for candidates.
    private func make() async throws -> (app: CameraApp, device: HomeDevice, offer: OfferedView) {
        let device = try await SnippetWorld.make().device("front-door")
        let type = try #require(await device.types.get(GoogleDoorbellDeviceType.self))
        let app = CameraApp(
            try #require(type.googleTraits.webRtcLiveViewTrait), type.googleTraits.pushAvStreamTransportTrait)
        var wishes = OfferedView.Wishes()
        wishes.talks = true
        wishes.isLocal = true
        return (app, device, try OfferedView(wishes: wishes, identity: DTLSIdentity.generate()))
    }

    @Test func `C1 and C2: a live view starts and is extended, and one that nobody has is not found`() async throws {
        let (app, _, offer) = try await make()
        let view = try await app.sendOffer(offerSdp: offer.offerSdp)
        #expect(view.answerSdp.contains("a=candidate") && view.liveViewDuration > 35)
        try await app.extendLiveView(mediaSessionId: view.mediaSessionId)
        // An app that reconnects starts another view and does not end the one before.
        let (_, _, second) = try await make()
        let again = try await app.sendOffer(offerSdp: second.offerSdp)
        #expect(again.mediaSessionId != view.mediaSessionId)
        try await app.liveViewTrait.stopLiveView(mediaSessionId: again.mediaSessionId)
        try await app.liveViewTrait.stopLiveView(mediaSessionId: view.mediaSessionId)
        await #expect { try await app.extendLiveView(mediaSessionId: "nobody's") } throws: { error in
            (error as? HomeError)?.code == .notFound
        }
        await #expect { try await app.sendOffer(offerSdp: "") } throws: { error in
            (error as? HomeError)?.code == .invalidArgument
        }
    }

    @Test func `C3 and C4: recording is switched off and on, and the attribute follows`() async throws {
        let (app, device, _) = try await make()
        let states = AsyncStream.makeStream(of: CameraApp.State.self)
        app.onState = { states.continuation.yield($0) }
        var seen = states.stream.makeAsyncIterator()
        for isOn in [false, true] {
            app.toggleIsRecording(isOn: isOn)
            #expect(await seen.next() == .loading)
            #expect(await seen.next() == (isOn ? .live : .off))
            for try await type in device.types.subscribe(GoogleDoorbellDeviceType.self).values {
                app.pushAvStreamTransportTrait = type.googleTraits.pushAvStreamTransportTrait
                if app.isDeviceRecording() == isOn { break }
            }
            #expect(app.isDeviceRecording() == isOn)
        }
    }

    @Test func `C5: talkback of a session that nobody has fails as a command`() async throws {
        let (app, _, offer) = try await make()
        await #expect { try await app.toggleTwoWayTalk(isOn: true, mediaSessionId: "nobody's") } throws: { error in
            "\(error)".contains("Failed to toggle twoWayTalk")
        }
        let view = try await app.sendOffer(offerSdp: offer.offerSdp)
        try await app.toggleTwoWayTalk(isOn: false, mediaSessionId: view.mediaSessionId)
        try await app.liveViewTrait.stopLiveView(mediaSessionId: view.mediaSessionId)
    }

    @Test func `C5: one view at a time talks`() async throws {
        let (app, _, offer) = try await make()
        let (other, _, second) = try await make()
        let view = try await app.sendOffer(offerSdp: offer.offerSdp)
        let waiting = try await other.sendOffer(offerSdp: second.offerSdp)
        try await app.toggleTwoWayTalk(isOn: true, mediaSessionId: view.mediaSessionId)
        await #expect { try await other.toggleTwoWayTalk(isOn: true, mediaSessionId: waiting.mediaSessionId) } throws: {
            "\($0)".contains("Failed to toggle twoWayTalk")
        }
        try await app.toggleTwoWayTalk(isOn: false, mediaSessionId: view.mediaSessionId)
        try await other.toggleTwoWayTalk(isOn: true, mediaSessionId: waiting.mediaSessionId)
        for session in [view, waiting] {
            try await app.liveViewTrait.stopLiveView(mediaSessionId: session.mediaSessionId)
        }
    }

    @Test func `the recording of a camera is found and changed, and what is left out stays`() async throws {
        let (app, _, _) = try await make()
        let before = try #require(try await app.recordingConnection()?.transportOptions)
        try await app.changeRecording(sensitivity: 10, longest: nil)
        var after = try #require(try await app.recordingConnection()?.transportOptions)
        #expect(after.triggerOptions.motionSensitivity == 10)
        #expect(after.triggerOptions.motionTimeControl == before.triggerOptions.motionTimeControl)
        try await app.changeRecording(sensitivity: nil, longest: 180)
        after = try #require(try await app.recordingConnection()?.transportOptions)
        #expect(after.triggerOptions.motionTimeControl?.maxDuration == 180)
        #expect(after.triggerOptions.motionSensitivity == 10)
        #expect(after.url == before.url && after.containerOptions == before.containerOptions)
        #expect(after.triggerOptions.maxPreRollLen == before.triggerOptions.maxPreRollLen)
        let refusal = await #expect(throws: HomeError.self) {
            try await app.changeRecording(sensitivity: 11, longest: nil)
        }
        #expect(refusal?.code == .invalidArgument)
        #expect(try await app.recordingConnection()?.transportOptions == after)
    }

    @Test func `a camera's settings are read and written`() async throws {
        let (_, device, _) = try await make()
        let type = try #require(await device.types.get(GoogleDoorbellDeviceType.self))
        let settings = try #require(type.traits[Google.CameraAvStreamManagementTrait.self])
        #expect(settings.attributes.$softRecordingPrivacyModeEnabled.isSupported)
        let changed = try await settings.update { $0.setSoftRecordingPrivacyModeEnabled(true) }
        #expect(changed.softRecordingPrivacyModeEnabled == true)
        _ = try await changed.update { $0.setSoftRecordingPrivacyModeEnabled(false) }
    }
}
