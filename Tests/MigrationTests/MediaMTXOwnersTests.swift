import Gateway
import Migration
import Testing

/// Shapes that owners of MediaMTX write, each with what becomes of it.
@Suite struct MediaMTXOwnersTests {
    /// A config of a version before 1.0.
    @Test func `an old config is read`() throws {
        let text = """
            webrtcICEUDPMuxAddress: :8200
            webrtcICETCPMuxAddress: :8201
            webrtcICEHostNAT1To1IPs: [198.51.100.8]
            webrtcICEServers: ["stun:stun.example:3478", "turn:viewer:letmein@home:turn.example:3478", "turn:AUTH_SECRET:hidden:turn.example:3478"]
            externalAuthenticationURL: http://192.0.2.1/auth
            paths:
              yard: {source: "rtsp://192.0.2.50/1", readUser: ana, readPass: letmein}
              phone: {publishUser: ana}
            """
        let (imported, configuration) = try imported(text)
        #expect(imported.mediaPort == 8200)
        #expect(imported.mediaAddresses == ["198.51.100.8"])
        #expect(
            imported.iceServers == [
                .init(url: "stun:stun.example:3478"),
                .init(url: "turn:turn.example:3478", username: "viewer", credential: "letmein@home"),
            ])
        #expect(imported.stunServers == ["stun:stun.example:3478"])
        #expect(configuration.media.port == 8200)
        let keys = Set(remarkedKeys(imported))
        #expect(
            keys.isSuperset(of: [
                "webrtcICETCPMuxAddress", "webrtcICEServers[2]", "externalAuthenticationURL", "paths.yard.readUser",
                "paths.yard.readPass", "paths.phone.publishUser",
            ]))
        #expect(imported.remarks.allSatisfy { !$0.text.contains("letmein") && !$0.text.contains("hidden") })
        // The secret of the TURN server must not reach viewers.
        #expect(!imported.yaml(from: "old.yaml").contains("hidden"))
    }

    @Test func `the users of MediaMTX become tokens, by the command that makes them`() throws {
        let text = "authInternalUsers: [{user: any}]\npaths: {a: {source: 'rtsp://192.0.2.51/1'}}"
        let remark = try imported(text).imported.remarks.first { $0.key == "authInternalUsers" }
        #expect(remark?.text.contains("gatehouse token create NAME") == true)
    }

    @Test(
        arguments: [
            ("", 8554, "rtsp"), ("rtspAddress: :9554\n", 9554, "rtspAddress"), ("rtsp: no\n", nil, nil),
            ("rtspDisable: yes\n", nil, nil), ("rtspAddress: none\n", nil, "rtspAddress"),
        ] as [(String, Int?, String?)])
    func `recorders find RTSP at the port of MediaMTX`(section: String, port: Int?, remark: String?) throws {
        let (imported, configuration) = try imported(section + "paths: {a: {source: 'rtsp://192.0.2.52/1'}}")
        #expect(imported.rtspPort == port)
        #expect(configuration.rtsp?.port == port)
        #expect(remarkedKeys(imported).filter { $0.hasPrefix("rtsp") } == (remark.map { [$0] } ?? []))
    }

    @Test(
        arguments: [
            ("", 1935, "rtmp"), ("rtmp: yes\n", 1935, "rtmp"), ("rtmpAddress: :1936\n", 1936, "rtmpAddress"),
            ("rtmp: no\n", nil, nil), ("rtmpDisable: yes\n", nil, nil), ("rtmpAddress: none\n", nil, "rtmpAddress"),
        ] as [(String, Int?, String?)])
    func `publishers find RTMP at the port of MediaMTX`(section: String, port: Int?, remark: String?) throws {
        let (imported, configuration) = try imported(section + "paths: {phone: {source: publisher}}")
        #expect(imported.rtmpPort == port)
        #expect(configuration.rtmp?.port == port)
        // Whoever wants more says so.
        #expect(port == nil || configuration.rtmp?.host == "127.0.0.1")
        #expect(remarkedKeys(imported).filter { $0.hasPrefix("rtmp") } == (remark.map { [$0] } ?? []))
    }

    @Test(
        arguments: [("", nil), ("rtmp: yes\n", "rtmp"), ("rtmpAddress: :1935\n", "rtmpAddress")] as [(String, String?)])
    func `RTMP is off where no camera waits for a publisher`(section: String, remark: String?) throws {
        let (imported, configuration) = try imported(section + "paths: {a: {source: 'rtsp://192.0.2.56/1'}}")
        #expect(imported.rtmpPort == nil && configuration.rtmp == nil)
        #expect(remarkedKeys(imported).filter { $0.hasPrefix("rtmp") } == (remark.map { [$0] } ?? []))
    }

    @Test(arguments: [
        ("rtsp+http://192.0.2.58:8080/1", "rtsp://192.0.2.58:8080/1"),
        ("rtsps+http://192.0.2.58/1", "rtsps://192.0.2.58/1"), ("rtsp+https://192.0.2.58/1", "rtsps://192.0.2.58/1"),
    ])
    func `RTSP inside HTTP stays inside HTTP`(there: String, here: String) throws {
        let (imported, configuration) = try imported(
            "pathDefaults: {rtspTransport: tcp}\npaths: {gate: {source: '\(there)'}}")
        #expect(imported.cameras.map(\.source) == [here])
        #expect(configuration.cameras.map(\.source) == [.rtsp(here)])
        #expect(configuration.cameras.map(\.transport) == [.http])
    }

    @Test func `a multicast group keeps its address, and a remark names the rest`() throws {
        let text = """
            paths:
              a: {source: "udp+mpegts://239.0.0.1:1234?interface=eth0&source=192.0.2.57"}
              b: {source: "udp://239.0.0.2:1234"}
            """
        let (imported, configuration) = try imported(text)
        #expect(
            configuration.cameras.map(\.source) == [
                .stream("udp://239.0.0.1:1234"), .stream("udp://239.0.0.2:1234"),
            ])
        #expect(remarkedKeys(imported).filter { $0.hasPrefix("paths") } == ["paths.a.source"])
    }

    @Test func `settings without a counterpart have a remark, and defaults have none`() throws {
        let text = """
            hls: yes
            hlsVariant: lowLatency
            hlsEncryption: no
            webrtcEncryption: yes
            webrtcAllowOrigin: "*"
            pathDefaults: {maxReaders: 0, fallback: ""}
            paths:
              a: {source: "rtsp://192.0.2.53/1", maxReaders: 3, fallback: /b}
              b: {source: "http://192.0.2.54/hls/main"}
              c: {source: "rtsp://localhost:8554/a"}
            """
        let (imported, configuration) = try imported(text)
        // MediaMTX reads HLS over HTTP, whatever the path ends with.
        #expect(
            configuration.cameras.map(\.source) == [
                .rtsp("rtsp://192.0.2.53/1"), .stream("hls+http://192.0.2.54/hls/main"),
            ])
        let keys = remarkedKeys(imported).filter { !["http", "rtsp"].contains($0) }
        #expect(
            keys.sorted() == ["paths.a.fallback", "paths.a.maxReaders", "paths.c", "players", "webrtcEncryption"])
    }
}
