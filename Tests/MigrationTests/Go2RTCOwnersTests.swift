import Gateway
import Migration
import Testing

/// Shapes that owners of go2rtc write, each with what becomes of it.
@Suite struct Go2RTCOwnersTests {
    /// The source of each camera by its key, and what the remarks at a key say.
    private func cameras(_ text: String) throws -> (sources: [String: String], remarks: [String: String]) {
        let imported = try imported(text).imported
        return (
            Dictionary(uniqueKeysWithValues: imported.cameras.map { ($0.id, $0.source) }),
            Dictionary(imported.remarks.map { ($0.key, $0.text) }, uniquingKeysWith: { "\($0)\n\($1)" })
        )
    }

    @Test func `the address behind ffmpeg is read like one without it`() throws {
        let text = """
            streams:
              reolink:
                - "ffmpeg:http://192.0.2.30/flv?port=1935&app=bcs&stream=channel0_main.bcs&user=a&password=b#video=copy#audio=copy"
                - "ffmpeg:reolink#audio=opus"
              tower: ffmpeg:https://video.example/live.m3u8#video=copy
            """
        let (sources, remarks) = try cameras(text)
        #expect(
            sources == [
                "reolink": "http://192.0.2.30/flv?port=1935&app=bcs&stream=channel0_main.bcs&user=a&password=b",
                "tower": "https://video.example/live.m3u8",
            ])
        #expect(remarks["streams.reolink[0]"]?.contains("no ffmpeg is needed") == true)
    }

    @Test(arguments: [
        ("http://192.0.2.31/snapshot.jpg", "http://192.0.2.31/snapshot.jpg"),
        ("http://192.0.2.31:81/stream", "http://192.0.2.31:81/stream"),
        ("http://a:b@192.0.2.31/axis-cgi/mjpg/video.cgi", "http://a:b@192.0.2.31/axis-cgi/mjpg/video.cgi"),
        ("http://192.0.2.31/webcam/?action=stream", "http://192.0.2.31/webcam/?action=stream"),
        ("ffmpeg:http://192.0.2.31/mjpeg#video=h264", "http://192.0.2.31/mjpeg"),
        // Pictures that are encoded there are not H.264 already.
        ("ffmpeg:http://192.0.2.31/video#video=h264#hardware", "http://192.0.2.31/video"),
    ])
    func `a camera that sends JPEG pictures is taken over`(there: String, here: String) throws {
        let (imported, configuration) = try imported("streams: {printer: '\(there)'}")
        #expect(imported.cameras.map(\.source) == [here])
        #expect(configuration.cameras.map(\.source) == [.pictures(here)])
        #expect(imported.remarks.contains { $0.key == "streams.printer" && $0.text.contains("JPEG pictures") })
    }

    @Test(arguments: [
        ("rtspx://192.0.2.1:7441/abc", "rtsps://192.0.2.1:7441/abc"),
        ("httpx://192.0.2.1/live.flv", "https://192.0.2.1/live.flv"),
        ("httpx://192.0.2.1/snapshot.jpg", "https://192.0.2.1/snapshot.jpg"),
        ("rtmpx://192.0.2.1/live/gate", "rtmps://192.0.2.1/live/gate"),
    ])
    func `a camera with a certificate of its own is read over TLS`(there: String, here: String) throws {
        let (imported, configuration) = try imported("streams: {gate: '\(there)'}")
        #expect(imported.cameras.map(\.source) == [here])
        #expect(configuration.cameras.count == 1)
    }

    @Test func `RTSP comes before JPEG pictures of the same camera`() throws {
        let text = "streams: {a: ['http://192.0.2.32/snap.jpg', 'rtsp://192.0.2.32/1']}"
        let (sources, remarks) = try cameras(text)
        #expect(sources == ["a": "rtsp://192.0.2.32/1"])
        #expect(remarks["streams.a[0]"]?.contains("left out") == true)
    }

    @Test(arguments: [
        ("ffmpeg:device?video=0&video_size=1280x720&framerate=15#video=h264", "v4l2:/dev/video0?size=1280x720&rate=15"),
        (
            "ffmpeg:device?video=/dev/video2&input_format=mjpeg&resolution=hd720",
            "v4l2:/dev/video2?format=mjpeg&size=1280x720"
        ),
        ("ffmpeg:device?video=1&audio=0#video=h264", "v4l2:/dev/video1"),
        ("v4l2:device?video=/dev/video0&video_size=1x1&framerate=29.97", "v4l2:/dev/video0"),
    ])
    func `a camera on USB is taken over`(there: String, here: String) throws {
        let (imported, configuration) = try imported("streams: {desk: '\(there)'}")
        #expect(imported.cameras.map(\.source) == [here])
        #expect(configuration.cameras.map(\.source) == [.videoDevice(here)])
        let remarks = imported.remarks.filter { $0.key == "streams.desk" }.map(\.text).joined(separator: "\n")
        #expect(remarks.contains("no access"))
        #expect(
            remarks.contains("go2rtc numbers the devices")
                == (there.contains("video=0&") || there.contains("video=1&")))
        #expect(remarks.contains("no sound") == there.contains("audio="))
        #expect(remarks.contains("the rate of its pictures is left out") == there.contains("29.97"))
    }

    @Test(arguments: [
        ("ffmpeg:device?video=0&input_format=yuyv422#video=h264", "v4l2:/dev/video0"),
        ("ffmpeg:device?audio=default&channels=1#audio=opus", "only sound"),
        ("ffmpeg:virtual?video", "starts a program"),
    ])
    func `a device that cannot be read is left out with the reason`(there: String, reason: String) throws {
        let (sources, remarks) = try cameras("streams: {desk: '\(there)'}")
        #expect(sources.isEmpty)
        #expect(remarks["streams.desk"]?.contains(reason) == true)
    }

    @Test(arguments: [
        ("front", "front_sub"), ("front_main", "front_sub"), ("front_hd", "front_sd"), ("Front-Main", "front-low"),
    ])
    func `two streams of one camera become one camera with a substream`(large: String, small: String) throws {
        let text = """
            streams:
              \(large): rtsp://192.0.2.33/main
              \(small): rtsp://192.0.2.33:554/sub
              \(small)_other: rtsp://192.0.2.34/sub
            """
        let imported = try imported(text).imported
        #expect(imported.cameras.map(\.id) == [large, "\(small)_other"])
        #expect(imported.cameras.first?.substream == "rtsp://192.0.2.33:554/sub")
        #expect(
            imported.remarks.contains { $0.key == "streams.\(small)" && $0.text.contains("substream of the camera") })
    }

    @Test func `streams that cannot be one camera stay two, and a remark says why`() throws {
        let text = """
            streams:
              front_main: http://192.0.2.35/flv?stream=channel0_main.bcs
              front_sub: http://192.0.2.35/flv?stream=channel0_ext.bcs
            """
        let (sources, remarks) = try cameras(text)
        #expect(sources.count == 2)
        #expect(remarks["streams.front_sub"]?.contains("a camera of its own") == true)
    }

    @Test(arguments: ["ffmpeg:yard#video=h264", "ffmpeg:rtsp://127.0.0.1:8554/yard?video=copy#video=h264#audio=aac"])
    func `a stream in another codec is not a second camera`(source: String) throws {
        let (sources, remarks) = try cameras("streams: {yard: 'rtsp://192.0.2.36/1', yard_h264: '\(source)'}")
        #expect(sources == ["yard": "rtsp://192.0.2.36/1"])
        #expect(remarks["streams.yard_h264"]?.contains("the stream yard in another form") == true)
    }

    @Test func `streams that name only one another are left out, and remarks say so`() throws {
        let (sources, remarks) = try cameras("streams: {a: 'ffmpeg:b', b: 'ffmpeg:a'}")
        #expect(sources.isEmpty)
        #expect(remarks["streams.a"]?.contains("left out") == true)
        #expect(remarks["streams.b"]?.contains("left out") == true)
    }

    @Test(
        arguments: [
            ("", 8554, "rtsp"), ("rtsp: {listen: ':9554'}\n", 9554, "rtsp.listen"), ("rtsp: {listen: ''}\n", nil, nil),
            ("rtsp: {listen: ':none'}\n", nil, "rtsp.listen"),
        ] as [(String, Int?, String?)])
    func `recorders find RTSP at the port of go2rtc`(section: String, port: Int?, remark: String?) throws {
        let (imported, configuration) = try imported(section + "streams: {a: 'rtsp://192.0.2.37/1'}")
        #expect(imported.rtspPort == port)
        #expect(configuration.rtsp?.port == port)
        #expect(imported.remarks.map(\.key).filter { $0.hasPrefix("rtsp") } == (remark.map { [$0] } ?? []))
    }

    @Test(
        arguments: [
            ("", nil, nil), ("rtmp: {listen: ''}\n", nil, nil), ("rtmp: {listen: ':1936'}\n", 1936, "rtmp.listen"),
            ("rtmp: {listen: ':none'}\n", nil, "rtmp.listen"),
        ] as [(String, Int?, String?)])
    func `publishers find RTMP at the port of go2rtc`(section: String, port: Int?, remark: String?) throws {
        let (imported, configuration) = try imported(section + "streams: {phone: ''}")
        #expect(imported.cameras.map(\.source) == ["publisher"])
        #expect(imported.rtmpPort == port && configuration.rtmp?.port == port)
        #expect(imported.remarks.map(\.key).filter { $0.hasPrefix("rtmp") } == (remark.map { [$0] } ?? []))
    }

    @Test func `the users of go2rtc become people who sign in by a password`() throws {
        let (_, remarks) = try cameras("api: {username: u, password: p}\nstreams: {a: 'rtsp://192.0.2.38/1'}")
        for key in ["api.username", "api.password"] {
            #expect(remarks[key]?.contains("gatehouse token create NAME --scope read view --password") == true)
        }
    }
}
