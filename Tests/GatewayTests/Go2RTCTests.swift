import SDP
import Testing

@testable import Gateway

/// What go2rtc's clients send, and which camera they mean.
@Suite struct Go2RTCTests {
    private static let cameras: [GatewayConfiguration.Camera] = {
        let yaml = """
            rtsp: {host: 0.0.0.0, port: 8554}
            cameras:
              - {id: yard, source: "rtsp://viewer:secret@192.0.2.20/stream1", substream: "rtsp://viewer:secret@192.0.2.20/stream2"}
              - {id: door, source: "onvif://viewer:secret@192.0.2.21"}
              - {id: left, source: "onvif://viewer:secret@192.0.2.22:8000"}
              - {id: right, source: "onvif://viewer:secret@192.0.2.22:8001"}
              - {id: printer, source: "http://192.0.2.30:81/stream"}
            """
        return (try? GatewayConfiguration(yaml: yaml, environment: [:]))?.cameras ?? []
    }()

    private func match(_ source: String) -> String? {
        var rtsp = GatewayConfiguration.RTSPServer()
        rtsp.port = 8554
        return Go2RTCMatch.camera(at: source, among: Self.cameras, rtsp: rtsp, ownHosts: ["192.0.2.10"])?.id
    }

    @Test(arguments: [
        ("rtsp://192.0.2.20/stream1", "yard"),
        ("rtsp://somebody:else@192.0.2.20:554/stream1", "yard"),
        ("rtspx://192.0.2.20:554/stream2", "yard"),
        ("rtsp://192.0.2.20/stream1#backchannel=0#transport=tcp", "yard"),
        ("rtsp://a:b@192.0.2.21:554/Streaming/Channels/101?transportmode=unicast", "door"),
        ("http://192.0.2.30:81/stream", "printer"),
        ("rtsp://x:y@127.0.0.1:8554/yard", "yard"),
        ("rtsp://x:y@192.0.2.10:8554/door", "door"),
    ])
    func `an address leads to the camera that has it`(source: String, camera: String) {
        #expect(match(source) == camera)
    }

    @Test(arguments: [
        "rtsp://192.0.2.20/stream3", "rtsp://192.0.2.20:555/stream1", "http://192.0.2.20/stream1",
        // Two ONVIF devices have this host.
        "rtsp://192.0.2.22/1",
        // Not at the gateway's own addresses, and another port.
        "rtsp://198.51.100.1:8554/yard", "rtsp://127.0.0.1:8555/yard", "rtsp://127.0.0.1:8554/yard/sub",
        "exec:ffmpeg -i x", "ffmpeg:camera.yard#audio=opus", "echo:x", "", "#", "rtsp://", "file:///etc/passwd",
        "gatehouse:yard",
    ])
    func `no other address does`(source: String) {
        #expect(match(source) == nil)
    }

    @Test func `messages are read and written as the client has them`() {
        let offer = #"{"type":"webrtc","value":{"sdp":"v=0","ice_servers":[{"urls":["stun:x"]}],"type":"offer"}}"#
        #expect(
            Go2RTC.Message(json: offer) == Go2RTC.Message("webrtc", .description(.init(type: "offer", sdp: "v=0"))))
        #expect(
            Go2RTC.Message(json: #"{"type":"webrtc/candidate","value":""}"#)
                == Go2RTC.Message("webrtc/candidate", .text("")))
        #expect(
            Go2RTC.Message("webrtc", .description(.init(type: "answer", sdp: "a"))).json
                == #"{"type":"webrtc","value":{"sdp":"a","type":"answer"}}"#)
        for wrong in ["", "[]", "{}", "{\"type\":1}", "x"] { #expect(Go2RTC.Message(json: wrong) == nil) }
    }

    private static let offer = """
        v=0\r
        o=- 1 1 IN IP4 127.0.0.1\r
        s=-\r
        t=0 0\r
        a=group:BUNDLE 0 1\r
        m=audio 9 UDP/TLS/RTP/SAVPF 111\r
        c=IN IP4 0.0.0.0\r
        a=ice-ufrag:abcd\r
        a=ice-pwd:efghefghefghefghefghefgh\r
        a=mid:0\r
        a=recvonly\r
        m=video 9 UDP/TLS/RTP/SAVPF 96\r
        a=mid:1\r
        a=recvonly\r

        """

    @Test func `a candidate becomes a fragment with the credentials of the offer`() {
        let candidate = "candidate:1 1 udp 2130706431 192.0.2.9 50000 typ host"
        #expect(
            Go2RTCOffer.fragment(candidate, of: Self.offer) == """
                a=ice-ufrag:abcd\r
                a=ice-pwd:efghefghefghefghefghefgh\r
                m=audio 9 UDP/TLS/RTP/SAVPF 111\r
                a=mid:0\r
                a=\(candidate)\r

                """)
        #expect(Go2RTCOffer.fragment("", of: Self.offer)?.hasSuffix("a=end-of-candidates\r\n") == true)
        #expect(Go2RTCOffer.fragment("candidate:1\r\na=ice-pwd:other", of: Self.offer) == nil)
        #expect(Go2RTCOffer.fragment(candidate, of: "") == nil)
    }

    @Test func `only a viewer that sends sound talks`() {
        #expect(!Go2RTCOffer.sendsSound(Self.offer))
        for direction in ["sendrecv", "sendonly"] {
            let offer = Self.offer.replacing("a=mid:0\r\na=recvonly", with: "a=mid:0\r\na=\(direction)")
            #expect(Go2RTCOffer.sendsSound(offer))
        }
    }
}
