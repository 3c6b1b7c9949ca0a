import Testing
import Transport

@testable import RTSP

/// Clients that publish: ANNOUNCE, SETUP with `mode=record`, RECORD.
@Suite struct PublishingSessionTests {
    static let sdp = ["Content-Type: application/sdp"]
    static let tcp = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1;mode=record"]
    static let drive = "rtsp://host:8554/drive"
    static let first = "rtsp://host:8554/drive/streamid=0"

    /// A conversation with a server that takes publishers, signed in.
    private static func conversation(
        _ change: (inout RTSPServerSession.Configuration) -> Void = { _ in }
    ) -> ServerConversation {
        let conversation = ServerConversation {
            $0.takesPublishers = true
            change(&$0)
        }
        _ = conversation.signIn()
        return conversation
    }

    private static func announce(
        _ conversation: ServerConversation, _ uri: String = Self.drive, lines: [String] = Self.sdp,
        body: String = ServerConversation.description
    ) -> RTSPResponse? {
        conversation.request("ANNOUNCE", uri, lines, body: body)
    }

    @Test func `a client announces, sets up and records, and its packets come`() {
        let conversation = Self.conversation()
        #expect(conversation.request("OPTIONS")?.headers["Public"]?.contains("ANNOUNCE, RECORD") == true)
        #expect(Self.announce(conversation)?.status == 200)
        let announced = RTSPServerEvent.announce(
            RTSPResource(path: "drive"), description: ServerConversation.description)
        #expect(conversation.events.last == announced)
        let setUp = conversation.request("SETUP", Self.first, Self.tcp)
        #expect(setUp?.headers["Transport"] == "RTP/AVP/TCP;unicast;interleaved=0-1;mode=record")
        #expect(setUp?.headers["Session"] != nil && conversation.state == .ready)
        #expect(conversation.request("RECORD", Self.drive)?.status == 200)
        #expect(conversation.events.last == .record && conversation.state == .recording)
        _ = conversation.feed([0x24, 0, 0, 2, 7, 7, 0x24, 1, 0, 1, 9, 0x24, 2, 0, 1, 9])
        guard case .received(0, false, let media) = conversation.events.dropLast().last,
            case .received(0, true, let control) = conversation.events.last
        else {
            Issue.record("\(conversation.events)")
            return
        }
        #expect(media.count == 2 && control.count == 1)
        // RECORD again is a sign of life, and asks for nothing.
        let count = conversation.events.count
        #expect(conversation.request("RECORD", Self.drive)?.status == 200)
        #expect(conversation.events.count == count)
        #expect(conversation.request("TEARDOWN", Self.drive)?.status == 200)
        #expect(conversation.events.last == .tornDown && conversation.state == .initial)
        // Another session may follow on the connection, of either kind.
        #expect(conversation.request("DESCRIBE")?.status == 200)
        #expect(Self.announce(conversation)?.status == 200)
    }

    @Test func `what is sent before RECORD and in a pause is dropped`() {
        let conversation = Self.conversation()
        conversation.announceBoth()
        let packet: [UInt8] = [0x24, 0, 0, 1, 7]
        _ = conversation.feed(packet)
        #expect(!conversation.events.contains { if case .received = $0 { true } else { false } })
        #expect(conversation.request("RECORD", Self.drive)?.status == 200)
        #expect(conversation.request("PAUSE", Self.drive)?.status == 200)
        #expect(conversation.events.last == .paused && conversation.state == .ready)
        _ = conversation.feed(packet)
        #expect(conversation.events.last == .paused)
        // What a session publishes, and how, stays as it was.
        #expect(conversation.request("SETUP", Self.first, Self.tcp)?.status == 455)
        #expect(conversation.request("RECORD", Self.drive)?.status == 200)
        _ = conversation.feed(packet)
        #expect(conversation.events.last.map { if case .received = $0 { true } else { false } } == true)
    }

