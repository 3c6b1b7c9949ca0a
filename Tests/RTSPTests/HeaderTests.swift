import Testing

@testable import RTSP

@Suite struct HeaderTests {
    @Test(
        arguments: [
            ("RTP/AVP/TCP;unicast;interleaved=0-1", 0, 1),
            ("RTP/AVP;unicast;interleaved=2", 2, 3),
            ("RTP/AVP/TCP;unicast;interleaved=4-5;ssrc= 0A0B0C0D", 4, 5),
            ("rtp/avp/tcp; Interleaved = 6 - 7 ;mode=play", 6, 7),
        ] as [(String, UInt8, UInt8)])
    func transportAnswersOfCameras(text: String, media: UInt8, control: UInt8) {
        let header = TransportHeader(parsing: text)
        #expect(header.rtpChannel == media)
        #expect(header.rtcpChannel == control)
        #expect(!header.isDatagram)
    }

    @Test func transportNamesTheSourceAndDatagrams() {
        #expect(TransportHeader(parsing: "RTP/AVP/TCP;interleaved=0-1;ssrc= 0A0B0C0D").ssrc == 0x0A0B_0C0D)
        #expect(TransportHeader(parsing: "RTP/AVP;unicast;client_port=5000-5001;server_port=1-2").isDatagram)
        #expect(TransportHeader(rtpChannel: 2).encoded == "RTP/AVP/TCP;unicast;interleaved=2-3")
        #expect(TransportHeader(clientPort: 6000).encoded == "RTP/AVP;unicast;client_port=6000-6001")
    }

    @Test(
        arguments: [
            ("RTP/AVP;unicast;client_port=5000-5001;server_port=6970-6971;source=10.0.0.9", 6970, 6971),
            ("RTP/AVP/UDP;unicast;client_port=5000-5001;server_port=6970", 6970, 6971),
            ("RTP/AVP;unicast;client_port=5000-5001", nil, nil),
            ("RTP/AVP;unicast;client_port=5000-5001;server_port=0-0", nil, nil),
            ("RTP/AVP;unicast;client_port=5000-5001;server_port=65535", 65535, nil),
            ("RTP/AVP;unicast;client_port=5000-5001;server_port=many-99999", nil, nil),
        ] as [(String, UInt16?, UInt16?)])
    func portsOfCameras(text: String, media: UInt16?, control: UInt16?) {
        let header = TransportHeader(parsing: text)
        #expect(header.serverPort == media)
        #expect(header.serverControlPort == control)
        #expect(header.isDatagram)
    }

    @Test func sessionTimeouts() {
        #expect(SessionHeader(parsing: "abc;timeout=30")?.timeout == 30)
        #expect(SessionHeader(parsing: " abc ; Timeout = 30 ")?.identifier == "abc")
        #expect(SessionHeader(parsing: "abc;timeout=soon")?.timeout == 60)
        #expect(SessionHeader(parsing: "abc;timeout=0")?.timeout == 60)
        #expect(SessionHeader(parsing: "abc;timeout=99999999999")?.timeout == 86_400)
        #expect(SessionHeader(parsing: "") == nil)
    }

    @Test func rtpInfoWithImpossibleNumbers() {
        let info = RTPInfoHeader(
            parsing: "url=rtsp://h/track1;seq=5;rtptime=99999999999, url=\"rtsp://h/a,b\";rtptime=0,;seq=70000")
        #expect(
            info.entries == [
                .init(uri: "rtsp://h/track1", sequenceNumber: 5, rtpTimestamp: nil),
                .init(uri: "rtsp://h/a,b", sequenceNumber: nil, rtpTimestamp: 0),
            ])
    }

    @Test func headersFoldAndStaySingleLines() throws {
        let text = "RTSP/1.0 200 OK\r\nX-A: one\r\n  two\r\nnonsense\r\nx-b:\u{1}three\r\r\n\r\n"
        guard case .response(let response) = try RTSPMessage(head: text) else {
            Issue.record("no response")
            return
        }
        #expect(response.headers["x-a"] == "one two")
        #expect(response.headers["X-B"] == "three")
        #expect(response.headers.fields.count == 2)
    }
}

@Suite struct RTSPURLTests {
    @Test func partsOfAnAddress() throws {
        let url = try RTSPURL(parsing: "rtsp://us%40er:p%3Aa@[fd00::1]:8554/live/ch0?x=1")
        #expect(url.host == "fd00::1")
        #expect(url.port == 8554)
        #expect(url.path == "/live/ch0?x=1")
        #expect(url.credentials == RTSPCredentials(user: "us@er", password: "p:a"))
        #expect(url.requestURI == "rtsp://[fd00::1]:8554/live/ch0?x=1")
        #expect(try RTSPURL(parsing: "RTSP://cam").requestURI == "rtsp://cam")
    }

    @Test(
        arguments: [
            ("rtsps://u:p@cam:7441/AbC?enableSrtp", "rtsps://cam:7441/AbC"),
            ("rtsps://cam/AbC?enableSRTP=true&x=1", "rtsps://cam/AbC?x=1"),
            ("rtsps://cam/AbC?x=1&enableSrtp&y", "rtsps://cam/AbC?x=1&y"),
            ("rtsps://cam/AbC?x=enableSrtp", nil), ("rtsps://cam/enableSrtp", nil), ("rtsps://cam/?", nil),
        ] as [(String, String?)])
    func srtp(address: String, without: String?) throws {
        let url = try RTSPURL(parsing: address)
        #expect(url.withoutSRTP?.requestURI == without)
        #expect(without == nil || url.withoutSRTP?.credentials == url.credentials)
    }

