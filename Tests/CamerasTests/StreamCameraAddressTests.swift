import Testing

@testable import Cameras

struct StreamCameraAddressTests {
    @Test(arguments: [
        ("http://user:pass@192.0.2.1/live.m3u8?token=1", StreamAddress.Form.playlist, "http://192.0.2.1/live.m3u8"),
        ("HTTPS://cam.example/a/LIVE.M3U8", .playlist, "https://cam.example/a/LIVE.M3U8"),
        ("hls+https://cam.example/live", .playlist, "https://cam.example/live"),
        ("http://192.0.2.1:8080/live.ts", .transportStreamOverHTTP, "http://192.0.2.1:8080/live.ts"),
        ("mpegts+http://192.0.2.1/stream", .transportStreamOverHTTP, "http://192.0.2.1/stream"),
        ("http://192.0.2.1/flv?port=1935&app=bcs&password=p", .flashOverHTTP, "http://192.0.2.1/flv"),
        ("rtmp://192.0.2.1/live/gate?user=a&password=b", .rtmp, "rtmp://192.0.2.1/live/gate"),
        ("rtmps://[2001:db8::5]:8443/live/gate", .rtmp, "rtmps://[2001:db8::5]:8443/live/gate"),
        ("hls+http://admin:12/34@cam/live", .playlist, "http://admin:***@cam/live"),
        ("rtmp://admin:12/34@cam/live", .rtmp, "rtmp://admin:***"),
        ("tcp://192.0.2.1:9000", .transportStreamOverTCP, "tcp://192.0.2.1:9000"),
        ("udp://@239.0.0.1:1234", .transportStreamOverUDP, "udp://239.0.0.1:1234"),
    ])
    func `An address says what comes, and is shown without secrets`(
        text: String, form: StreamAddress.Form, shown: String
    ) throws {
        #expect(StreamAddress.isStream(text))
        let address = try StreamAddress(text)
        #expect(address.form == form && address.description == shown)
    }

    @Test(arguments: [
        "http://192.0.2.1/snapshot.jpg", "http://192.0.2.1/video", "rtsp://192.0.2.1/live.m3u8", "file:///etc/a.m3u8",
        "onvif://192.0.2.1", "v4l2:/dev/video0", "hls+file:///etc/passwd", "concat:a.ts", "",
    ])
    func `Other addresses are not streams`(text: String) {
        #expect(!StreamAddress.isStream(text))
    }

    @Test(arguments: [
        "rtmp://user:pass@192.0.2.1/live/gate", "rtmp://192.0.2.1", "tcp://192.0.2.1", "udp://239.0.0.1:1234/x",
        "udp://a:b@239.0.0.1:1234", "tcp://192.0.2.1:70000", "hls+http://", "mpegts+ftp://192.0.2.1/a",
    ])
    func `What cannot be reached is refused with a reason`(text: String) {
        #expect(throws: (any Error).self) { _ = try StreamAddress(text) }
    }

    @Test(arguments: [
        "v4l2:/etc/passwd", "v4l2:/dev/video0/../mem", "v4l2:/dev/video", "v4l2:/dev/videoX",
        "v4l2:/dev/v4l/by-id/../../mem",
        "v4l2:/dev/v4l/by-id/..", "v4l2:/dev/video0?format=yuyv", "v4l2:/dev/video0?size=1x1",
        "v4l2:/dev/video0?rate=0",
        "v4l2:/dev/video0?exec=a", "/dev/video0", "v4l2:",
    ])
    func `Only a camera's device is opened`(text: String) {
        #expect(throws: VideoDeviceAddress.Fault.self) { _ = try VideoDeviceAddress(text) }
    }

    @Test func `A device has a format, a size and a rate`() throws {
        let address = try VideoDeviceAddress("v4l2:/dev/video12?format=MJPEG&size=1280x720&rate=15")
        #expect(address.path == "/dev/video12" && address.format == .mjpeg && address.rate == 15)
        #expect(address.size?.width == 1280 && address.size?.height == 720)
        let link = try VideoDeviceAddress("v4l2:/dev/v4l/by-id/usb-046d_HD_Webcam-video-index0")
        #expect(link.format == nil && link.size == nil && link.rate == nil)
    }

    @Test func `A file that is not a camera's is not opened`() throws {
        // This machine has no camera. The reason says what to do.
        let address = try VideoDeviceAddress("v4l2:/dev/video999")
        do throws(VideoDeviceFailure) {
            _ = try VideoDevice(address)
            Issue.record("there is a device")
        } catch {
            #expect(error == .missing(path: "/dev/video999") && error.words.contains("plug the camera in"))
        }
    }
}
