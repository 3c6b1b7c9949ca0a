import Gateway
import HomeTypes
import Testing

@testable import Migration

@Suite struct GatewaysTests {
    @Test func `each kind of address that a camera can have may come from another gateway`() {
        #expect(Set(ConfigurationBuilder.schemes) == Set(GatewayConfiguration.Camera.schemes))
    }

    @Test func go2rtc() throws {
        let (imported, configuration) = try imported(go2rtcSample, environment: ["DOOR_PASSWORD": "s3cret"])
        #expect(
            imported.cameras.map(\.id) == [
                "front_doorbell", "yard", "garage", "gate", "protect", "phone", "feeder", "both",
            ])
        let cameras = Dictionary(uniqueKeysWithValues: imported.cameras.map { ($0.id, $0) })
        let door = try #require(cameras["front_doorbell"])
        #expect(door.source == "rtsp://admin:${DOOR_PASSWORD}@192.0.2.20:554/h264Preview_01_main")
        #expect(door.isDoorbell && door.isSilent && door.substream == nil)
        #expect(door.name == "Front doorbell")
        #expect(cameras["yard"]?.source == "rtsp://admin:letmein@192.0.2.21/stream1")
        #expect(cameras["yard"]?.transport == "udp")
        // A stream of its own with the same host and an ending is the small one.
        #expect(cameras["yard"]?.substream == "rtsp://admin:letmein@192.0.2.21/stream2")
        #expect(cameras["garage"]?.source == "rtsp://192.0.2.22/1")
        #expect(cameras["garage"]?.substream == "rtsp://192.0.2.22/2")
        #expect(cameras["gate"]?.source == "onvif://admin:letmein@192.0.2.23:8000")
        #expect(cameras["protect"]?.source == "rtsps://192.0.2.1:7441/abc")
        #expect(cameras["phone"]?.source == "publisher")
        let phone = imported.remarks.first { $0.text.hasPrefix("it waits for a publisher") }?.text ?? ""
        #expect(phone.contains("rtsp://GATEWAY:8554/") && phone.contains("--scope media"))
        #expect(cameras["feeder"]?.source == "http://192.0.2.24/mjpg")
        #expect(cameras["both"]?.source == "rtsp://192.0.2.25/stream1")
        #expect(imported.mediaPort == 8555)
        #expect(imported.mediaAddresses == ["198.51.100.7", "2001:db8::7"])
        #expect(imported.iceServers.map(\.url) == ["stun:stun.example:3478", "turn:turn.example:3478"])
        #expect(imported.iceServers.last?.credential == "hidden")
        #expect(imported.stunServers == ["stun:stun.example:3478"])
        #expect(imported.rtspPort == 8554)
        #expect(configuration.cameras.first?.source == .rtsp("rtsp://admin:s3cret@192.0.2.20:554/h264Preview_01_main"))
        #expect(configuration.cameras.first?.talkback == .off)
        #expect(configuration.media.addresses == ["198.51.100.7", "2001:db8::7"])
        let keys = Set(remarkedKeys(imported))
        #expect(
            keys.isSuperset(of: [
                "api.listen", "api.username", "api.origin", "rtsp.listen", "streams.desk",
                "streams.feeder", "streams.garage[2]", "streams.yard_sub", "streams.both[0]", "homekit",
                "streams.front_doorbell[0]",
            ]))
        #expect(!keys.contains("log") && !keys.contains("ffmpeg"))
        #expect(imported.remarks == imported.remarks.sorted { $0.line < $1.line })
    }

    @Test func mediaMTX() throws {
        let (imported, configuration) = try imported(mediaMTXSample)
        #expect(imported.cameras.map(\.id) == ["yard", "street-left", "phone", "tv", "hall"])
        let cameras = Dictionary(uniqueKeysWithValues: imported.cameras.map { ($0.id, $0) })
        #expect(cameras["tv"]?.source == "https://video.example/live.m3u8")
        #expect(cameras["yard"]?.isPulledOnDemand == true)
        #expect(cameras["yard"]?.transport == "tcp")
        #expect(cameras["yard"]?.recording == nil)
        #expect(cameras["street-left"]?.transport == "udp")
        #expect(cameras["street-left"]?.recording == .init(trigger: "continuous", days: 2))
        #expect(cameras["phone"]?.source == "publisher")
        let phone = imported.remarks.first { $0.text.hasPrefix("it waits for a publisher") }?.text ?? ""
        #expect(phone.contains("rtmp://GATEWAY/") && phone.contains("--scope media"))
        #expect(imported.mediaPort == 8189)
        #expect(imported.mediaAddresses == ["198.51.100.7"])
        #expect(imported.iceServers == [.init(url: "turn:turn.example:3478", username: "viewer", credential: "hidden")])
        #expect(imported.rtspPort == 8554 && imported.rtmpPort == 1935)
        #expect(configuration.recording?.rules.trigger == .command)
        #expect(configuration.recording?.cameras["street-left"]?.days == 2)
        // A Raspberry Pi's own camera has ways in that need no libcamera here.
        let desk = imported.remarks.first { $0.key == "paths.desk.source" }?.text ?? ""
        #expect(desk.contains("rtsp://127.0.0.1:8554/") && desk.contains("stream-cameras.md"))
        #expect(
            Set(remarkedKeys(imported)).isSuperset(of: [
                "rtmp", "webrtcAdditionalHosts[1]", "authInternalUsers", "paths.desk.source",
                "paths.hall.runOnInit", "paths.~^cam(.+)$", "paths.all_others", "paths.street/left",
            ]))
    }

    @Test(
        arguments: [
            ("http://192.0.2.1/flv?port=1935&app=bcs", "http://192.0.2.1/flv?port=1935&app=bcs"),
            ("https://video.example/a.m3u8", "https://video.example/a.m3u8"),
            ("rtmp://192.0.2.1/live/gate?user=a&pass=b", "rtmp://192.0.2.1/live/gate?user=a&pass=b"),
            ("tcp://192.0.2.1:9000", "tcp://192.0.2.1:9000"), ("udp+mpegts://238.0.0.1:1234", "udp://238.0.0.1:1234"),
            ("udp://@238.0.0.1:1234", "udp://238.0.0.1:1234"),
            (
                "v4l2:device?video=/dev/video0&input_format=mjpeg&video_size=1280x720&framerate=30",
                "v4l2:/dev/video0?format=mjpeg&size=1280x720&rate=30"
            ), ("/dev/video2", "v4l2:/dev/video2"), ("v4l2:device?video=/etc/passwd", nil),
            ("v4l2:device?video=/dev/video0&input_format=yuyv422", nil), ("v4l2:device?video=0", nil),
            ("rtmp://a:b@192.0.2.1/live/gate", nil),
            ("http://192.0.2.1/video", nil), ("udp://238.0.0.1", nil), ("file:///etc/a.m3u8", nil),
            ("srt://192.0.2.1:1", nil),
        ] as [(String, String?)])
    func streamsOfOtherGatewaysAreTakenOver(there: String, here: String?) throws {
        #expect(CameraSource.other(there[...])?.url == here)
        // go2rtc names a device in words of its own.
        guard let here, !there.hasPrefix("/dev/") else { return }
        // What is taken over has to be an address that the config takes.
        #expect(try imported("streams: {cam: '\(there)'}").imported.cameras.map(\.source) == [here])
    }

    @Test(arguments: [
        ("24h", 1), ("25h", 2), ("7d", 7), ("1h30m", 1), ("0s", 36_500), ("for ever", nil), ("", nil), ("1e9d", nil),
    ])
    func theAgeOfRecordingsIsWholeDays(duration: String, days: Int?) throws {
        let text = "paths: {a: {source: 'rtsp://192.0.2.1/1', record: yes, recordDeleteAfter: '\(duration)'}}"
        #expect(try imported(text).imported.cameras.first?.recording?.days == days)
    }

    @Test func frigate() throws {
        let environment = [
            "DOOR_PASSWORD": "a", "FRIGATE_DOOR_PASSWORD": "b", "FRIGATE_YARD_PASSWORD": "c",
            "FRIGATE_MQTT_PASSWORD": "d",
        ]
        let (imported, configuration) = try imported(frigateSample, environment: environment)
        #expect(imported.cameras.map(\.id) == ["front", "yard", "pond", "coop"])
        let cameras = Dictionary(uniqueKeysWithValues: imported.cameras.map { ($0.id, $0) })
        let front = try #require(cameras["front"])
        #expect(front.name == "Front: the door")
        // What Frigate reads from its own go2rtc comes from the camera itself.
        #expect(front.source == "rtsp://admin:${DOOR_PASSWORD}@192.0.2.20/main")
        #expect(front.substream == "rtsp://admin:${FRIGATE_DOOR_PASSWORD}@192.0.2.20/sub")
        #expect(front.recording == .init(trigger: "continuous", days: 7))
        #expect(front.onvif?.url == "http://192.0.2.20:8000/onvif/device_service")
        #expect(cameras["yard"]?.source == "rtsp://admin:${FRIGATE_YARD_PASSWORD}@192.0.2.21/stream1")
        #expect(cameras["yard"]?.transport == "udp")
        #expect(cameras["yard"]?.recording == .init(trigger: "motion", days: 30))
        #expect(cameras["pond"]?.recording == nil)
        #expect(cameras["coop"]?.source == "http://192.0.2.25/flv?app=bcs")
        #expect(configuration.cameras.first?.onvif?.password == "b")
        #expect(configuration.mqtt?.password == "d")
        #expect(configuration.mqtt?.port == 8883)
        #expect(
            Set(remarkedKeys(imported)).isSuperset(of: [
                "detectors", "birdseye", "mqtt.topic_prefix", "cameras.shed", "cameras.nest",
            ]))
    }

    @Test(arguments: [
        ("{continuous: {days: 3}, motion: {days: 10}}", "continuous", 3),
        ("{continuous: {days: 0}, motion: {days: 10}}", "motion", 10),
        ("{retain: {days: 2, mode: motion}}", "motion", 2),
        ("{retain: {days: 0.5}}", "continuous", 1),
        ("{events: {retain: {days: 14}}}", "motion", 14),
        ("{}", "motion", nil),
    ])
    func frigatesRecordingOfEveryVersionIsRead(section: String, trigger: String, days: Int?) throws {
        let text = """
            record: {enabled: true}
            cameras:
              a: {ffmpeg: {inputs: [{path: "rtsp://192.0.2.1/1", roles: [record]}]}, record: \(section)}
            """
        #expect(try imported(text).imported.cameras.first?.recording == .init(trigger: trigger, days: days))
    }

    @Test func noRemarkRepeatsAPassword() throws {
        for sample in [go2rtcSample, mediaMTXSample, frigateSample] {
            let remarks = try ConfigurationImport.read(Array(sample.utf8)).remarks.map(\.description).joined()
            for secret in ["letmein", "hidden", "changeme"] { #expect(!remarks.contains(secret)) }
        }
    }
}
