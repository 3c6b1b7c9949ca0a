import Testing
import Transport

@testable import RTSP

@Suite("RTSP server: sessions")
struct ServerSessionTests {
    static let tcp = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1"]
    static let first = "rtsp://host:8554/drive/trackID=0"

    @Test("devices and tracks that are not there are not found")
    func notFound() {
        let conversation = ServerConversation()
        _ = conversation.signIn()
        #expect(conversation.request("DESCRIBE", "rtsp://h/attic")?.status == 404)
        #expect(conversation.request("DESCRIBE", "rtsp://h/drive/trackID=0")?.status == 404)
        #expect(conversation.request("SETUP", "rtsp://h/attic/trackID=0", Self.tcp)?.status == 404)
        #expect(conversation.request("SETUP", "rtsp://h/drive/trackID=2", Self.tcp)?.status == 404)
        #expect(conversation.identifier == nil)
    }

    @Test("a camera that sends nothing now is unavailable, and the client learns when to try again")
    func unavailable() {
        let conversation = ServerConversation()
        _ = conversation.signIn()
        conversation.isAvailable = false
        let response = conversation.request("DESCRIBE")
        #expect(response?.status == 503)
        #expect(response?.headers["Retry-After"] == "5")
    }

    @Test("an unknown session is not found, whatever it is asked for")
    func sessionNotFound() {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        for method in ["PLAY", "PAUSE", "TEARDOWN", "GET_PARAMETER", "SET_PARAMETER", "SETUP"] {
            #expect(conversation.request(method, Self.first, Self.tcp + ["Session: other"])?.status == 454, "\(method)")
        }
        let fresh = ServerConversation()
        _ = fresh.signIn()
        #expect(fresh.request("PLAY")?.status == 454)
    }

    @Test("what the state does not allow is refused")
    func states() {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        #expect(conversation.request("PAUSE")?.status == 455)
        #expect(conversation.request("PLAY")?.status == 200)
        #expect(conversation.request("SETUP", Self.first, Self.tcp)?.status == 455)
        #expect(conversation.request("PLAY")?.status == 200)
        #expect(conversation.request("PAUSE")?.status == 200)
        #expect(conversation.events.last == .paused)
        #expect(conversation.request("PLAY", Self.first)?.status == 460)
        #expect(conversation.request("PLAY", "rtsp://host:8554/drive/")?.status == 200)
    }

    @Test("a session is about one device")
    func oneDevice() {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        #expect(conversation.request("SETUP", "rtsp://h/attic/trackID=0", Self.tcp)?.status == 459)
        #expect(conversation.request("PLAY", "rtsp://h/attic")?.status == 404)
    }

    @Test("methods, features, parameters and forms that are not served have their statuses")
    func unsupported() {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        #expect(conversation.request("ANNOUNCE")?.status == 405)
        #expect(conversation.request("RECORD")?.headers["Allow"]?.contains("DESCRIBE") == true)
        #expect(conversation.request("FLY")?.status == 501)
        #expect(conversation.request("DESCRIBE", "rtsp://h/drive", ["Accept: text/html"])?.status == 406)
        let required = conversation.request(
            "DESCRIBE", "rtsp://h/drive", ["Require: www.onvif.org/ver20/backchannel"])
        #expect(required?.status == 551)
        #expect(required?.headers["Unsupported"] == "www.onvif.org/ver20/backchannel")
        #expect(conversation.request("GET_PARAMETER", "rtsp://h/drive", body: "position\r\n")?.status == 451)
        #expect(conversation.request("SET_PARAMETER", "rtsp://h/drive", body: "a: b\r\n")?.status == 451)
        #expect(conversation.request("SET_PARAMETER")?.status == 200)
    }

