import HTTPTypes
import HomeFakes
import HomeTypes
import NIOCore
import NIOPosix
import SDP
import StationFakes
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

    @Test func `a token that only watches does not learn which address a camera has`() async throws {
        let gateway = try TestGateway { $0.offersGo2RTC = true }
        let holders: [(token: String, scopes: Set<Caller.Scope>)] = [
            ("gatehouse_view", [.view]), ("gatehouse_read", [.read]), ("gatehouse_both", [.read, .view]),
            ("gatehouse_media", [.media]),
        ]
        for (token, scopes) in holders { try await gateway.addToken(token, named: token, Access([.init(scopes)])) }
        try await gateway.run { client in
            func name(_ address: String, _ token: String) async throws -> String {
                let answer = try await client.send(
                    .put, "/api/streams?name=camera.yard&src=\(address)", token: token)
                return "\(answer.status.code) \(answer.text)"
            }
            for token in ["gatehouse_view", "gatehouse_read"] {
                let right = try await name("rtsp://192.0.2.1/", token)
                let wrong = try await name("rtsp://192.0.2.2/", token)
                #expect(right.hasPrefix("400") && right == wrong, "\(token)")
            }
            for token in ["gatehouse_both", "gatehouse_media"] {
                #expect(try await name("rtsp://192.0.2.1/", token).hasPrefix("200"), "\(token)")
                #expect(try await name("rtsp://192.0.2.2/", token).hasPrefix("400"), "\(token)")
            }
        }
    }

    @Test func `names end with the right to watch`() throws {
        let streams = Go2RTCStreams()
        for device in ["door", "yard"] {
            for principal in ["ana", "bea"] {
                try streams.set(.init(deviceID: device, source: "rtsp://x"), named: device, of: principal)
            }
        }
        streams.end(of: "ana") { $0 == "yard" }
        #expect(streams.all(of: "ana").keys.sorted() == ["yard"])
        streams.end(of: "ana") { _ in false }
        #expect(streams.all(of: "ana").isEmpty && streams.all(of: "bea").count == 2)
    }

    /// Hands over what arrives at a client.
    private final class Arrivals: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let bytes: AsyncStream<ByteBuffer>
        private let arrived: AsyncStream<ByteBuffer>.Continuation

        init() { (bytes, arrived) = AsyncStream.makeStream() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { arrived.yield(unwrapInboundIn(data)) }

        func channelInactive(context: ChannelHandlerContext) { arrived.finish() }
    }

    @Test func `a view whose answer cannot be sent ends`() async throws {
        let gateway = try TestGateway { $0.offersGo2RTC = true }
        await gateway.liveView.closeGate()
        try await gateway.run { client in
            let arrivals = Arrivals()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { $0.pipeline.addHandler(arrivals) }
                .connect(host: "127.0.0.1", port: client.port).get()
            let request =
                "GET /api/ws?src=door HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + "Authorization: Bearer \(TestGateway.token)\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: request)).get()
            var head = ""
            for await bytes in arrivals.bytes {
                head += String(buffer: bytes)
                if head.hasSuffix("\r\n\r\n") { break }
            }
            #expect(head.hasPrefix("HTTP/1.1 101 "))
            // One frame of text with a mask of zeros.
            let offer = #"{"type":"webrtc/offer","value":"v=0"}"#
            let frame = [0x81, 0x80 | UInt8(offer.utf8.count), 0, 0, 0, 0] + Array(offer.utf8)
            try await channel.writeAndFlush(ByteBuffer(bytes: frame)).get()
            #expect(await eventually { await gateway.liveView.isWaiting })

            // The gateway closes the connection while the view begins.
            gateway.api.liveWatchers.end(of: "owner") { _ in false }
            for await _ in arrivals.bytes { break }
            await gateway.liveView.openGate()
            #expect(await eventually { gateway.api.liveWatchers.count == 0 })
            #expect(await gateway.liveView.requests.count == 1)
            #expect(await gateway.liveView.list.isEmpty)
            // The gateway may have closed it first.
            try? await channel.close().get()
        }
    }

    @Test func `only a viewer that sends sound talks`() {
        #expect(!Go2RTCOffer.sendsSound(Self.offer))
        for direction in ["sendrecv", "sendonly"] {
            let offer = Self.offer.replacing("a=mid:0\r\na=recvonly", with: "a=mid:0\r\na=\(direction)")
            #expect(Go2RTCOffer.sendsSound(offer))
        }
    }
}
