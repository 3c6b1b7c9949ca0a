import Intake
import RTSP
import SDP
import Testing

@testable import Cameras

@Suite struct CameraDescriptionTests {
    func read(_ lines: String...) throws -> CameraDescription {
        let text = "v=0\r\no=- 1 1 IN IP4 10.0.0.1\r\ns=x\r\nt=0 0\r\n" + lines.joined(separator: "\r\n")
        return try CameraDescription(
            parsing: text, baseURI: "rtsp://cam/live/", address: try RTSPURL(parsing: "rtsp://cam/live"))
    }

    @Test func anOrdinaryCamera() throws {
        let camera = try read(
            "a=control:*", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000",
            "a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0LgHwEC,aAME; profile-level-id=42E01F",
            "a=control:trackID=1", "m=audio 0 RTP/AVP 8", "a=control:trackID=2", "m=application 0 RTP/AVP 107",
            "a=rtpmap:107 vnd.onvif.metadata/90000")
        #expect(camera.presentationURI == "rtsp://cam/live/")
        #expect(camera.tracks.map(\.controlURI) == ["rtsp://cam/live/trackID=1", "rtsp://cam/live/trackID=2"])
        #expect(camera.tracks.map(\.description.codec.name) == ["H264", "PCMA"])
        #expect(camera.tracks.map(\.description.payloadType) == [96, 8])
        #expect(camera.tracks[0].parameterSets == [[0x67, 0x42, 0xE0, 0x1F, 1, 2], [0x68, 3, 4]])
        #expect(camera.tracks[0].description.codec.formatParameters["profile-level-id"] == "42E01F")
        #expect(camera.notes == [.notPulled(.application, mediaIndex: 2, .otherKind)])
    }

    @Test func theProfileComesFromTheParameterSetsWhereItIsNotSaid() throws {
        let camera = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=fmtp:96 sprop-parameter-sets=Z2QAKAE=,aAME")
        #expect(camera.tracks[0].description.codec.formatParameters["profile-level-id"] == "640028")
        #expect(camera.tracks[0].controlURI == "rtsp://cam/live/")
    }

