import Testing
import Transport

@testable import RTSP

@Suite("RTSP server: what clients send")
struct RecordedClientTests {
    @Test("ffmpeg sets up both tracks over the connection, plays, keeps alive and ends")
    func ffmpeg() {
        let conversation = ServerConversation()
        let answers = conversation.play(RecordedClients.ffmpeg)
        #expect(answers.map(\.status) == Array(repeating: 200, count: 7))
        #expect(
            answers[2].headers["Transport"] == "RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=12345678;mode=\"PLAY\"")
        #expect(answers[1].headers["Content-Base"] == "rtsp://127.0.0.1:8554/drive/")
        #expect(
            answers[4].headers["RTP-Info"]
                == "url=rtsp://127.0.0.1:8554/drive/trackID=0;seq=7;rtptime=90000,"
                + "url=rtsp://127.0.0.1:8554/drive/trackID=1;seq=7;rtptime=90000")
        #expect(conversation.events.last == .tornDown)
        #expect(conversation.state == .initial)
        #expect(conversation.userAgent == "Lavf59.27.100")
    }

    @Test("GStreamer sets up both tracks over UDP and plays")
    func gstreamer() {
        let conversation = ServerConversation()
        let answers = conversation.play(RecordedClients.gstreamer)
        #expect(answers.map(\.status) == Array(repeating: 200, count: 5))
        #expect(
            conversation.tracks.map(\.transport) == [
                .datagrams(rtp: 33586, rtcp: 33587), .datagrams(rtp: 55994, rtcp: 55995),
            ])
        #expect(
            answers[2].headers["Transport"]
                == "RTP/AVP;unicast;client_port=33586-33587;server_port=8554-8555;ssrc=12345678;mode=\"PLAY\"")
    }

    @Test("ffmpeg publishes over the connection, with the control attribute behind its query")
    func publishingFFmpeg() {
        let conversation = ServerConversation { $0.takesPublishers = true }
        let answers = conversation.play(RecordedClients.publishingFFmpeg)
        #expect(answers.map(\.status) == Array(repeating: 200, count: 6))
        #expect(answers[3].headers["Transport"] == "RTP/AVP/TCP;unicast;interleaved=2-3;mode=record")
        #expect(conversation.events.contains(.record) && conversation.events.last == .tornDown)
    }

    @Test("GStreamer publishes over UDP")
    func publishingGStreamer() {
        let conversation = ServerConversation { $0.takesPublishers = true }
        conversation.controls = ["stream=0", "stream=1"]
        let answers = conversation.play(RecordedClients.publishingGStreamer)
        #expect(answers.map(\.status) == Array(repeating: 200, count: 5))
        #expect(
            conversation.tracks.map(\.transport) == [
                .datagrams(rtp: 33586, rtcp: 33587), .datagrams(rtp: 33588, rtcp: 33589),
            ])
        #expect(conversation.state == .recording)
    }

    @Test("live555 reads the challenge by its fixed pattern and plays")
    func live555() {
        let conversation = ServerConversation()
        let answers = conversation.play(RecordedClients.live555)
        #expect(answers.map(\.status) == Array(repeating: 200, count: 7))
        // sscanf(…, "Digest realm=\"%[^\"]\", nonce=\"%[^\"]\", stale=%[a-zA-Z]", …) on the last challenge.
        let last = RTSPAuthentication(passwords: ["x"]).challenges(nonce: "00ff", isStale: true).last
        #expect(last == "Digest realm=\"Gatehouse\", nonce=\"00ff\", stale=TRUE")
    }

    @Test("requests that come in single bytes, or all at once, are answered the same", arguments: [1, 7, 1 << 20])
    func pieces(size: Int) {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        let identifier = conversation.identifier ?? ""
        let text = (1...40).map { "GET_PARAMETER * RTSP/1.0\r\nCSeq: \($0)\r\nSession: \(identifier)\r\n\r\n" }
        let bytes = Array(text.joined().utf8)
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            output += conversation.feed(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        let answers = ServerConversation.responses(String(decoding: output, as: UTF8.self))
        #expect(answers.map { $0.headers["CSeq"] } == (1...40).map { "\($0)" })
        #expect(answers.allSatisfy { $0.status == 200 })
    }

    @Test("receiver reports between requests are consumed and reported")
    func interleaved() {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        _ = conversation.request("PLAY")
        conversation.now += .seconds(50)
        let report: [UInt8] = [0x24, 3, 0, 8, 0x80, 201, 0, 1, 1, 2, 3, 4]
        let stranger: [UInt8] = [0x24, 77, 0, 2, 9, 9]
        #expect(conversation.feed(report + stranger + report).isEmpty)
        let reports = conversation.events.filter {
            if case .received(1, true, _) = $0 { true } else { false }
        }
        #expect(reports.count == 2)
        conversation.now += .seconds(50)
        #expect(!conversation.isExpired(at: conversation.now))
        #expect(conversation.request("GET_PARAMETER")?.status == 200)
    }
}
