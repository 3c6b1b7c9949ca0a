import ONVIF
import RTSP
import SDP
import StreamFormats
import Testing

@testable import Cameras

/// What people read about a camera besides its tracks.
@Suite struct CameraNoteTests {
    static let sentences: [(CameraNote, String)] = sessionDescriptions + connections + substreams

    private static let sessionDescriptions: [(CameraNote, String)] = [
        (.backChannel(.audio, mediaIndex: 1), "audio (m-line 2) is a back channel"),
        (.notPulled(.application, mediaIndex: 2, .otherKind), "application (m-line 3) is neither video nor audio"),
        (.notPulled(.other("vana"), mediaIndex: 0, .otherKind), "vana (m-line 1) is neither video nor audio"),
        (
            .notPulled(.video, mediaIndex: 0, .encrypted),
            "video (m-line 1) is encrypted (SRTP), which is not supported: leave \"enableSrtp\" out of the address"
        ),
        (.notPulled(.video, mediaIndex: 0, .noCodec([])), "video (m-line 1) has no supported codec (none named)"),
        (
            noCodec(.audio, [MediaCodec(name: "G726-64", clockRate: 8000), MediaCodec(name: "CN", clockRate: 8000)]),
            "audio (m-line 1) has no supported codec (G726-64, CN)"
        ),
        (
            noCodec(.video, [MediaCodec(name: "H264", clockRate: 9000)]),
            "video (m-line 1) has no supported codec (H264/9000, where video needs a clock rate of 90000)"
        ),
        (
            noCodec(.audio, [MediaCodec(name: "L16", clockRate: 1)]),
            "audio (m-line 1) has no supported codec (L16/1, where a clock rate from 4000 to 192000 is supported)"
        ),
        (
            noCodec(.audio, [MediaCodec(name: "L16", clockRate: 48_000, channels: 9)]),
            "audio (m-line 1) has no supported codec (L16/48000/9, where at most 8 channels are supported)"
        ),
        (
            .notPulled(.video, mediaIndex: 3, .surplus),
            "video (m-line 4) is left out: at most one video and two audio tracks are pulled"
        ),
        (
            .trackRefused(.audio, .refused(method: .setup, status: 461, reason: "Unsupported Transport")),
            "audio is left out: the camera refused SETUP with status 461 (Unsupported Transport)"
        ),
    ]

    private static let connections: [(CameraNote, String)] = [
        (
            .srtpNotRequested,
            "the address asks for SRTP (enableSrtp), which is left out: the connection is encrypted as a whole"
        ),
        (
            .certificateChanged(earlierFingerprint: "AA:BB"),
            "the camera's certificate has changed; the one before has the fingerprint AA:BB. If nobody changed the camera, "
                + "somebody may be intercepting the connection"
        ),
        (.stream(.playlist), "the camera sends HLS"),
        (.stream(.transportStreamOverHTTP), "the camera sends MPEG-TS over HTTP"),
        (.stream(.flashOverHTTP), "the camera sends FLV over HTTP"),
        (.stream(.rtmp), "the camera sends RTMP"),
        (.stream(.transportStreamOverTCP), "the camera sends MPEG-TS over TCP"),
        (.stream(.transportStreamOverUDP), "the camera sends MPEG-TS over UDP"),
        (.unsupportedPart(.codec(.mpeg2Video)), "MPEG-2 video is left out: it is not supported"),
        (
            .pictures(isSeries: true, width: 640, height: 480, tenthsPerSecond: nil, cutOff: 3),
            "the camera sends JPEG pictures, a series in one answer; the gateway makes H.264 of 640×480 pixels of them"
        ),
        (
            .pictures(isSeries: false, width: 64, height: 48, tenthsPerSecond: 9, cutOff: 0),
            "the camera sends JPEG pictures, one for each request; the gateway makes H.264 of 64×48 pixels of them "
                + "(0.9 pictures per second come)"
        ),
        (
            .pictures(isSeries: true, width: 64, height: 48, tenthsPerSecond: 152, cutOff: 2),
            "the camera sends JPEG pictures, a series in one answer; the gateway makes H.264 of 64×48 pixels of them "
                + "(15.2 pictures per second come, 2 were cut off)"
        ),
        (
            .device(name: "USB Camera", format: "MJPG", width: 1280, height: 720),
            "the device USB Camera sends MJPG of 1280×720 pixels"
        ),
    ]

    private static let substreams: [(CameraNote, String)] = [
        (.noSmallerStream, "the camera has no second profile that is a smaller video stream"),
        (.substreamState(.idle, transport: nil), "substream: it has not been started"),
        (.substreamState(.flowing, transport: "tcp"), "substream: it is sending media over tcp"),
        (
            .substreamState(.backingOff(seconds: 2.2, reason: .connectionClosed), transport: "udp"),
            "substream: the camera closed the connection; the next try is in 3 s over udp"
        ),
        (.substream(.backChannel(.audio, mediaIndex: 0)), "substream: audio (m-line 1) is a back channel"),
    ]

    private static func noCodec(_ kind: MediaKind, _ codecs: [MediaCodec]) -> CameraNote {
        .notPulled(kind, mediaIndex: 0, .noCodec(codecs))
    }

    @Test(arguments: CameraNoteTests.sentences)
    func `a note has its words`(note: CameraNote, words: String) {
        #expect(note.description == words)
    }

    @Test func `a failure names every note`() {
        let notes: [CameraNote] = [
            .backChannel(.audio, mediaIndex: 0), .notPulled(.application, mediaIndex: 1, .otherKind),
        ]
        let words = "audio (m-line 1) is a back channel; application (m-line 2) is neither video nor audio"
        #expect(
            CameraFailure.nothingToPlay(notes: notes).words == "the camera offers nothing that can be played: " + words)
    }

    @Test func `a report says what is noticed about the smaller stream`() {
        var (report, substream) = (CameraReport(), CameraReport())
        report.notes = [.srtpNotRequested]
        substream.transport = "tcp"
        substream.notes = [.stream(.rtmp)]
        report.add(.flowing, substream)
        let expected: [CameraNote] = [
            .srtpNotRequested, .substreamState(.flowing, transport: "tcp"), .substream(.stream(.rtmp)),
        ]
        #expect(report.notes == expected)
    }
}
