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
        #expect(camera.notes.count == 1)
    }

    @Test func theProfileComesFromTheParameterSetsWhereItIsNotSaid() throws {
        let camera = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=fmtp:96 sprop-parameter-sets=Z2QAKAE=,aAME")
        #expect(camera.tracks[0].description.codec.formatParameters["profile-level-id"] == "640028")
        #expect(camera.tracks[0].controlURI == "rtsp://cam/live/")
    }

    @Test func parametersUnderTheAudioAreFound() throws {
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
        #expect(camera.tracks.map(\.description.codec.name) == ["VP8", "opus"])
        #expect(camera.tracks[1].description.codec.channels == 2)
        #expect(camera.tracks.map(\.controlURI) == ["rtsp://cam/live/c", "rtsp://cam/live/b"])
        #expect(camera.notes.contains { $0.contains("MPEG4-GENERIC") })
    }

    @Test func backChannelsAreLeftOutUnlessEverythingIsMarkedSo() throws {
        let withBackChannel = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=recvonly", "m=audio 0 RTP/AVP 8", "a=sendonly")
        #expect(withBackChannel.tracks.count == 1)
        let allMarked = try read(
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=sendonly", "m=audio 0 RTP/AVP 8", "a=sendonly")
        #expect(allMarked.tracks.count == 2)
    }

    @Test func nothingPlayableIsExplained() throws {
        let camera = try read("m=video 0 RTP/AVP 96", "a=rtpmap:96 H265/90000")
        #expect(camera.tracks.isEmpty)
        #expect(camera.notes == ["video (m-line 1) has no supported codec (H265)"])
    }
}
