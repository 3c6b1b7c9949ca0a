import Gateway
import Migration
import Testing

/// Shapes that owners of Frigate write, each with what becomes of it.
@Suite struct FrigateOwnersTests {
    /// The form that Frigate's documentation has for Reolink.
    @Test func `a camera behind Frigate's own go2rtc is read at its own address`() throws {
        let text = """
            go2rtc:
              streams:
                r:
                  - "ffmpeg:http://192.0.2.40/flv?port=1935&app=bcs&stream=channel0_main.bcs&user=u&password={FRIGATE_P}#video=copy"
                r_sub:
                  - "ffmpeg:http://192.0.2.40/flv?port=1935&app=bcs&stream=channel0_ext.bcs&user=u&password={FRIGATE_P}"
            cameras:
              r:
                ffmpeg:
                  inputs:
                    - {path: "rtsp://127.0.0.1:8554/r", input_args: preset-rtsp-restream, roles: [record]}
                    - {path: "rtsp://127.0.0.1:8554/r_sub", input_args: preset-rtsp-restream, roles: [detect]}
            """
        let (imported, configuration) = try imported(text, environment: ["FRIGATE_P": "s3cret"])
        let address = "http://192.0.2.40/flv?port=1935&app=bcs&stream=channel0_main.bcs&user=u&password="
        #expect(imported.cameras.map(\.source) == [address + "${FRIGATE_P}"])
        #expect(configuration.cameras.map(\.source) == [.stream(address + "s3cret")])
        // FLV has no substream.
        #expect(
            imported.remarks.contains {
                $0.key == "cameras.r.ffmpeg.inputs[1].path" && $0.text.contains("with RTSP or ONVIF one substream")
            })
        #expect(imported.variables == ["FRIGATE_P"])
        #expect(
            imported.remarks.contains {
                $0.text.contains("FRIGATE_P") && $0.text.contains("/etc/gatehouse/environment")
            })
    }

    @Test(arguments: [
        ("exec:ffmpeg -i x -f rtsp {output}", "starts a program"), ("dvrip://192.0.2.41:34567", "does not read dvrip"),
        ("", "waits for a publisher"),
    ])
    func `a stream of Frigate's go2rtc that cannot be read is not replaced by Frigate itself`(
        stream: String, reason: String
    ) throws {
        for address in ["rtsp://127.0.0.1:8554/r", "rtsp://user:pw@localhost:8554/r?video=copy"] {
            let text = """
                go2rtc: {streams: {r: "\(stream)"}}
                cameras: {r: {ffmpeg: {inputs: [{path: "\(address)", roles: [detect]}]}}}
                """
            let imported = try imported(text).imported
            #expect(imported.cameras.isEmpty)
            let keys = Dictionary(imported.remarks.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
            #expect(keys["cameras.r.ffmpeg.inputs[0].path"]?.contains(reason) == true)
            #expect(keys["cameras.r"]?.contains("left out") == true)
        }
    }

    @Test func `an input that names a stream which is not there is left out`() throws {
        let text = "cameras: {r: {ffmpeg: {inputs: [{path: 'rtsp://127.0.0.1:8554/r', roles: [detect]}]}}}"
        let imported = try imported(text).imported
        #expect(imported.cameras.isEmpty)
        #expect(imported.remarks.contains { $0.text.contains("no stream of this name") })
    }

    @Test func `a stream with a password, an encoded one and one that no input names`() throws {
        let text = """
            go2rtc:
              streams:
                front: rtsp://192.0.2.42/main
                front_h264: ffmpeg:front#video=h264
                attic: rtsp://192.0.2.43/main
              webrtc: {candidates: ["192.0.2.9:8555"]}
            cameras:
              front:
                ffmpeg:
                  inputs:
                    - {path: "rtsp://user:pw@127.0.0.1:8554/front_h264", roles: [record, detect]}
            """
        let imported = try imported(text).imported
        #expect(imported.cameras.map(\.source) == ["rtsp://192.0.2.42/main"])
        #expect(imported.cameras.first?.transport == nil)
        let keys = remarkedKeys(imported)
        #expect(keys.contains("go2rtc.streams.attic"))
        #expect(!keys.contains("go2rtc.streams.front") && !keys.contains("go2rtc.streams.front_h264"))
        // What else that section says counts too.
        #expect(imported.mediaAddresses == ["192.0.2.9"])
        #expect(imported.rtspPort == 8554)
    }

    @Test(
        arguments: [
            ("http://192.0.2.44/image", "preset-http-jpeg-generic", "http://192.0.2.44/image"),
            ("http://192.0.2.44/live", "preset-http-mjpeg-generic", "http://192.0.2.44/live"),
            ("http://192.0.2.44/live", "preset-http-reolink", "flv+http://192.0.2.44/live"),
            ("http://192.0.2.44/live", "-f mpjpeg -r 5", "http://192.0.2.44/live"),
            ("http://192.0.2.44/video.mjpg", "", "http://192.0.2.44/video.mjpg"),
            ("/dev/video0", "", "v4l2:/dev/video0"), ("http://192.0.2.44/live", "", nil),
        ] as [(String, String, String?)])
    func `what comes over HTTP is told by the preset`(path: String, preset: String, source: String?) throws {
        let text = """
            cameras:
              a: {ffmpeg: {inputs: [{path: "\(path)", input_args: "\(preset)", roles: [detect]}]}}
            """
        let (imported, configuration) = try imported(text)
        #expect(imported.cameras.map(\.source) == (source.map { [$0] } ?? []))
        #expect(configuration.cameras.count == imported.cameras.count)
        #expect(remarkedKeys(imported).contains { $0.hasPrefix("cameras.a") } || preset == "preset-http-reolink")
    }

    @Test(arguments: [
        ("http://192.0.2.44/live", "-f mpegts", "mpegts+http://192.0.2.44/live"),
        ("https://192.0.2.44/live", "-fflags nobuffer -f mpegts", "mpegts+https://192.0.2.44/live"),
        ("https://192.0.2.44/live", "-f flv -rw_timeout 5000000", "flv+https://192.0.2.44/live"),
        ("http://192.0.2.44/live", "-f hls", "hls+http://192.0.2.44/live"),
    ])
    func `what comes over HTTP is told by the format in the owner's arguments`(
        path: String, arguments: String, source: String
    ) throws {
        let text = """
            cameras:
              a: {ffmpeg: {inputs: [{path: "\(path)", input_args: "\(arguments)", roles: [detect]}]}}
            """
        let (imported, configuration) = try imported(text)
        #expect(imported.cameras.map(\.source) == [source])
        #expect(configuration.cameras.map(\.source) == [.stream(source)])
        #expect(!imported.remarks.contains { $0.text.contains("input_args") })
    }

    @Test(
        arguments: [
            ("preset-rtsp-udp", "udp", false), ("-rtsp_transport tcp -timeout 5000000", "tcp", false),
            ("preset-rtsp-generic", nil, false), ("-avoid_negative_ts make_zero -strict experimental", nil, true),
        ] as [(String, String?, Bool)])
    func `arguments of one input count for it`(arguments: String, transport: String?, areRemarked: Bool) throws {
        let text = """
            cameras:
              a:
                ffmpeg:
                  input_args: preset-rtsp-generic
                  inputs:
                    - {path: "rtsp://192.0.2.45/1", input_args: "\(arguments)", roles: [record]}
                    - {path: "rtsp://192.0.2.45/2", roles: [detect]}
            """
        let imported = try imported(text).imported
        #expect(imported.cameras.map(\.transport) == [transport])
        #expect(imported.remarks.contains { $0.text.contains("input_args") } == areRemarked)
    }

    @Test func `settings without a counterpart have a remark, and those that are off have none`() throws {
        let text = """
            camera_groups: {yards: {cameras: [a]}}
            proxy: {header_map: {user: x-forwarded-user}}
            tls: {enabled: true}
            auth: {enabled: true}
            birdseye: {enabled: false}
            environment_vars: {FRIGATE_P: hidden}
            logger: {default: info}
            something_new: {a: b}
            cameras:
              a:
                ffmpeg: {inputs: [{path: "rtsp://192.0.2.46/1", roles: [detect]}]}
                detect: {fps: 5}
                zones: {gate: {coordinates: "0,0,1,1"}}
                onvif: {host: 192.0.2.46, autotracking: {enabled: true}}
                audio: {enabled: true}
            """
        let imported = try imported(text).imported
        let keys = remarkedKeys(imported).filter { !["http", "rtsp"].contains($0) }
        #expect(
            keys.sorted() == [
                "auth", "camera_groups", "cameras.a.audio", "cameras.a.detect", "cameras.a.onvif.autotracking",
                "cameras.a.zones", "environment_vars", "go2rtc", "proxy", "something_new", "tls",
            ])
        #expect(imported.remarks.contains { $0.key == "auth" && $0.text.contains("--password") })
        #expect(imported.remarks.allSatisfy { !$0.text.contains("hidden") })
    }
}