    @Test("the replay extension may be required of recorded footage, and of nothing else")
    func replay() {
        let require = ["Require: onvif-replay"]
        let live = ServerConversation { $0.footagePrefix = "recordings/" }
        live.setUpBoth()
        #expect(live.request("PLAY", "rtsp://host:8554/drive", require)?.status == 551)
        #expect(!live.requiresReplay)
        // To the conversation's driver, this camera is a recording.
        let footage = ServerConversation { $0.footagePrefix = "dri" }
        footage.setUpBoth()
        #expect(!footage.requiresReplay)
        let both = footage.request("PLAY", "rtsp://host:8554/drive", ["Require: onvif-replay, play.basic"])
        #expect(both?.status == 551 && both?.headers["Unsupported"] == "play.basic")
        #expect(!footage.requiresReplay)
        #expect(footage.request("PLAY", "rtsp://host:8554/drive", require)?.status == 200)
        #expect(footage.requiresReplay)
        // The next session on the connection begins without it.
        #expect(footage.request("TEARDOWN", "rtsp://host:8554/drive")?.status == 200)
        #expect(!footage.requiresReplay)
        let track = "rtsp://host:8554/drive/trackID=0"
        _ = footage.request("SETUP", track, require + ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1"])
        #expect(footage.requiresReplay)
    }

    @Test(
        "transports that cannot be served are refused",
        arguments: [
            "RTP/SAVP;unicast;client_port=1-2", "RTP/AVP;multicast", "RTP/AVP;unicast",
            "RTP/AVP;unicast;client_port=0-1",
            "RTP/AVP;unicast;client_port=70000-70001", "RTP/AVP/TCP;unicast;interleaved=1-1", "MP2T/AVP;unicast",
            "RTP/AVP/TCP;unicast;interleaved=256-257", "RTP/AVP/TCP;mode=record", "", ";;;",
            "RTP/AVP;client_port=65535",
        ])
    func transport(text: String) {
        let conversation = ServerConversation()
        _ = conversation.signIn()
        #expect(conversation.request("SETUP", Self.first, ["Transport: \(text)"])?.status == 461)
        #expect(conversation.identifier == nil)
    }

    @Test("the first transport that can be served is used, and UDP does not count without ports")
    func alternatives() {
        let offer = [
            "Transport: RTP/SAVP;unicast;client_port=1000-1001,RTP/AVP;unicast;client_port=2000-2001;destination=1.2.3.4,"
                + "RTP/AVP/TCP;unicast;interleaved=4-5"
        ]
        let conversation = ServerConversation()
        _ = conversation.signIn()
        _ = conversation.request("SETUP", Self.first, offer)
        #expect(conversation.tracks.map(\.transport) == [.datagrams(rtp: 2000, rtcp: 2001)])
        let streamed = ServerConversation { $0.serverPorts = nil }
        _ = streamed.signIn()
        _ = streamed.request("SETUP", Self.first, offer)
        #expect(streamed.tracks.map(\.transport) == [.interleaved(rtp: 4, rtcp: 5)])
    }

    @Test("the server chooses channels if they are in use or not named")
    func channels() {
        let conversation = ServerConversation()
        _ = conversation.signIn()
        _ = conversation.request("SETUP", Self.first, ["Transport: RTP/AVP/TCP;unicast"])
        let second = conversation.request("SETUP", "rtsp://host:8554/drive/trackID=1", Self.tcp)
        #expect(second?.headers["Transport"]?.contains("interleaved=2-3") == true)
        // Setting a track up again replaces its transport.
        _ = conversation.request("SETUP", Self.first, ["Transport: RTP/AVP/TCP;unicast;interleaved=8"])
        #expect(
            conversation.tracks.map(\.transport) == [
                .interleaved(rtp: 2, rtcp: 3), .interleaved(rtp: 8, rtcp: 9),
            ])
    }

    @Test("one reader too many gets no bandwidth")
    func tooMany() {
        let conversation = ServerConversation()
        _ = conversation.signIn()
        conversation.readers = 9
        #expect(conversation.request("SETUP", Self.first, Self.tcp)?.status == 453)
    }

    @Test("a session ends without a sign of life, and a connection without a password sooner")
    func expiry() {
        let conversation = ServerConversation()
        #expect(!conversation.isExpired(at: .zero + .seconds(29)))
        #expect(conversation.isExpired(at: .zero + .seconds(30)))
        // Requests without a right password prolong nothing.
        conversation.now += .seconds(20)
        _ = conversation.request("OPTIONS")
        #expect(conversation.isExpired(at: .zero + .seconds(30)))
        conversation.setUpBoth()
        #expect(!conversation.isExpired(at: conversation.now + .seconds(64)))
        #expect(conversation.isExpired(at: conversation.now + .seconds(65)))
        conversation.now += .seconds(40)
        conversation.session.recordLife(at: conversation.now)
        #expect(!conversation.isExpired(at: conversation.now + .seconds(64)))
    }

    @Test("requests behind one that waits for the driver are answered after it, in their order")
    func pipelined() {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        conversation.answersAtOnce = false
        let identifier = conversation.identifier ?? ""
        #expect(conversation.request("PLAY") == nil)
        let more =
            "OPTIONS * RTSP/1.0\nCSeq: 901\n\nTEARDOWN rtsp://h/drive RTSP/1.0\nCSeq: 902\nSession: \(identifier)\n\n"
        #expect(conversation.send(more).isEmpty)
        conversation.session.answerPlay([], at: conversation.now)
        conversation.run()
        let answers = ServerConversation.responses(
            conversation.takeOutput())
        #expect(answers.map(\.status) == [200, 200, 200])
        #expect(answers.dropFirst().map { $0.headers["CSeq"] } == ["901", "902"])
    }