    @Test func `requests and packets that wait for the answer to RECORD come after it`() {
        let conversation = Self.conversation()
        conversation.announceBoth()
        conversation.answersAtOnce = false
        let session = conversation.identifier ?? ""
        let text = "RECORD rtsp://host:8554/drive RTSP/1.0\r\nCSeq: 90\r\nSession: \(session)\r\n\r\n"
        let output = conversation.feed(Array(text.utf8) + [0x24, 0, 0, 1, 7])
        #expect(output.isEmpty && conversation.events.last == .record)
        conversation.session.answerRecord(.started, at: conversation.now)
        conversation.run()
        #expect(conversation.events.last.map { if case .received = $0 { true } else { false } } == true)
        #expect(conversation.takeOutput().hasPrefix("RTSP/1.0 200 OK\r\nCSeq: 90"))
    }

    @Test func `what the state does not allow is refused`() {
        let conversation = Self.conversation()
        // Nothing is announced.
        #expect(conversation.request("SETUP", "\(Self.drive)/trackID=0", Self.tcp)?.status == 455)
        #expect(conversation.request("RECORD", Self.drive)?.status == 454)
        #expect(Self.announce(conversation)?.status == 200)
        #expect(conversation.request("RECORD", Self.drive)?.status == 454)
        // Another announcement before the first SETUP takes its place.
        #expect(Self.announce(conversation)?.status == 200)
        #expect(conversation.request("SETUP", Self.first, ["Transport: RTP/AVP/TCP;mode=play"])?.status == 455)
        #expect(conversation.request("SETUP", Self.first, ["Transport: RTP/SAVP;client_port=2-3"])?.status == 461)
        #expect(conversation.request("SETUP", Self.drive, Self.tcp)?.status == 459)
        #expect(conversation.request("SETUP", "\(Self.drive)/streamid=2", Self.tcp)?.status == 404)
        #expect(conversation.request("SETUP", "rtsp://host/attic/streamid=0", Self.tcp)?.status == 404)
        #expect(conversation.identifier == nil)
        #expect(conversation.request("SETUP", Self.first, Self.tcp)?.status == 200)
        #expect(Self.announce(conversation)?.status == 455)
        #expect(conversation.request("PLAY", Self.drive)?.status == 455)
        #expect(conversation.request("PAUSE", Self.drive)?.status == 455)
        #expect(conversation.request("RECORD", "rtsp://host/attic")?.status == 404)
        #expect(conversation.request("RECORD", Self.drive, ["Session: other"])?.status == 454)
        #expect(conversation.request("RECORD", Self.drive)?.status == 200)
        #expect(conversation.request("SETUP", Self.first, Self.tcp)?.status == 455)
        #expect(conversation.request("PLAY", Self.drive)?.status == 455)
        #expect(Self.announce(conversation)?.status == 455)
        // A session that plays never records.
        let reader = Self.conversation()
        reader.setUpBoth()
        #expect(Self.announce(reader)?.status == 455)
        #expect(reader.request("RECORD", Self.drive)?.status == 455)
    }

    @Test func `with several tracks, one of them cannot be recorded alone`() {
        let conversation = Self.conversation()
        conversation.announceBoth()
        #expect(conversation.request("RECORD", Self.first)?.status == 460)
        #expect(conversation.request("TEARDOWN", Self.first)?.status == 460)
        #expect(conversation.request("RECORD", "\(Self.drive)/")?.status == 200)
    }

    @Test(
        "the track of a request is found however the publisher writes its address",
        arguments: [
            ("streamid=0", "rtsp://host:8554/drive/streamid=0"), ("streamid=0", "rtsp://h/drive?token=x/streamid=0"),
            ("streamid=0", "rtsp://h/drive/streamid=0?token=x"), ("stream=0", "rtsp://h/drive//stream%3D0"),
            ("rtsp://10.0.0.1:554/drive/video", "rtsp://h/drive/video"), ("/drive/video", "rtsp://h/drive/video"),
            ("trackID=0", "rtsp://h/drive/trackID=0"), ("a/b", "rtsp://h/drive/a/b"),
        ])
    func controls(control: String, uri: String) {
        let conversation = Self.conversation()
        conversation.controls = [control, "other"]
        _ = Self.announce(conversation)
        #expect(conversation.request("SETUP", uri, Self.tcp)?.status == 200)
        #expect(conversation.tracks.map(\.index) == [0])
    }