    @Test(arguments: [
        ("rtsp://admin:p@ss@cam/live", "p@ss"), ("rtsp://admin:p/a@cam/live", "p/a"),
        ("rtsp://admin:a:b@cam/live", "a:b"),
        ("rtsp://admin:50%@cam/live", "50%"), ("rtsp://admin@cam/live", ""),
    ])
    func passwordsAsPeopleTypeThem(text: String, password: String) throws {
        let url = try RTSPURL(parsing: text)
        #expect(url.host == "cam")
        #expect(url.path == "/live")
        #expect(url.credentials == RTSPCredentials(user: "admin", password: password))
    }

    @Test(arguments: [
        "http://cam/", "rtspx://cam/", "rtsp://", "rtsps://", "rtsp://cam:0/", "rtsp://cam:70000/", "rtsp://[fd00::1/",
        "rtsp://a b/",
        "rtsp://cam/\r\nX: y", "", "rtsp://x%0D%0AX:%20y@cam/", "rtsp://x%00:p@cam/",
    ])
    func impossibleAddressesAreRefused(text: String) {
        #expect(throws: RTSPError.self) { try RTSPURL(parsing: text) }
    }

    @Test func addressesOverTLS() throws {
        let url = try RTSPURL(parsing: "rtsps://u:p@cam/live")
        #expect(url.isSecure)
        #expect(url.port == 322)
        #expect(!url.namesPort)
        #expect(url.requestURI == "rtsps://cam/live")
        #expect(url.controlURI("rtsp://10.0.0.2/live/track1", base: "x") == "rtsps://cam/live/track1")
        #expect(try RTSPURL(parsing: "rtsps://cam:554/").requestURI == "rtsps://cam:554/")
    }

    @Test func anAtSignInThePathIsNotAPassword() throws {
        let url = try RTSPURL(parsing: "rtsp://cam:554/a@b")
        #expect(url.host == "cam")
        #expect(url.path == "/a@b")
        #expect(url.credentials == nil)
    }

    @Test(arguments: [
        ("rtsp://cam:554/user@home", "rtsp://cam:***@home"),
        ("rtsp://admin:12/34@cam:8554/x", "rtsp://admin:***@cam:8554/x"),
        ("rtsps://admin:12?3@4@cam", "rtsps://admin:***@cam"), ("rtsp://u:p@ss:12/34@cam/x", "rtsp://***@cam/x"),
        ("rtsp://192.0.2.1:554/a@b", "rtsp://192.0.2.1/a@b"), ("rtsp://[fd00::1]:554/a@b", "rtsp://[fd00::1]/a@b"),
        ("rtsp://cam/a@b", "rtsp://cam/a@b"), ("rtsp://u@cam/a@b", "rtsp://cam/a@b"),
    ])
    func `what could be a password in a path is not printed`(text: String, printed: String) throws {
        let url = try RTSPURL(parsing: text)
        #expect(url.description == printed)
        #expect("\(url.customMirror.children.map(\.value))".contains(printed))
        #expect(url.mayHoldPassword == printed.contains("***"))
    }

    @Test(
        arguments: [
            (nil, "rtsp://cam/live"),
            ("rtsp://cam/live/", "rtsp://cam/live/"),
            ("rtsp://rtsp://cam/live/", "rtsp://cam/live"),
            ("cam/live/", "rtsp://cam/live"),
            ("rtsp://10.0.0.9:1554/other/", "rtsp://cam/other/"),
            ("http://cam/x/", "rtsp://cam/live"),
        ] as [(String?, String)])
    func bases(header: String?, base: String) throws {
        var headers = RTSPHeaders()
        headers["content-base"] = header
        #expect(try RTSPURL(parsing: "rtsp://u:p@cam/live").base(for: headers) == base)
    }

    @Test(
        arguments: [
            (nil, "rtsp://cam/live/", "rtsp://cam/live/"),
            ("*", "rtsp://cam/live/", "rtsp://cam/live/"),
            ("trackID=1", "rtsp://cam/live", "rtsp://cam/live/trackID=1"),
            ("trackID=1", "rtsp://cam/live/", "rtsp://cam/live/trackID=1"),
            ("/trackID=1", "rtsp://cam/live/", "rtsp://cam/live/trackID=1"),
            ("trackID=1", "rtsp://cam/live?a=b", "rtsp://cam/live?a=b/trackID=1"),
            ("?ctype=video", "rtsp://cam/live", "rtsp://cam/live?ctype=video"),
            ("rtsp://192.168.0.2/live/track1", "rtsp://cam/live", "rtsp://cam/live/track1"),
            ("a b", "rtsp://cam/live", "rtsp://cam/live"),
        ] as [(String?, String, String)])
    func controls(control: String?, base: String, uri: String) throws {
        #expect(try RTSPURL(parsing: "rtsp://cam/live").controlURI(control, base: base) == uri)
    }
}