    @Test(
        "anything but a request ends the connection with a reason",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("\u{16}\u{3}\u{1}", 400), ("RTSP/1.0 200 OK\r\n\r\n", 400),
            ("DESCRIBE\r\n\r\n", 400), ("A b RTSP/1.0\r\nContent-Length: -1\r\n\r\n", 400),
            ("A b RTSP/1.0\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("A b RTSP/1.0\r\nContent-Length: 99999\r\n\r\n", 413), ("$\u{0}zz", 413),
        ])
    func garbage(text: String, status: Int) {
        let conversation = ServerConversation()
        let output = String(decoding: conversation.feed(Array(text.utf8)), as: UTF8.self)
        #expect(ServerConversation.responses(output).map(\.status) == [status])
        #expect(conversation.isClosing)
        #expect(conversation.feed(Array("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n".utf8)).isEmpty)
    }

    @Test("a head that never ends closes the connection")
    func endlessHead() {
        let conversation = ServerConversation()
        let text = "OPTIONS * RTSP/1.0\r\n" + String(repeating: "X: y\r\n", count: 2000)
        let output = String(decoding: conversation.feed(Array(text.utf8)), as: UTF8.self)
        #expect(ServerConversation.responses(output).map(\.status) == [413])
        #expect(conversation.isClosing)
    }

    @Test("more header lines than any client sends end the connection")
    func headerLines() {
        func statuses(_ lines: Int) -> [Int] {
            let text = "OPTIONS * RTSP/1.0\nCSeq: 1\n" + String(repeating: "X: y\n", count: lines - 1) + "\n"
            return ServerConversation.responses(ServerConversation().send(text)).map(\.status)
        }
        #expect(statuses(64) == [200])
        #expect(statuses(65) == [413])
    }

    @Test("a body that comes byte by byte has its head read once")
    func drippingBody() throws {
        var stream = RTSPRequestStream()
        /// Hands bytes in and answers how much room there was for them.
        func room(for text: String) -> Int {
            var room = 0
            _ = stream.receive { buffer in
                room = buffer.count
                buffer.copyBytes(from: Array(text.utf8))
                return text.utf8.count
            }
            return room
        }
        _ = room(for: "SET_PARAMETER * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 5\r\n\r\n")
        let early = try stream.next()
        #expect(early == nil)
        // A head that has been read is kept as a request, not as bytes to read again.
        for byte in ["$", "\r", "\n", "A"] {
            let free = room(for: byte)
            let element = try stream.next()
            #expect(free > RTSPRequestStream.capacity - 5)
            #expect(element == nil)
        }
        _ = room(for: "zOPTIONS * RTSP/1.0\r\nCSeq: 2\r\n\r\n")
        let first = try stream.next()
        let second = try stream.next()
        let third = try stream.next()
        #expect(
            first
                == .request(
                    RTSPRequest(
                        method: "SET_PARAMETER", uri: "*", headers: ["CSeq": "1", "Content-Length": "5"],
                        body: Array("$\r\nAz".utf8))))
        #expect(second == .request(RTSPRequest(method: "OPTIONS", uri: "*", headers: ["CSeq": "2"])))
        #expect(third == nil)
    }

    @Test("a request without a number is refused, and its words cannot end a line of the answer")
    func numbers() {
        let conversation = ServerConversation()
        #expect(conversation.send("OPTIONS * RTSP/1.0\n\n").hasPrefix("RTSP/1.0 400 "))
        #expect(conversation.send("OPTIONS * RTSP/1.0\nCSeq: 1\rX: y\n\n").hasPrefix("RTSP/1.0 400 "))
        #expect(conversation.send("OPTIONS a\u{1}b RTSP/1.0\nCSeq: 1\n\n").hasPrefix("RTSP/1.0 400 "))
    }

    @Test("a client that does not read its answers is not read from")
    func unreadAnswers() {
        let conversation = ServerConversation()
        let request = Array("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n".utf8)
        for _ in 0..<10_000 where conversation.session.wantsInput {
            var rest = request[...]
            conversation.session.receive { buffer in
                let count = min(buffer.count, rest.count)
                buffer.copyBytes(from: rest.prefix(count))
                rest = rest.dropFirst(count)
                return count
            }
            guard rest.isEmpty else { break }
            while conversation.session.pollEvent(at: .zero) != nil {}
        }
        #expect(conversation.takeOutput().utf8.count < 80_000)
    }

    @Test(
        "URIs name devices and tracks in the forms that clients make of them",
        arguments: [
            ("rtsp://h:1/drive", "drive", nil), ("rtsp://h/drive/", "drive", nil),
            ("rtsp://u:p@h/drive/trackID=1", "drive", 1), ("/drive/trackid=0", "drive", 0), ("*", "", nil),
            ("rtsp://h", "", nil), ("rtsp://h/a%20b", "a b", nil), ("rtsp://h/drive?x=y", "drive", nil),
            ("rtsp://h/drive?x=y/trackID=1", "drive", 1), ("rtsp://h/drive/trackID=9999", "drive/trackID=9999", nil),
        ] as [(String, String, Int?)])
    func resources(uri: String, path: String, track: Int?) {
        #expect(RTSPResource(parsing: uri) == RTSPResource(path: path, track: track))
    }
}