    @Test func parametersUnderTheAudioSectionAreFound() throws {
        let camera = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=control:v", "m=audio 0 RTP/AVP 8",
            "a=rtpmap:0 PCMA/8000",
            "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0LgHwEC,aAME", "a=control:a")
        #expect(camera.tracks[0].parameterSets.count == 2)
        #expect(camera.tracks[1].description.codec.name == "PCMA")
    }

    @Test func audioThatFitsIsChosenAmongSeveral() throws {
        let camera = try read(
            "m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/16000", "a=control:a", "m=audio 0 RTP/AVP 98",
            "a=rtpmap:98 opus/48000/1", "a=control:b", "m=video 0 RTP/AVP 96", "a=rtpmap:96 VP8/90000", "a=control:c")
        // All of them; those that viewers play directly come first.
        #expect(camera.tracks.map(\.description.codec.name) == ["VP8", "opus", "MPEG4-GENERIC"])
        #expect(camera.tracks[1].description.codec.channels == 2)
        #expect(camera.tracks.map(\.controlURI) == ["rtsp://cam/live/c", "rtsp://cam/live/b", "rtsp://cam/live/a"])
        #expect(camera.notes.isEmpty)
    }

    @Test func backChannelsAreNotPulledUnlessEverythingIsMarkedAsOne() throws {
        let withBackChannel = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=recvonly", "m=audio 0 RTP/AVP 8", "a=sendonly")
        #expect(withBackChannel.tracks.count == 1)
        let allMarked = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=sendonly", "m=audio 0 RTP/AVP 8", "a=sendonly")
        #expect(allMarked.tracks.count == 2)
    }

    /// A name that only looks like a codec's would be set up and have no track to come to.
    @Test(arguments: ["G726-64", "AAL2-G726-64", "G726-", "AAL2-G726-", "AAL2-PCMU", "G726-320"])
    func whatOnlyLooksLikeG726IsNotPulled(name: String) throws {
        let camera = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "m=audio 0 RTP/AVP 97", "a=rtpmap:97 \(name)/8000")
        #expect(camera.tracks.map(\.description.codec.name) == ["H264"])
        let codec = MediaCodec(name: name, clockRate: 8000)
        #expect(camera.notes == [.notPulled(.audio, mediaIndex: 1, .noCodec([codec]))])
    }

    @Test(arguments: ["G726-16", "g726-24", "G726-32", "G726-40", "AAL2-G726-16", "aal2-g726-40", "G721"])
    func everyRateOfG726IsPulled(name: String) throws {
        let camera = try read("m=audio 0 RTP/AVP 97", "a=rtpmap:97 \(name)/8000")
        #expect(camera.tracks.map(\.format) == [.sound])
    }

    /// UniFi's addresses ask for encrypted packets by a query item.
    @Test func encryptedMediaAreExplained() throws {
        let camera = try read(
            "m=video 0 RTP/SAVP 96", "a=rtpmap:96 H264/90000",
            "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj")
        #expect(camera.tracks.isEmpty)
        #expect(camera.notes == [.notPulled(.video, mediaIndex: 0, .encrypted)])
    }

    @Test func encryptionInsideTLSIsNotRequested() throws {
        let secure = try RTSPSource(address: "rtsps://10.0.0.1:7441/AbC?enableSrtp")
        #expect(secure.notes == [.srtpNotRequested])
        let plain = try RTSPSource(address: "rtsp://10.0.0.1:7447/AbC?enableSrtp")
        #expect(plain.notes.isEmpty)
    }

    @Test func nothingPlayableIsExplained() throws {
        let camera = try read("m=video 0 RTP/AVP 96", "a=rtpmap:96 H263-1998/90000")
        #expect(camera.tracks.isEmpty)
        let codec = MediaCodec(name: "H263-1998", clockRate: 90_000)
        #expect(camera.notes == [.notPulled(.video, mediaIndex: 0, .noCodec([codec]))])
    }

    /// The two tracks of a UniFi camera have one payload type, and Opus has parameters that say nothing.
    @Test func twoAudioTracksMayHaveOnePayloadType() throws {
        let camera = try read(
            "m=audio 0 RTP/AVP 96", "a=rtpmap:96 mpeg4-generic/16000/1",
            "a=fmtp:96 profile-level-id=1; mode=AAC-hbr; sizelength=13; indexlength=3; indexdeltalength=3; config=1408",
            "a=control:trackID=0", "m=video 0 RTP/AVP 97", "a=rtpmap:97 H264/90000", "a=control:trackID=1",
            "m=audio 0 RTP/AVP 96", "a=rtpmap:96 opus/48000/2", "a=fmtp:96", "a=control:trackID=2")
        #expect(camera.tracks.map(\.description.codec.name) == ["H264", "opus", "mpeg4-generic"])
        #expect(camera.tracks.map(\.description.payloadType) == [97, 96, 96])
        #expect(camera.tracks[2].description.codec.formatParameters["config"] == "1408")
        #expect(
            camera.tracks.map(\.controlURI)
                == ["rtsp://cam/live/trackID=1", "rtsp://cam/live/trackID=2", "rtsp://cam/live/trackID=0"])
    }

    @Test func theProfileOfH265IsReadFromSomeOfItsParameterSets() throws {
        // Of 640×360, Main profile, level 2.1: only the sequence parameter set.
        let camera = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H265/90000",
            "a=fmtp:96 sprop-sps=QgEBAWAAAAMAkAAAAwAAAwA/oAUCAXHy5bpKTC8BaAgAAAMACAAAAwB4QA==")
        #expect(camera.tracks.map(\.description.codec.name) == ["H265"])
        #expect(camera.tracks[0].parameterSets.count == 1)
        #expect(camera.tracks[0].description.codec.formatParameters["profile-id"] == "1")
        #expect(camera.tracks[0].description.codec.formatParameters["level-id"] == "63")
    }

    @Test func staticPayloadTypesAndSamplesInProcessorOrderArePulled() throws {
        let camera = try read(
            "m=video 0 RTP/AVP 26", "a=control:v", "m=audio 0 RTP/AVP 0", "a=control:a", "m=audio 0 RTP/AVP 11",
            "a=rtpmap:11 PCM/48000", "a=control:b")
        #expect(camera.tracks.map(\.description.codec.mapping) == ["JPEG/90000", "PCMU/8000", "PCM/48000"])
        #expect(camera.tracks.map(\.description.payloadType) == [26, 0, 11])
    }

    @Test func aUselessPayloadTypeIsSkippedForTheNext() throws {
        let camera = try read(
            "m=video 0 RTP/AVP 99 96", "a=rtpmap:99 X-OWN/90000", "a=rtpmap:96 H264/90000",
            "m=audio 0 RTP/AVP 98 8", "a=rtpmap:98 X-SOUND/8000")
        #expect(camera.tracks.map(\.description.payloadType) == [96, 8])
    }

    @Test func theAssignedMappingOfAStaticPayloadTypeWins() throws {
        let camera = try read("m=audio 0 RTP/AVP 0", "a=rtpmap:0 PCMA/8000", "a=rtpmap:0 PCMU/8000")
        #expect(camera.tracks.map(\.description.codec.name) == ["PCMU"])
    }

    @Test func aWrongClockIsNamed() throws {
        let camera = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/9000", "m=audio 0 RTP/AVP 97", "a=rtpmap:97 L16/1")
        #expect(camera.tracks.isEmpty)
        #expect(
            camera.notes == [
                .notPulled(.video, mediaIndex: 0, .noCodec([MediaCodec(name: "H264", clockRate: 9000)])),
                .notPulled(.audio, mediaIndex: 1, .noCodec([MediaCodec(name: "L16", clockRate: 1)])),
            ])
        #expect(
            camera.refusal == .nothingToPlay(notes: camera.notes))
        #expect(try read("a=tool:x").refusal == .nothingToPlay(notes: []))
    }

    /// A camera that marks everything as sendonly, next to a section that is not its own media.
    @Test func metadataDoesNotMakeTheSoundASpeaker() throws {
        let camera = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=sendonly", "m=audio 0 RTP/AVP 8", "a=sendonly",
            "m=application 0 RTP/AVP 107", "a=rtpmap:107 vnd.onvif.metadata/90000", "a=recvonly")
        #expect(camera.tracks.count == 2 && camera.backChannel == nil)
    }
}
