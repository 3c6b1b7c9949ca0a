import Testing

@testable import Cameras

@Suite struct StreamAddressTests {
    @Test(arguments: [
        ("rtsp://10.0.0.9:554/Streaming/Channels/101?x=@1", "rtsp://cam:554/Streaming/Channels/101?x=@1"),
        ("rtsp://10.0.0.9/stream", "rtsp://cam/stream"), ("rtsp://10.0.0.9", "rtsp://cam"),
        ("rtsp://u:p@10.0.0.9:8554/s", "rtsp://u:p@cam:8554/s"), ("rtsp://[fe80::1]:554/s", "rtsp://cam:554/s"),
        ("rtsp://[fe80::1]/s", "rtsp://cam/s"), ("rtsp://10.0.0.9?a=b", "rtsp://cam?a=b"), ("nonsense", "nonsense"),
    ]) func theHostThatWorksReplacesTheOneThatIsAnnounced(told: String, reached: String) {
        #expect(told.withHost("cam") == reached)
    }

    @Test func anIPv6HostIsBracketed() {
        #expect("rtsp://10.0.0.9:554/s".withHost("2001:db8::1") == "rtsp://[2001:db8::1]:554/s")
    }
}