    @Test func `a single track needs no name, and its presentation is not found under another path`() {
        for control in [nil, "*", "rtsp://elsewhere/x", String(repeating: "x", count: 2_000)] {
            let conversation = Self.conversation()
            conversation.controls = [control]
            _ = Self.announce(conversation)
            #expect(conversation.request("SETUP", "rtsp://host/attic", Self.tcp)?.status == 404)
            #expect(conversation.request("SETUP", Self.drive, Self.tcp)?.status == 200)
        }
    }

    @Test func `a publisher may leave the mode out, write it in the older way, and offer feedback`() {
        for transport in [
            "RTP/AVP/TCP;unicast;interleaved=0-1", "RTP/AVP/TCP;unicast;interleaved=0-1;mode=receive",
            "RTP/AVPF/TCP;interleaved=0-1;mode=\"RECORD\"",
        ] {
            let conversation = Self.conversation()
            _ = Self.announce(conversation)
            let answer = conversation.request("SETUP", Self.first, ["Transport: \(transport)"])
            #expect(answer?.status == 200, "\(transport)")
        }
        let udp = Self.conversation()
        _ = Self.announce(udp)
        let answer = udp.request(
            "SETUP", Self.first, ["Transport: RTP/AVP/UDP;unicast;client_port=5000-5001;mode=record"])
        #expect(
            answer?.headers["Transport"]
                == "RTP/AVP/UDP;unicast;client_port=5000-5001;server_port=8554-8555;mode=record")
        // Feedback is a publisher's: what is played has none.
        let reader = Self.conversation()
        let play = ["Transport: RTP/AVPF;unicast;client_port=5000-5001"]
        #expect(reader.request("SETUP", "\(Self.drive)/trackID=0", play)?.status == 461)
    }

    @Test func `only a session description is announced, to a camera`() {
        let conversation = Self.conversation()
        let text = Self.announce(conversation, lines: ["Content-Type: text/plain"])
        #expect(text?.status == 415)
        #expect(Self.announce(conversation, lines: [])?.status == 415)
        #expect(Self.announce(conversation, "rtsp://host:8554/")?.status == 404)
        #expect(Self.announce(conversation, "\(Self.drive)/trackID=0")?.status == 404)
        #expect(!conversation.events.contains { if case .announce = $0 { true } else { false } })
        let elsewhere = Self.announce(conversation, "rtsp://host:8554/attic")
        // The words are a part of the first line.
        #expect(elsewhere?.status == 404 && elsewhere?.reason == "no camera is  there")
        let parameters = Self.announce(conversation, lines: ["Content-Type: Application/SDP; charset=utf-8"])
        #expect(parameters?.status == 200)
    }

    @Test func `a session description has more room than other bodies, and a limit`() {
        let conversation = Self.conversation()
        let long = String(repeating: "a=x:0123456789\r\n", count: 900)
        #expect(long.utf8.count > RTSPRequestStream.maximumBodySize)
        #expect(Self.announce(conversation, body: long)?.status == 200)
        let other = Self.conversation()
        #expect(other.request("SET_PARAMETER", Self.drive, body: long)?.status == 413)
        #expect(other.isClosing)
        let tooLong = Self.conversation()
        #expect(Self.announce(tooLong, body: String(repeating: "x", count: 17_000))?.status == 413)
        #expect(tooLong.isClosing)
    }

    @Test func `who announces and never records is ended, whatever else they ask`() {
        let conversation = Self.conversation { $0.recordTimeout = .seconds(20) }
        conversation.announceBoth()
        for second in 1..<20 {
            conversation.now = Instant.zero + .seconds(second)
            #expect(conversation.request("GET_PARAMETER", Self.drive)?.status == 200)
            #expect(!conversation.isExpired(at: conversation.now))
        }
        #expect(conversation.isExpired(at: Instant.zero + .seconds(20)))
        // One that records lives as long as anything comes.
        let publisher = Self.conversation { $0.recordTimeout = .seconds(20) }
        publisher.announceBoth()
        #expect(publisher.request("RECORD", Self.drive)?.status == 200)
        #expect(!publisher.isExpired(at: Instant.zero + .seconds(60)))
        publisher.now = Instant.zero + .seconds(60)
        _ = publisher.feed([0x24, 0, 0, 1, 7])
        #expect(!publisher.isExpired(at: Instant.zero + .seconds(120)))
        #expect(publisher.isExpired(at: Instant.zero + .seconds(125)))
    }

    @Test func `reports go to the publisher between the answers, as long as it reads`() {
        let conversation = Self.conversation()
        conversation.announceBoth()
        _ = conversation.takeOutput()
        [UInt8](repeating: 5, count: 8).withUnsafeBytes { conversation.session.send($0, onChannel: 3) }
        #expect(Array(conversation.takeOutput().utf8) == [0x24, 3, 0, 8] + [UInt8](repeating: 5, count: 8))
        let report = [UInt8](repeating: 5, count: 100)
        for _ in 0..<2_000 { report.withUnsafeBytes { conversation.session.send($0, onChannel: 3) } }
        #expect(conversation.takeOutput().utf8.count <= RTSPServerSession.maximumOutput)
    }

    @Test func `a server that takes no publishers says so`() {
        let conversation = ServerConversation()
        _ = conversation.signIn()
        #expect(conversation.request("ANNOUNCE", Self.drive, Self.sdp, body: "v=0\n")?.status == 405)
        #expect(conversation.request("RECORD")?.status == 405)
        #expect(conversation.request("OPTIONS")?.headers["Public"]?.contains("RECORD") == false)
        #expect(conversation.request("SETUP", "\(Self.drive)/trackID=0", Self.tcp)?.status == 461)
    }

    // MARK: Rights

    @Test func `without credentials nobody announces`() {
        let conversation = ServerConversation { $0.takesPublishers = true }
        #expect(Self.announce(conversation)?.status == 401)
        #expect(conversation.events.isEmpty)
    }

    @Test func `the token in an address is judged as a publisher's: refused, forbidden or accepted`() {
        func conversation() -> ServerConversation {
            ServerConversation { configuration in
                configuration.takesPublishers = true
                // It shows the camera, and publishes nothing.
                configuration.authentication.addressPrincipal = { token, _ in token == "viewer" ? "guest" : nil }
                configuration.authentication.addressPublisher = { token, path in
                    switch token {
                    case "right": path == "drive" ? .accepted(principal: "encoder") : .forbidden(.mayNotPublish)
                    case "viewer": .forbidden(.permitsTooMuch)
                    default: .unknown
                    }
                }
            }
        }
        let wrong = conversation()
        #expect(Self.announce(wrong, "\(Self.drive)?token=wrong")?.status == 401)
        #expect(wrong.events == [.refusedCredentials])
        let viewer = conversation()
        let forbidden = Self.announce(viewer, "\(Self.drive)?token=viewer")
        // The driver writes the words.
        #expect(forbidden?.status == 403 && forbidden?.reason == ServerConversation.words(.permitsTooMuch))
        #expect(!viewer.isAuthenticated && viewer.refusals == 0)
        #expect(viewer.events == [.forbidden(path: "drive", .permitsTooMuch)])
        let encoder = conversation()
        #expect(Self.announce(encoder, "rtsp://host:8554/attic?token=right")?.status == 403)
        #expect(Self.announce(encoder, "\(Self.drive)?token=right")?.status == 200)
        #expect(encoder.session.principal == "encoder")
        // What follows on the connection needs no token again.
        #expect(encoder.request("SETUP", Self.first, Self.tcp)?.status == 200)
        #expect(encoder.request("RECORD", Self.drive)?.status == 200)
        // It publishes, and reads nothing.
        let reader = conversation()
        #expect(reader.request("DESCRIBE", "\(Self.drive)?token=right")?.status == 401)
    }

    @Test func `another principal does not take a connection over`() {
        let conversation = ServerConversation { configuration in
            configuration.takesPublishers = true
            configuration.authentication.addressPublisher = { token, _ in .accepted(principal: token) }
        }
        #expect(Self.announce(conversation, "\(Self.drive)?token=one")?.status == 200)
        #expect(Self.announce(conversation, "\(Self.drive)?token=two")?.status == 401)
        #expect(conversation.session.principal == "one")
    }
}
