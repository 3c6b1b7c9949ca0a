import PacketFakes
import Testing
import Transport

@testable import StreamFormats

struct RTMPServerSessionTests {
    @Test(arguments: [1, 700, 100_000])
    func `An encoder publishes, and stops`(size: Int) {
        var conversation = RTMPServerConversation()
        conversation.take(RTMPPublisherBytes.session().bytes, pieces: size)
        #expect(conversation.failure == nil)
        let request = RTMPPublishRequest(
            application: "live", stream: "yard?token=abc", program: "FMLE/3.0 (compatible; test)")
        #expect(request.camera == "yard" && request.token == "abc")
        #expect(conversation.events == [.publish(request), .unpublished])
        #expect(conversation.units.map(\.decoding) == [0, 450, 3600, 4050, 7200, 7650])
        let sets: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 30, 1, 0, 0, 0, 1, 0x68, 1, 2]
        #expect(conversation.units.first?.bytes.starts(with: sets + [0, 0, 0, 1, 0x65, 0x88, 9]) == true)
        #expect(
            conversation.codes == [
                "NetConnection.Connect.Success", "NetStream.Publish.Start", "NetStream.Publish.Start",
                "NetStream.Unpublish.Success",
            ])
        // It answers each command that wants an answer, and creates the stream 1.
        let answered = conversation.commands.filter { $0.first == .string("_result") }.map { $0[1] }
        #expect(answered == [.number(1), .number(2), .number(3), .number(4), .number(6)])
        let created = conversation.commands.first { $0.count > 1 && $0[1] == .number(4) }
        #expect(created?.last == .number(1))
        // The stream begins before the command has succeeded (section 7.1.7).
        let types = conversation.messages.map(\.type)
        #expect(types.starts(with: [5, 6, 20]) && types.contains(4))
    }

    @Test(arguments: [false, true])
    func `The handshake is answered in the plain way, whatever kind the client wants`(hasDigest: Bool) {
        var bytes = RTMPPublisherBytes.handshake
        if hasDigest { bytes.replaceSubrange(5..<9, with: [9, 0, 124, 2]) }
        for size in [1, 1000, 4000] {
            var conversation = RTMPServerConversation()
            conversation.take(Array(bytes[..<1537]), pieces: size)
            #expect(!conversation.session.hasShakenHands)
            #expect(conversation.output.count == 1 + 1536 + 1536)
            // S1 states no version, so that no client looks for a digest. S2 repeats C1.
            #expect(conversation.output.starts(with: [3, 0, 0, 0, 0, 0, 0, 0, 0]))
            #expect(conversation.output[1537...] == bytes[1..<1537])
            conversation.take(Array(bytes[1537...]), pieces: size)
            #expect(conversation.session.hasShakenHands && conversation.failure == nil)
        }
    }

    static let addresses: [(String, String, String, String?)] = [
        // OBS with the server rtmp://gateway/live, or rtmp://gateway.
        ("live", "yard?token=abc", "yard", "abc"), ("", "yard?token=abc", "yard", "abc"),
        // ffmpeg with rtmp://gateway/yard?token=abc.
        ("yard?token=abc", "", "yard", "abc"),
        // More names in front, and a slash behind.
        ("a/b", "c/yard?x=1&token=abc&y=2", "yard", "abc"), ("live/", "yard/?token=abc", "yard", "abc"),
        // OBS with the server rtmp://gateway/yard, and a key of the token alone.
        ("yard", "?token=abc", "yard", "abc"), ("live?token=abc", "yard", "yard", "abc"),
        // The stream's own token counts first.
        ("live?token=x", "yard?token=abc", "yard", "abc"), ("live", "mp4:yard?token=a%2Db%25%zz", "yard", "a-b%%zz"),
        ("live", "front%20door", "front door", nil), ("live", "yard?token=", "yard", nil), ("", "", "", nil),
    ]

    @Test(arguments: addresses)
    func `An address names the camera and the token in several ways`(
        application: String, stream: String, camera: String, token: String?
    ) {
        let request = RTMPPublishRequest(application: application, stream: stream, program: "a\nb")
        #expect(request.camera == camera && request.token == token && request.program == "ab")
        if let token { #expect(!"\(request)".contains(token) && !String(reflecting: request).contains(token)) }
    }

    @Test func `The codecs of enhanced RTMP are answered, and H.265 is taken`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live", codecs: ["hvc1", "av01"])
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        guard case .object(let fields)? = conversation.commands.first?.last else {
            Issue.record("connect is not answered")
            return
        }
        #expect(fields.last?.name == "fourCcList" && fields.last?.value == .list([.string("avc1"), .string("hvc1")]))
        var next = RTMPPublisherBytes(handshake: false)
        next.publish("yard")
        // The picture comes as H.265, with a configuration of one parameter set.
        let record: [UInt8] =
            [1] + [UInt8](repeating: 0, count: 20) + [3, 1, 33, 0, 1, 0, 4, 0x42, 1, 1, 1]
        next.message(9, [0x90] + Array("hvc1".utf8) + record)
        next.message(9, [0x93] + Array("hvc1".utf8) + [0, 0, 0, 3, 0x26, 1, 7])
        next.message(9, [0x91] + Array("av01".utf8) + [0, 0, 0, 1])
        conversation.take(next.bytes)
        #expect(conversation.session.tracks.map(\.codec) == [.h265(parameterSets: [[0x42, 1, 1, 1]])])
        #expect(conversation.units.count == 1 && conversation.session.leftOut == [.namedCodec(.video, "av01")])
    }

    @Test(
        arguments: [(nil, nil, true), (0, 0, true), (7, nil, false), (7, 0, false), (7, 10, true)]
            as [(Double?, Double?, Bool)])
    func `Sound is waited for unless the metadata name the picture alone`(
        video: Double?, audio: Double?, awaitsSound: Bool
    ) {
        var fields: [AMF0Value.Field] = []
        if let video { fields.append(.init(name: "videocodecid", value: .number(video))) }
        if let audio { fields.append(.init(name: "audiocodecid", value: .number(audio))) }
        let metadata: [AMF0Value] = [.string("@setDataFrame"), .string("onMetaData"), .object(fields)]
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.publish("yard")
        client.message(18, metadata.encoded)
        client.describeVideo()
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.session.tracks.count == 1 && conversation.session.awaitsTracks == awaitsSound)
    }

    @Test func `What Enhanced RTMP 2 has besides is left out by its name`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live", codecs: ["*"])
        client.publish("yard")
        client.describeVideo()
        // Opus, the end of a sequence, a second track of AAC, and a second track of H.264 as OBS sends them.
        client.message(8, [0x90] + Array("Opus".utf8) + [1, 2, 3])
        client.message(8, [0x92] + Array("fLaC".utf8))
        client.message(8, [0x95, 0x01] + Array("mp4a".utf8) + [1, 5, 6, 7])
        client.message(9, [0x96, 0x01] + Array("avc1".utf8) + [1, 0, 0, 0, 0, 0, 0, 2, 0x65, 9])
        client.picture(at: 40)
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.failure == nil && conversation.units.count == 1)
        let leftOut: [UnsupportedPart] = [
            .namedCodec(.sound, "Opus"), .furtherTracks(.sound), .furtherTracks(.video),
        ]
        #expect(conversation.session.leftOut == leftOut)
    }

    @Test func `A client without enhanced RTMP does not learn of it`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        guard case .object(let fields)? = conversation.commands.first?.last else {
            Issue.record("connect is not answered")
            return
        }
        #expect(!fields.contains { $0.name == "fourCcList" })
    }

    @Test func `Somebody who wants to play is refused in words`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.command("createStream", 2, [.null])
        client.command("play", 3, [.null, .text("yard")], stream: 1)
        client.publish("yard")
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.events == [.askedToPlay] && conversation.session.isOver)
        #expect(conversation.codes.last == "NetStream.Play.Failed")
        let words = conversation.commands.last?.last?.text(of: "description") ?? ""
        #expect(words.contains("RTSP"))
    }

    @Test func `A refused publisher gets the code and the words, and nothing more is read`() {
        var conversation = RTMPServerConversation(.refuse(.denied, words: "there is no camera yard"))
        conversation.take(RTMPPublisherBytes.session().bytes)
        #expect(conversation.codes.last == "NetStream.Publish.Denied" && conversation.units.isEmpty)
        #expect(conversation.commands.last?.last?.text(of: "level") == "error")
        #expect(conversation.commands.last?.last?.text(of: "description") == "there is no camera yard")
        #expect(conversation.session.isOver && !conversation.session.wantsInput)
        // The answer belongs to the stream that was to be published.
        #expect(conversation.messages.last?.stream == 1)
    }

    @Test func `Nothing is read while the caller decides`() throws {
        var conversation = RTMPServerConversation(nil)
        let bytes = RTMPPublisherBytes.session().bytes
        conversation.take(bytes)
        #expect(conversation.events.count == 1 && !conversation.session.wantsInput && conversation.units.isEmpty)
        // What came with the question is taken once it is answered.
        var units: [StreamUnit] = []
        try conversation.session.accept { units.append($0) }
        let event = conversation.session.pollEvent()
        #expect(units.count == 6 && event == .unpublished)
    }

    @Test func `A publisher may stop and publish something else over the same connection`() {
        var client = RTMPPublisherBytes.session(pictures: 1)
        client.command("publish", 8, [.null, .text("door"), .text("live")], stream: 1)
        client.metadata(video: false)
        client.describeAudio()
        client.sound(at: 9)
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.events.count == 3 && conversation.failure == nil)
        // The tracks are those of the second stream.
        #expect(conversation.session.tracks == [StreamTrack(.aac(config: [0x11, 0x88]))])
        #expect(conversation.units.count == 3 && !conversation.session.awaitsTracks)
    }

    @Test func `Pings are answered, and what has come is acknowledged`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.message(4, [0, 6, 1, 2, 3, 4], stream: 0, channel: 2)
        client.message(5, [0, 0, 0x10, 0], stream: 0, channel: 2)
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.messages.contains { $0.type == 4 && $0.bytes == [0, 7, 1, 2, 3, 4] })
        // The window is 4096 bytes, and more than half of it has come.
        let count = UInt32(client.bytes.count)
        #expect(conversation.messages.last { $0.type == 3 }?.bytes == RTMPMessageWriter.bytes(of: count))
    }

    @Test func `Commands that are not known get an error, and those that want no answer get none`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.command("_checkbw", 2, [.null])
        client.command("somethingElse", 0, [.null])
        client.command("receiveAudio", 0, [.null])
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.commands.count == 2 && conversation.codes.last == "NetConnection.Call.Failed")
    }

    @Test func `Commands of AMF3 are read`() {
        var plain = RTMPPublisherBytes(handshake: false)
        plain.connect(to: "live")
        var client = RTMPPublisherBytes()
        // The command without the header of its chunk, behind the byte that says that AMF0 follows.
        var reader = RTMPChunkReader()
        plain.bytes.withUnsafeBytes { reader.append($0) }
        let command = try? reader.next()
        client.message(17, [0] + (command?.bytes ?? []), stream: 0, channel: 3)
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.codes == ["NetConnection.Connect.Success"])
    }

    // MARK: Chunks and times

    @Test(arguments: [1, 2, 128, 5_000, 65_536])
    func `The client may change the length of its chunks`(size: Int) {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.publish("yard")
        client.setChunkSize(size)
        client.describeVideo()
        client.picture(at: 0, length: 6_000)
        client.setChunkSize(77)
        client.picture(at: 40, length: 6_000)
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes, pieces: 1_000)
        #expect(conversation.failure == nil)
        #expect(conversation.units.map(\.bytes.count) == [6_020, 6_020])
    }

    @Test(arguments: [true, false])
    func `Extended timestamps are read, also where the chunks of a message do not repeat them`(repeats: Bool) {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.publish("yard")
        client.describeVideo()
        // The time wraps after 50 days.
        for time in [0xFFFF_FFD8, 0, 40] as [UInt32] { client.picture(at: time, length: 500, repeatsExtended: repeats) }
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.failure == nil && conversation.units.map(\.bytes.count) == [520, 520, 520])
        let times = conversation.units.map(\.decoding)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 3600 })
    }

    @Test func `A message that is aborted leaves nothing behind`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.publish("yard")
        client.describeVideo()
        // The first chunk of a picture of 300 bytes on the stream 6, and its end.
        client.raw([6, 0, 0, 0, 0, 1, 0x2C, 9, 1, 0, 0, 0] + [UInt8](repeating: 1, count: 128))
        client.message(2, [0, 0, 0, 6], stream: 0, channel: 2)
        // Another one of this length, whose chunks have no header.
        let unit: [UInt8] = [0x65, 0x88] + [UInt8](repeating: 9, count: 289)
        let picture: [UInt8] = [0x17, 1, 0, 0, 0, 0, 0, 1, 0x23] + unit
        for start in stride(from: 0, to: picture.count, by: 128) {
            client.raw([0xC6] + picture[start..<min(start + 128, picture.count)])
        }
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.failure == nil && conversation.units.map(\.bytes.count) == [16 + 4 + 291])
    }
}
